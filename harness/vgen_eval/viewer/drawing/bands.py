"""Large maps some rows at a time: what stands between their numbers and a picture stays small."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["bands"]

PIXELS = 1 << 16
"""Of a band: a dozen numbers of 8 bytes for each of them are in hand at one time."""


def bands(height: int, width: int, *, step: int = 1) -> Iterator[slice]:
    """The rows of a map of that size, from above; each band begins at a multiple of `step`."""
    rows = max(1, PIXELS // max(1, width) // step) * step
    for first in range(0, height, rows):
        yield slice(first, min(height, first + rows))
