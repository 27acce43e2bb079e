"""The toy plugin, for every test here."""

from kit import toys

__all__ = ["toys"]
