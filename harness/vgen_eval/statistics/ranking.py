"""Orders of several runs: places, how two orders agree, how many do, and who wins against whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vgen_eval.statistics.clusters import Floats
from vgen_eval.statistics.distributions import chi_square_tail

__all__ = ["Agreement", "Wins", "kendall_tau", "kendall_w", "pairwise_wins", "ranks"]

Counts = NDArray[np.int64]


class Agreement(NamedTuple):
    """How well several orders agree."""

    w: float
    """Kendall's W, corrected for ties: 0 no agreement, 1 the same order throughout."""
    chi_square: float
    df: int
    p_value: float
    """Of chi-square, that is of no agreement; rough for fewer than seven things (Siegel 1956)."""


class Wins(NamedTuple):
    """Runs against runs, sample by sample; (runs, runs) each."""

    wins: Counts
    """Samples at which the run of the row is better than that of the column."""
    ties: Counts
    both: Counts
    """Samples that both have."""


def ranks(values: Sequence[float], *, higher_is_better: bool) -> list[float]:
    """The place of each value, 1 the best; tied ones share the mean of their places."""
    signed = [-value if higher_is_better else value for value in values]
    return [
        1 + sum(other < own for other in signed) + (sum(other == own for other in signed) - 1) / 2
        for own in signed
    ]


def kendall_tau(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Kendall's tau-b (1945); None where one of the two has no order at all."""
    first, second = (_signs(np.asarray(values, np.float64)) for values in (x, y))
    scale = float(np.abs(first).sum()) * float(np.abs(second).sum())
    return float((first * second).sum()) / scale**0.5 if scale else None


def _signs(values: Floats) -> Floats:
    """Of each pair of values, which is the larger; (n * (n - 1) / 2,) of -1, 0, 1."""
    a, b = np.triu_indices(len(values), 1)
    return np.sign(values[a] - values[b])


def kendall_w(scores: Sequence[Sequence[float]]) -> Agreement | None:
    """Kendall's coefficient of concordance of `scores` (orders, things), larger after smaller.

    Rows are ranked, tied things share the mean of their places, and ties are corrected for
    (Kendall and Smith 1939; Siegel 1956). chi-square is m (n - 1) W, as Friedman's. None for
    fewer than two orders or things, or where every order is all ties.
    """
    table = np.asarray(scores, np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        return None
    orders, things = table.shape
    places = np.array([ranks(row.tolist(), higher_is_better=False) for row in table])
    tied = 0
    for row in table:
        _, counts = np.unique(row, return_counts=True)
        tied += int((counts**3 - counts).sum())
    most = orders**2 * (things**3 - things) - orders * tied
    if not most:
        return None
    totals = places.sum(axis=0)
    w = 12 * float(((totals - totals.mean()) ** 2).sum()) / most
    chi_square = orders * (things - 1) * w
    return Agreement(w, chi_square, things - 1, chi_square_tail(chi_square, things - 1))


def pairwise_wins(values: Floats, *, higher_is_better: bool) -> Wins:
    """Who is better how often: `values` (runs, samples), NaN where a run has none."""
    table = values if higher_is_better else -values
    runs = len(table)
    wins, ties, both = (np.zeros((runs, runs), np.int64) for _ in range(3))
    for at, row in enumerate(table):
        # comparisons with NaN are false
        wins[at] = (row > table).sum(axis=1)
        ties[at] = (row == table).sum(axis=1)
        both[at] = (np.isfinite(row) & np.isfinite(table)).sum(axis=1)
    return Wins(wins, ties, both)
