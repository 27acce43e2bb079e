"""Sums of statistics by group, made in pieces, and their totals over many weightings of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "TOTALS",
    "Clusters",
    "Floats",
    "Ints",
    "Take",
    "blocks",
    "draw_counts",
    "leave_out",
    "passes",
    "sums_and_sizes",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Take: TypeAlias = Callable[[Ints], Floats]
"""Numbers of samples (s,) -> their statistics (s, k): a table held elsewhere is not copied."""

PIECE = 2_000_000
"""Numbers of a piece of the table: 16 MB."""

MOST_ROWS = 2048
"""Groups of a piece, however narrow the table: their weights are made floats piece by piece."""

DRAWN = 200_000
"""Groups drawn at once."""

TOTALS = 4_000_000
"""Numbers of totals that are held at once: 32 MB."""


class Clusters:
    """Statistics (n, k) of samples that belong to `groups` (n,)."""

    def __init__(self, table: Floats | Take, groups: Ints) -> None:
        self._take: Take = table if callable(table) else table.__getitem__
        self._order = np.argsort(groups, kind="stable")
        ordered = groups[self._order]
        begins = np.append(np.ones(min(1, groups.size), bool), ordered[1:] != ordered[:-1])
        self._starts = np.append(np.flatnonzero(begins), groups.size)
        self.width = int(self._take(self._order[:1]).shape[1])

    def __len__(self) -> int:
        return len(self._starts) - 1

    def pieces(self) -> Iterator[tuple[slice, Floats]]:
        """Consecutive groups and their sums (groups, k)."""
        rows = max(1, min(MOST_ROWS, PIECE // max(1, self.width)))
        start = 0
        while start < len(self):
            stop = int(np.searchsorted(self._starts, self._starts[start] + rows, side="right")) - 1
            stop = min(max(stop, start + 1), len(self))
            begin, end = self._starts[start], self._starts[stop]
            taken = self._take(self._order[begin:end])
            if end - begin > stop - start:
                taken = np.add.reduceat(taken, self._starts[start:stop] - begin, axis=0)
            yield slice(start, stop), taken
            start = stop

    def weighted(self, weights: NDArray[np.integer]) -> Floats:
        """Totals (m, k) of the groups' sums under each of `weights` (m, groups), none negative.

        Where statistics are not negative no total is, not even by rounding.
        """
        totals = np.zeros((len(weights), self.width))
        for which, sums in self.pieces():
            totals += weights[:, which].astype(np.float64) @ sums
        return totals


def passes(count: int, *, width: int, groups: int) -> Iterator[int]:
    """`count` in parts whose totals (part, width) and weights (part, groups) stay small."""
    part = min(count, max(16, min(TOTALS // max(1, width), 4 * TOTALS // max(1, groups))))
    for start in range(0, count, part):
        yield min(part, count - start)


def draw_counts(rng: np.random.Generator, groups: int, count: int) -> NDArray[np.uint16]:
    """(count, groups): how often each group is in each resample."""
    counts = np.empty((count, groups), np.uint16)
    for part in blocks(counts, groups):
        drawn = rng.integers(0, groups, part.shape)
        drawn += np.arange(len(part))[:, None] * groups  # each resample counts in its own places
        part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
    return counts


def leave_out(groups: int, most: int, *, width: int) -> Iterator[NDArray[np.uint8]]:
    """Weights (part, groups) that leave out each group once, several at once beyond `most`."""
    parts = min(groups, most)
    part_of = np.arange(groups) % parts
    start = 0
    for part in passes(parts, width=width, groups=groups):
        yield (part_of != np.arange(start, start + part)[:, None]).astype(np.uint8)
        start += part


def blocks(rows: NDArray[Any], groups: int) -> Iterator[NDArray[Any]]:
    """`rows` in parts of which each draws so few groups that they stay in the cache."""
    block = max(1, DRAWN // groups)
    for start in range(0, len(rows), block):
        yield rows[start : start + block]


def sums_and_sizes(values: Floats, groups: Ints) -> tuple[Floats, Floats]:
    """Of each group that has samples: the sum of its `values`, and how many there are."""
    count = int(groups.max()) + 1 if groups.size else 0
    sizes = np.bincount(groups, minlength=count).astype(np.float64)
    sums: Floats = np.bincount(groups, weights=values, minlength=count).astype(np.float64)
    return sums[sizes > 0], sizes[sizes > 0]
