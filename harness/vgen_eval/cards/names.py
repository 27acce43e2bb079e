"""What tasks, models and suites may be called; apart from the records, which lists never load."""

from __future__ import annotations

__all__ = ["NAME"]

NAME = r"^[a-z0-9][a-z0-9._-]{0,99}(/[a-z0-9][a-z0-9._-]{0,99}){0,9}$"
"""Folders are called so: no part, and no path of them, is longer than a file system takes."""
