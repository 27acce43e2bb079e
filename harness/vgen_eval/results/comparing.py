"""One reading beside another: paired differences with their intervals, and how far ranks move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import NO_ROW
from vgen_eval.statistics import (
    Interval,
    Permutation,
    bootstrap_mean,
    bootstrap_merged,
    bootstrap_pooled,
    bootstrap_weighted,
    kendall_tau,
    permute_mean,
    permute_merged,
    permute_pooled,
)
from vgen_eval.statistics.clusters import Take
from vgen_eval.types import Statistics, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["Difference", "Moves", "compare", "rank_moves"]


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
    test: Permutation | None = None
    """Of no difference; None where there is no difference to test."""


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

    The interval is a bootstrap over groups, in which both are resampled together; the test
    exchanges the two group by group.
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
    pair = _Pair(base, base_value, other, value, rows)
    if value.aggregation == "mean" and base_value.aggregation == "mean":
        gaps = _per_sample(other, value, rows) - _per_sample(base, base_value, rows)
        whole: float | None = float(gaps.mean())
        interval = bootstrap_mean(gaps, groups)
        test: Permutation | None = permute_mean(gaps, groups)
    else:
        whole = pair.gap(np.arange(len(rows)))
        interval, test = pair.interval(groups), pair.test(groups)
    return msgspec.structs.replace(found, difference=whole, interval=interval, test=test)


def _has_number(summary: Summary, value: Value, rows: Ints) -> NDArray[np.bool_]:
    """Of each sample: has it an attempt that the value can be made of?"""
    usable: NDArray[np.bool_] = summary.scored[rows]
    if value.aggregation == "mean":
        usable = np.logical_and(usable, np.isfinite(summary.table.values[value.of][rows]))
    found: NDArray[np.bool_] = np.any(usable, axis=1)
    return found


class _Pair:
    """Two readings of the same samples, at least one of whose values is pooled."""

    def __init__(
        self, base: Summary, base_value: Value, other: Summary, value: Value, rows: Ints
    ) -> None:
        self._mine, self._theirs = (other, value), (base, base_value)
        self._rows = rows

    def gap(self, samples: Ints) -> float | None:
        """The difference over some samples, each as often as it is named."""
        mine, theirs = (_over(*one, self._rows[samples]) for one in (self._mine, self._theirs))
        return None if mine is None or theirs is None else mine - theirs

    def interval(self, groups: Ints) -> Interval:
        """Interval of the difference: one matrix product where both are made of sums."""
        ours, others = (_weigher(*one, self._rows) for one in (self._mine, self._theirs))
        if ours is not None and others is not None:
            first, second = ours, others
            return bootstrap_weighted(lambda drawn: first(drawn) - second(drawn), groups, 1)[0]
        mine, theirs = (_totals(*one, self._rows) for one in (self._mine, self._theirs))
        if mine is None or theirs is None:
            return bootstrap_merged(
                range(len(self._rows)), groups, lambda chosen: self.gap(np.array(chosen, np.int64))
            )
        (take_mine, value_mine), (take_theirs, value_theirs) = mine, theirs
        width = take_mine(np.zeros(1, np.int64)).shape[1]
        return bootstrap_pooled(
            lambda rows: np.column_stack([take_mine(rows), take_theirs(rows)]),
            groups,
            lambda totals: value_mine(totals[:, :width]) - value_theirs(totals[:, width:]),
        )

    def test(self, groups: Ints) -> Permutation | None:
        """The test of no difference; None where the statistics of one are not the other's."""
        (other, value), (base, base_value) = self._mine, self._theirs
        if value.aggregation != base_value.aggregation:
            return None
        if other.table.layout(value) != base.table.layout(base_value):
            return None
        mine, theirs = (_totals(*one, self._rows) for one in (self._mine, self._theirs))
        if mine is not None and theirs is not None:
            return permute_pooled(mine[0], theirs[0], groups, mine[1], theirs[1])
        held = [one.table.held(own) for one, own in (self._mine, self._theirs)]
        if held[0] is not None and held[1] is not None:
            return self._column_test(groups, held[0], held[1])
        return self._merged_test(groups)

    def _column_test(self, groups: Ints, mine: Floats, theirs: Floats) -> Permutation:
        """The test where statistics are columns: samples' own rows change sides."""
        (other, value), (base, base_value) = self._mine, self._theirs
        unit = np.ones((1, len(self._rows)), np.uint8)
        rows = [np.where(one.scored[self._rows], self._rows, NO_ROW) for one in (other, base)]

        def difference(exchanged: NDArray[np.bool_]) -> float | None:
            changed = self._rows[exchanged].reshape(-1)
            left, right = mine.copy(), theirs.copy()
            left[changed], right[changed] = theirs[changed], mine[changed]
            used = [np.where(exchanged[:, None], rows[1 - at], rows[at]) for at in (0, 1)]
            ours = other.table.weigher([value], used[0], left)
            others = base.table.weigher([base_value], used[1], right)
            assert ours is not None
            assert others is not None
            gap = float(ours(unit)[0, 0] - others(unit)[0, 0])
            return gap if np.isfinite(gap) else None

        return permute_merged(groups, difference)

    def _merged_test(self, groups: Ints) -> Permutation | None:
        """The test where statistics do not add up: samples' own change sides."""
        mine, theirs = (_entries(*one, self._rows) for one in (self._mine, self._theirs))
        if mine is None or theirs is None:
            return None
        attempts = [list(zip(*columns, strict=True)) for columns in zip(mine, theirs, strict=True)]

        def value_of(summary: Summary, value: Value, sides: NDArray[np.int64]) -> float | None:
            each = (
                summary.table.merged(
                    value, (pair[side] for pair, side in zip(pairs, sides, strict=True))
                )
                for pairs in attempts
            )
            found = [number for number in each if number is not None]
            return sum(found) / len(found) if found else None

        def difference(exchanged: NDArray[np.bool_]) -> float | None:
            sides = exchanged.astype(np.int64)
            own, others = value_of(*self._mine, sides), value_of(*self._theirs, 1 - sides)
            return None if own is None or others is None else own - others

        return permute_merged(groups, difference)


def _totals(
    summary: Summary, value: Value, rows: Ints
) -> tuple[Take, Callable[[Floats], Floats]] | None:
    if value.aggregation == "mean":
        return None
    summed = summary.table.totals([value], np.where(summary.scored[rows], rows, NO_ROW))
    if summed is None:
        return None
    take, compute = summed
    return take, lambda totals: compute(totals)[:, 0]


def _weigher(summary: Summary, value: Value, rows: Ints) -> Callable[[NDArray[Any]], Floats] | None:
    """What gives the value of weighted samples; None where statistics are no columns."""
    if value.aggregation == "mean":
        return None
    return summary.table.weigher([value], np.where(summary.scored[rows], rows, NO_ROW))


def _entries(summary: Summary, value: Value, rows: Ints) -> list[list[Statistics | None]] | None:
    """Of each attempt, the samples' statistics that are merged; None where they are sums."""
    if value.aggregation == "mean" or not summary.table.is_merged(value):
        return None
    used = np.where(summary.scored[rows], rows, NO_ROW)
    return [summary.table.entries(value, column) for column in used.T]


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
