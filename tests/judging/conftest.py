"""The toy plugin, for every test here."""

from jurykit import room

__all__ = ["room"]
