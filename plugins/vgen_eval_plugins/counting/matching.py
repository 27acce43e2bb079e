"""Pairs counted points with true ones, for looking only: no score hangs on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "match_points", "reach_of"]

Points = NDArray[np.float64]

LARGEST = 200
"""Points of one side, hanging together, beyond which pairs are taken nearest first."""
_NEIGHBOUR_PART = 0.5
_SIDE_PART = 0.02


def reach_of(truth: Points, size: tuple[int, int]) -> float:
    """Pixels within which a point may be an object's: half of the usual way to the next object.

    The median over the truth (N, 2), and at least 2 % of the longer side of `size`.
    """
    least = _SIDE_PART * max(size)
    if len(truth) < 2:
        return 2 * least
    apart = _distances(truth, truth)
    np.fill_diagonal(apart, np.inf)
    return max(least, _NEIGHBOUR_PART * float(np.median(apart.min(axis=1))))


def match_points(found: Points, truth: Points, reach: float) -> list[tuple[int, int]]:
    """Pairs (place in `found`, place in `truth`) no farther apart than `reach` pixels.

    As many as there can be, and of those ways the one with the least sum of distances; nearest
    pairs first where more than LARGEST points of both sides hang together.
    """
    if not len(found) or not len(truth):
        return []
    apart = _distances(found, truth)
    near = apart <= reach
    pairs: list[tuple[int, int]] = []
    for rows, columns in _clusters(near):
        part = np.where(near[np.ix_(rows, columns)], apart[np.ix_(rows, columns)], np.inf)
        solve = _greedy if min(part.shape) > LARGEST else _assign
        pairs += [(int(rows[row]), int(columns[column])) for row, column in solve(part)]
    return sorted(pairs)


def _distances(a: Points, b: Points) -> NDArray[np.float64]:
    return np.asarray(np.hypot(a[:, None, 0] - b[None, :, 0], a[:, None, 1] - b[None, :, 1]))


def _clusters(near: NDArray[np.bool_]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Rows and columns that hang together; those that are near to nothing are left out."""
    left = near.any(axis=1)
    found = []
    while left.any():
        rows: NDArray[np.bool_] = np.zeros(len(near), bool)
        rows[int(np.argmax(left))] = True
        while True:
            columns = near[rows].any(axis=0)
            grown = np.asarray(near[:, columns].any(axis=1))
            if np.array_equal(grown, rows):
                break
            rows = grown
        found.append((np.flatnonzero(rows), np.flatnonzero(columns)))
        left &= ~rows
    return found


def _greedy(costs: NDArray[np.float64]) -> list[tuple[int, int]]:
    pairs, rows, columns = [], set(), set()
    order = np.argsort(costs, axis=None, kind="stable")
    for row, column in zip(*np.unravel_index(order, costs.shape), strict=True):
        if not math.isfinite(costs[row, column]):
            break
        if row not in rows and column not in columns:
            pairs.append((int(row), int(column)))
            rows.add(row)
            columns.add(column)
    return pairs


def _assign(costs: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The cheapest assignment with the most finite pairs: the Hungarian method by shortest paths.

    Rows enter one by one; potentials keep reduced costs at 0 or above (Jonker and Volgenant, 1987).
    """
    if costs.shape[0] > costs.shape[1]:
        return [(row, column) for column, row in _assign(costs.T)]
    finite = np.isfinite(costs)
    # dearer than all pairs together: no sum of distances outweighs one pair more
    far = float(costs[finite].max(initial=0.0)) * (min(costs.shape) + 1) + 1.0
    price = np.where(finite, costs, far)
    rows, columns = price.shape
    up, down = np.zeros(rows), np.zeros(columns)
    row_of = np.full(columns, -1)
    for start in range(rows):
        _enter_row(price, up, down, row_of, start)
    taken = [(int(row), column) for column, row in enumerate(row_of) if row >= 0]
    return [(row, column) for row, column in taken if finite[row, column]]


def _enter_row(
    price: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    row_of: NDArray[Any],
    start: int,
) -> None:
    """One more row gets a column, along the shortest path of columns that change hands."""
    columns = price.shape[1]
    shortest = np.full(columns, np.inf)
    before = np.full(columns, -1)
    done = np.zeros(columns, bool)
    reached, row, last = 0.0, start, -1
    while True:
        way = reached + price[row] - up[row] - down
        better = ~done & (way < shortest)
        shortest[better], before[better] = way[better], row
        at = int(np.argmin(np.where(done, np.inf, shortest)))
        reached, done[at], last = float(shortest[at]), True, at
        if row_of[at] < 0:
            break
        row = int(row_of[at])
    up[start] += reached
    for column in np.flatnonzero(done).tolist():
        if column != last:
            up[row_of[column]] += reached - shortest[column]
        down[column] -= reached - shortest[column]
    column = last
    while True:
        row = int(before[column])
        held = np.flatnonzero(row_of == row)
        row_of[column] = row
        if row == start:
            return
        column = int(held[0])
