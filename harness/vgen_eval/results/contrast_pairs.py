"""Pairs of runs over the samples that all of them have: difference, test, and where it lies."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from vgen_eval.results.comparing import compare
from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import AttemptTable
from vgen_eval.statistics import Interval, Permutation, cluster_deviation, groups_needed
from vgen_eval.store.run import RunStore
from vgen_eval.types import Item, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = ["LEVEL", "Far", "Needed", "Pair", "PerRun", "SideBySide"]

LEVEL = 0.05
"""Corrected p-values below it count as a difference."""
POWER = 0.8
MOST_FAR = 5
TOO_LARGE = "too large for a number"


class PerRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run's value over the common samples."""

    value: float | None
    interval: Interval
    reason: str | None = None


class Far(msgspec.Struct, frozen=True, kw_only=True):
    """A sample on which two runs are far apart."""

    sample: str
    first: float
    second: float


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """How much it would take to show the difference that was seen, were it the true one."""

    groups: int
    samples: int
    power: float = POWER


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The second run against the first."""

    first: int
    second: int
    difference: float | None
    """The second's value minus the first's."""
    interval: Interval
    test: Permutation
    p_corrected: float | None = None
    """Holm's, over every test shown; below 0.05 the two differ."""
    n: int
    deviation: float | None
    """Standard deviation of the groups' differences; what `needed` goes by."""
    needed: Needed | None = None
    """None where the two differ, or no number of samples would show it."""
    wins: int | None
    """Samples on which the second is better; None where the value has no per-sample number."""
    ties: int | None
    losses: int | None
    farthest: tuple[Far, ...]
    reason: str | None = None

    def corrected(self, p_value: float | None, tests: int) -> Pair:
        """The pair with its p-value as corrected for `tests` tests, and what it would need."""
        needed = None
        if p_value is not None and p_value >= LEVEL and self.difference and self.deviation:
            needed = self._needed(LEVEL / tests)
        return msgspec.structs.replace(self, p_corrected=p_value, needed=needed)

    def _needed(self, level: float) -> Needed | None:
        groups = groups_needed(self.difference or 0.0, self.deviation or 0.0, alpha=level)
        if groups is None:
            return None
        # of so many groups the least p-value that exchanges can give is 2 / 2^groups
        groups = max(groups, math.ceil(1 - math.log2(level)))
        samples = math.ceil(groups * self.n / self.test.clusters)
        return Needed(groups=groups, samples=samples)


Part = tuple[int, int, tuple[PerRun, ...], tuple[Pair, ...]]
"""Samples, groups, the runs' values, and the pairs."""


class SideBySide:
    """The runs' numbers over the samples that all have, in the order of the first."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        common = set.intersection(*({i.id for i in s.job.items} for s in summaries))
        self.items: tuple[Item, ...] = tuple(
            item for item in summaries[0].job.items if item.id in common
        )
        self._attempts = min(summary.job.attempts for summary in summaries)
        self._summaries = [self._align(summary) for summary in summaries] if self.items else []

    def _align(self, summary: Summary) -> Summary:
        """The same over the common samples, and as many attempts as every run made."""
        job, ids = summary.job, [item.id for item in self.items]
        if [item.id for item in job.items] == ids and job.attempts == self._attempts:
            return summary
        own = {item.id: item for item in job.items}
        items = tuple(own[name] for name in ids)
        part = msgspec.structs.replace(job, items=items, attempts=self._attempts)
        table = AttemptTable(job.task.metrics, part.rows())
        table.fill(RunStore(Path(job.path)).scores(job.score_digest, part.rows()))
        return Summary(part, table)

    def part(
        self, values: Sequence[Value], ids: Collection[str], pairs: Sequence[tuple[int, int]]
    ) -> Part:
        """What the runs come to over those of the samples `ids` that all of them have scored.

        `values`: the value compared, as each run has it. `pairs`: numbers of runs.
        """
        wanted = frozenset(ids)
        chosen: Bools = np.array([item.id in wanted for item in self.items])
        numbers = [_per_sample(s, v) for s, v in zip(self._summaries, values, strict=True)]
        for summary, value, each in zip(self._summaries, values, numbers, strict=True):
            has = np.isfinite(each) if value.aggregation == "mean" else _scored(summary)
            chosen &= has
        views = [_view(summary, chosen) for summary in self._summaries]
        groups = self._summaries[0].groups[:: self._attempts][chosen]
        with np.errstate(over="ignore", invalid="ignore"):
            per_run = tuple(_average(v, value) for v, value in zip(views, values, strict=True))
            paired = tuple(
                self._pair(a, b, views, values, (numbers[a][chosen], numbers[b][chosen]), chosen)
                for a, b in pairs
            )
        return int(chosen.sum()), int(np.unique(groups).size), per_run, paired

    def _pair(
        self, a: int, b: int, views: Sequence[Summary], values: Sequence[Value],
        numbers: tuple[Floats, Floats], chosen: Bools,
    ) -> Pair:  # fmt: skip
        found = compare(views[a], values[a], views[b], values[b])
        clusters = found.test.clusters if found.test else found.interval.clusters
        test = found.test or Permutation(
            clusters=clusters,
            reason="the two are made of other statistics" if found.n else found.interval.reason,
        )
        difference, reason = found.difference, None
        if difference is None:
            reason = "undefined for these samples" if found.n else "no sample was scored by all"
        elif not math.isfinite(difference):
            difference, reason = None, TOO_LARGE
        first, second = numbers
        defined = np.isfinite(first) & np.isfinite(second)
        some = bool(defined.any())
        gaps = np.where(defined, second - first, 0.0)
        better = gaps if values[a].higher_is_better else -gaps
        return Pair(
            first=a,
            second=b,
            difference=difference,
            interval=found.interval,
            test=test,
            n=found.n,
            deviation=self._deviation(views[a], values[a], found.interval, gaps, chosen),
            wins=int((better > 0).sum()) if some else None,
            ties=int((gaps[defined] == 0).sum()) if some else None,
            losses=int((better < 0).sum()) if some else None,
            farthest=tuple(self._farthest(first, second, gaps, chosen)),
            reason=reason,
        )

    def _deviation(
        self, view: Summary, value: Value, interval: Interval, gaps: Floats, chosen: Bools
    ) -> float | None:
        """Of the groups' differences: of a mean in closed form, of others by the bootstrap."""
        if value.aggregation == "mean":
            groups = view.groups[:: self._attempts][chosen]
            found = cluster_deviation(gaps, np.unique(groups, return_inverse=True)[1].reshape(-1))
        elif interval.standard_error is None:
            return None
        else:
            found = interval.standard_error * math.sqrt(interval.clusters)
        return found if found is not None and math.isfinite(found) else None

    def _farthest(
        self, first: Floats, second: Floats, gaps: Floats, chosen: Bools
    ) -> Iterator[Far]:
        """The samples that differ most; earlier ones first where they differ as much."""
        ids = [item.id for item, is_in in zip(self.items, chosen, strict=True) if is_in]
        for at in np.argsort(-np.abs(gaps), kind="stable")[:MOST_FAR].tolist():
            if gaps[at] != 0:
                yield Far(sample=ids[at], first=float(first[at]), second=float(second[at]))


def _average(view: Summary, value: Value) -> PerRun:
    rows = view.rows(np.arange(len(view.job.items)), range(view.job.attempts))
    number, interval, n = view.average(value, rows, view.scored)
    reason = None
    if number is None:
        reason = "undefined for these samples" if n else "no sample was scored by all"
    elif not math.isfinite(number):
        number, reason = None, TOO_LARGE
    return PerRun(value=number, interval=interval, reason=reason)


def _view(summary: Summary, samples: Bools) -> Summary:
    """The same numbers, with no other than these samples scored."""
    view = copy.copy(summary)
    view.scored = summary.scored & np.repeat(samples, summary.job.attempts)
    return view


def _scored(summary: Summary) -> Bools:
    """Of each sample: has an attempt of it been scored?"""
    found: Bools = np.any(summary.scored.reshape(-1, summary.job.attempts), axis=1)
    return found


def _per_sample(summary: Summary, value: Value) -> Floats:
    """Mean over the scored attempts of each sample; NaN where it has no number of its own."""
    own = np.where(summary.scored, summary.table.values[value.of], np.nan)
    by_sample = own.reshape(-1, summary.job.attempts)
    defined = np.isfinite(by_sample)
    counts = defined.sum(axis=1)
    means: Floats = np.full(len(by_sample), np.nan)
    sums = np.where(defined, by_sample, 0.0).sum(axis=1)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
