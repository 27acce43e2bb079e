"""One reading beside another: paired differences with their intervals, and how far ranks move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import NO_ROW
from vgen_eval.statistics import Interval, bootstrap_mean, bootstrap_merged, bootstrap_pooled
from vgen_eval.types import Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Difference", "Moves", "compare", "kendall_tau", "rank_moves", "ranks"]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A value minus the baseline's, over the samples that both have scored."""

    value: float | None
    """Of all that the reading itself has scored."""
    difference: float | None
    interval: Interval
    n: int
    """Samples that both have scored."""
    samples: int = 0
    """Samples that the reading itself has scored."""


class Moves(msgspec.Struct, frozen=True, kw_only=True):
    """How the order of several runs differs from the baseline's."""

    tau: float | None
    """Kendall's tau-b; None for fewer than two runs, or where all are tied."""
    largest: float
    """Places that the run which moved farthest moved by."""
    swapped: tuple[tuple[int, int], ...]
    """Pairs of runs, by their numbers, whose order turned round."""


def compare(base: Summary, base_value: Value, other: Summary, value: Value) -> Difference:
    """The other reading's value against the baseline's, paired by sample.

    The interval is a bootstrap over groups: both are resampled together.
    """
    samples = np.arange(len(base.job.items), dtype=np.int64)
    rows = base.rows(samples, range(base.job.attempts))
    number, _, scored = other.average(value, rows, other.scored, with_interval=False)
    both = np.logical_and(_has_number(base, base_value, rows), _has_number(other, value, rows))
    found = Difference(
        value=number,
        difference=None,
        interval=Interval(clusters=0, reason="no sample was scored both ways"),
        n=int(both.sum()),
        samples=scored,
    )
    if not both.any():
        return found
    rows, groups = rows[both], base.groups[rows[:, 0]][both]
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    if value.aggregation == "mean" and base_value.aggregation == "mean":
        gaps = _per_sample(other, value, rows) - _per_sample(base, base_value, rows)
        whole: float | None = float(gaps.mean())
        interval = bootstrap_mean(gaps, groups)
    else:
        whole = _gap(base, base_value, other, value, rows)
        interval = _pooled_interval(base, base_value, other, value, rows, groups)
    return msgspec.structs.replace(found, difference=whole, interval=interval)


def _has_number(summary: Summary, value: Value, rows: Ints) -> NDArray[np.bool_]:
    """Of each sample: has it an attempt that the value can be made of?"""
    usable: NDArray[np.bool_] = summary.scored[rows]
    if value.aggregation == "mean":
        usable = np.logical_and(usable, np.isfinite(summary.table.values[value.of][rows]))
    found: NDArray[np.bool_] = np.any(usable, axis=1)
    return found


def _gap(
    base: Summary, base_value: Value, other: Summary, value: Value, rows: Ints
) -> float | None:
    mine, theirs = _over(other, value, rows), _over(base, base_value, rows)
    return None if mine is None or theirs is None else mine - theirs


def _pooled_interval(
    base: Summary, base_value: Value, other: Summary, value: Value, rows: Ints, groups: Ints
) -> Interval:
    """Interval of `_gap`: one matrix product where both are made of sums."""
    mine, theirs = _totals(other, value, rows), _totals(base, base_value, rows)
    if mine is None or theirs is None:
        return bootstrap_merged(
            range(len(rows)),
            groups,
            lambda chosen: _gap(base, base_value, other, value, rows[list(chosen)]),
        )
    width = mine[0].shape[1]

    def gap(total: Floats) -> float | None:
        a, b = mine[1](total[:width]), theirs[1](total[width:])
        return None if a is None or b is None else a - b

    return bootstrap_pooled(np.column_stack([mine[0], theirs[0]]), groups, gap)


def _totals(
    summary: Summary, value: Value, rows: Ints
) -> tuple[Floats, Callable[[Floats], float | None]] | None:
    if value.aggregation == "mean":
        return None
    return summary.table.totals(value, np.where(summary.scored[rows], rows, NO_ROW))


def _per_sample(summary: Summary, value: Value, rows: Ints) -> Floats:
    """Mean over the scored attempts of each sample; NaN where there is none."""
    found = np.where(summary.scored[rows], summary.table.values[value.of][rows], np.nan)
    defined = np.isfinite(found)
    counts = defined.sum(axis=1)
    sums = np.where(defined, found, 0.0).sum(axis=1)
    means: Floats = np.full(len(rows), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _over(summary: Summary, value: Value, rows: Ints) -> float | None:
    if value.aggregation == "mean":
        each = _per_sample(summary, value, rows)
        each = each[np.isfinite(each)]
        return float(each.mean()) if each.size else None
    return summary.table.pooled_mean(value, np.where(summary.scored[rows], rows, NO_ROW))


def ranks(values: Sequence[float], *, higher_is_better: bool) -> list[float]:
    """The place of each value, 1 the best; tied ones share the mean of their places."""
    signed = [-value if higher_is_better else value for value in values]
    return [
        1 + sum(other < own for other in signed) + (sum(other == own for other in signed) - 1) / 2
        for own in signed
    ]


def rank_moves(before: Sequence[float], after: Sequence[float]) -> Moves:
    """From places to places, of the same runs."""
    swapped = tuple(
        (a, b)
        for a, b in combinations(range(len(before)), 2)
        if (before[a] - before[b]) * (after[a] - after[b]) < 0
    )
    return Moves(
        tau=kendall_tau(before, after),
        largest=max((abs(x - y) for x, y in zip(before, after, strict=True)), default=0.0),
        swapped=swapped,
    )


def kendall_tau(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Kendall's tau-b; None where one of the two has no order at all."""
    agree = ties_x = ties_y = pairs = 0
    for a, b in combinations(range(len(x)), 2):
        first, second = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
        pairs += 1
        agree += int(first * second)
        ties_x += first == 0
        ties_y += second == 0
    scale = float((pairs - ties_x) * (pairs - ties_y)) ** 0.5
    return agree / scale if scale else None
