"""Keys: read from the environment alone, and cut out of everything that is kept or shown."""

from __future__ import annotations

import os

from vgen_eval.errors import MissingKey

__all__ = ["read_secret", "redact"]

SHORTEST = 8
"""A value of fewer characters is a word (`none`, `EMPTY`), not a key."""

_known: dict[str, str] = {}
"""Value -> what stands in its place."""


def read_secret(variable: str) -> str:
    """The key that an environment variable holds; MissingKey when it is not set.

    `redact` knows it from then on.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise MissingKey(variable)
    if len(value) >= SHORTEST:
        _known[value] = f"[{variable}]"
    return value


def redact(text: str) -> str:
    """The text with each key read so far replaced by the name of its variable."""
    for value, name in _known.items():
        text = text.replace(value, name)
    return text
