"""Keys: read from the environment alone, and cut out of everything that is kept or shown."""

from __future__ import annotations

import os

from vgen_eval.errors import MissingKey, UsageError

__all__ = ["read_secret", "redact"]

SHORTEST = 8
"""A value of fewer characters is a word (`none`, `EMPTY`), not a key."""

_known: dict[str, str] = {}
"""Value -> what stands in its place."""


def read_secret(variable: str) -> str:
    """The key that an environment variable holds; MissingKey when it is not set.

    UsageError for a value that no header can carry, such as two lines. `redact` knows the key
    from then on.
    """
    value = os.environ.get(variable, "").strip()
    if not value:
        raise MissingKey(variable)
    if not value.isascii() or not value.isprintable() or " " in value:
        raise UsageError(
            f"{variable} is no key: it holds a blank, a line break or a letter that is not ASCII",
            cure=f"export {variable}=... with the key alone",
        )
    if len(value) >= SHORTEST:
        _known[value] = f"[{variable}]"
    return value


def redact(text: str) -> str:
    """The text with each key read so far replaced by the name of its variable."""
    # the longest first: one key may begin as another does. A copy: other threads may read one
    for value, name in sorted(_known.items(), key=lambda entry: -len(entry[0])):
        text = text.replace(value, name)
    return text
