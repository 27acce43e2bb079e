"""Per-attempt statistics of a run as arrays, and what is made of rows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vgen_eval.engine.tasks import NamedMetric
from vgen_eval.scoring import ColumnMetric, SumMetric
from vgen_eval.statistics import (
    Interval,
    bootstrap_mean,
    bootstrap_merged,
    bootstrap_several,
    bootstrap_weighted,
)
from vgen_eval.store.rows import Rows
from vgen_eval.types import STATUS_GROUP, Statistics, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vgen_eval.statistics.clusters import Take

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["ANSWERED", "EXCLUDED", "FAILED", "NOT_RUN", "NO_ROW", "UNSCORED", "AttemptTable"]

ANSWERED, FAILED, UNSCORED, EXCLUDED, NOT_RUN = 0, 1, 2, 3, 4
"""What a row is: scored; scored as failure; infrastructure; data fault; no line."""

NO_ROW = -1
"""Stands in a column of rows for a sample whose attempt is not used."""

MOST_KEPT = 16
"""Sets of rows whose intervals are remembered."""

_STATE = {
    "answered": ANSWERED,
    "model_failure": FAILED,
    "infrastructure": UNSCORED,
    "data_fault": EXCLUDED,
}


class AttemptTable:
    """Rows are attempts, sample by sample; statistics are small, so all of them are held."""

    def __init__(self, metrics: Sequence[NamedMetric], rows: Rows) -> None:
        self._rows = rows
        self._metrics = {metric.key: metric for metric in metrics}
        self._metric_of = {v.name: metric.key for metric in metrics for v in metric.values}
        count = len(rows)
        self.state = np.full(count, NOT_RUN, dtype=np.int8)
        self.missing = np.ones(count, dtype=bool)
        self.values: dict[str, Floats] = {
            value.of: np.full(count, np.nan) for metric in metrics for value in metric.values
        }
        self._columns: dict[str, list[tuple[str, int | None]]] = {}
        self._sums: dict[str, Floats] = {}
        self._kept: dict[str, list[Statistics | None]] = {
            metric.key: [None] * count
            for metric in metrics
            if not isinstance(metric.metric, (SumMetric, ColumnMetric))
        }
        self._held: dict[str, Floats] = {
            metric.key: np.full((count, len(metric.metric.columns)), np.nan)
            for metric in metrics
            if isinstance(metric.metric, ColumnMetric)
        }
        self._intervals: dict[tuple[str, bytes, bytes], dict[str, Interval]] = {}
        self.statuses: dict[str, int] = {}
        self.flags: dict[str, int] = {}

    def fill(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Takes the score lines of the run in."""
        for line in lines:
            row = self._rows.of(line)
            status = line["status"]
            self.statuses[status] = self.statuses.get(status, 0) + 1
            self.state[row] = _STATE[STATUS_GROUP[status]]
            self.missing[row] = status == "missing"
            # a substitute's flags say nothing of an answer; the kind of its fault does
            own = () if line.get("substitute") else line.get("flags", ())
            for flag in (*own, *([line["fault"]] if line.get("fault") else ())):
                self.flags[flag] = self.flags.get(flag, 0) + 1
            for key, value in line.get("values", {}).items():
                if key in self.values and value is not None:
                    self.values[key][row] = value
            for key, statistics in line.get("statistics", {}).items():
                self._keep(key, row, statistics)

    def _keep(self, key: str, row: int, statistics: Statistics) -> None:
        if key in self._kept:
            self._kept[key][row] = statistics
            return
        if key in self._held:
            named = self._metrics[key].metric
            assert isinstance(named, ColumnMetric)
            self._held[key][row] = [statistics[name][0] for name in named.columns]
            return
        flat: list[float] = []
        columns: list[tuple[str, int | None]] = []
        for name in sorted(statistics):
            entry = statistics[name]
            flat.extend(entry if isinstance(entry, list) else [entry])
            columns.append((name, len(entry) if isinstance(entry, list) else None))
        if key not in self._sums:
            self._columns[key] = columns
            self._sums[key] = np.zeros((len(self.state), len(flat)))
        self._sums[key][row] = flat

    def mean(
        self, value: Value, rows: Ints, groups: Ints, *, with_interval: bool = True
    ) -> tuple[float | None, Interval, int]:
        """Mean of the per-row values that are defined, its interval, and their number."""
        found = self.values[value.of][rows]
        defined = np.isfinite(found)
        interval = Interval(clusters=0, reason="no value")
        if with_interval:
            interval = bootstrap_mean(found[defined], _renumber(groups[rows][defined]))
        return _mean(found[defined]), interval, int(defined.sum())

    def pooled(self, value: Value, rows: Ints) -> float | None:
        """The value of the rows' merged statistics."""
        if rows.size == 0:
            return None
        key = self._metric_of[value.name]
        if key in self._kept:
            return self.merged(value, self.entries(value, rows))
        weigh = self.weigher([value], rows[:, None])
        if weigh is not None:
            return _finite(float(weigh(np.ones((1, rows.size), np.uint8))[0, 0]))
        if key not in self._sums:
            return None
        return self._computed(key, value, self._unflatten(key, self._sums[key][rows].sum(axis=0)))

    def weigher(
        self, values: Sequence[Value], by_attempt: Ints, sides: Floats | None = None
    ) -> Callable[[NDArray[np.integer]], Floats] | None:
        """What gives `pooled_mean` of one metric's `values` over weighted samples.

        Weights (m, s), how often each sample counts -> the values (m, v), NaN where undefined.
        None where the metric's statistics are no columns. `sides`: rows to read in place of the
        table's own, see `held`.
        """
        named = self._metrics[self._metric_of[values[0].name]]
        if not isinstance(named.metric, ColumnMetric):
            return None
        metric: ColumnMetric = named.metric
        table = self._held[named.key] if sides is None else sides
        names = [value.of.removeprefix(named.prefix) for value in values]
        parts = []
        for column in by_attempt.T:
            used = np.flatnonzero(column != NO_ROW)
            if used.size:
                parts.append((used, np.ascontiguousarray(table[column[used]].T)))

        def compute(weights: NDArray[np.integer]) -> Floats:
            if not parts:
                return np.full((len(weights), len(names)), np.nan)
            each = np.array(
                [metric.compute_columns(rows, weights[:, used], names) for used, rows in parts]
            )
            defined = np.isfinite(each)
            counts = defined.sum(axis=0)
            means: Floats = np.full(counts.shape, np.nan)
            np.divide(np.where(defined, each, 0.0).sum(axis=0), counts, out=means, where=counts > 0)
            return means

        return compute

    def held(self, value: Value) -> Floats | None:
        """The columns (rows, k) of its metric; None where its statistics are no columns."""
        return self._held.get(self._metric_of[value.name])

    def explain(self, value: Value, by_attempt: Ints) -> str | None:
        """Why the value of these rows is undefined, in the metric's own words, if it has any."""
        key = self._metric_of[value.name]
        named = self._metrics[key]
        tell = getattr(named.metric, "explain", None)
        if tell is None:
            return None
        for column in by_attempt.T:
            statistics = self._statistics(key, column[column != NO_ROW])
            told = tell(statistics) if statistics is not None else {}
            reason = told.get(value.of.removeprefix(named.prefix))
            if reason is not None:
                return str(reason)
        return None

    def _statistics(self, key: str, rows: Ints) -> Statistics | None:
        """The merged statistics of rows; None where there are none."""
        if rows.size == 0:
            return None
        if key in self._held:
            metric = self._metrics[key].metric
            assert isinstance(metric, ColumnMetric)
            columns = self._held[key][rows].T.tolist()
            return dict(zip(metric.columns, columns, strict=True))
        if key in self._sums:
            return self._unflatten(key, self._sums[key][rows].sum(axis=0))
        return self._merge(key, (self._kept[key][row] for row in rows.tolist()))

    def is_merged(self, value: Value) -> bool:
        """Are its statistics merged by the metric itself, since they do not add up?"""
        return self._metric_of[value.name] in self._kept

    def entries(self, value: Value, rows: Ints) -> list[Statistics | None]:
        """The rows' statistics, of a metric whose statistics do not add up."""
        kept = self._kept[self._metric_of[value.name]]
        return [None if row == NO_ROW else kept[row] for row in rows.tolist()]

    def merged(self, value: Value, entries: Iterable[Statistics | None]) -> float | None:
        """The value of statistics merged two by two; None where there are none."""
        key = self._metric_of[value.name]
        found = self._merge(key, entries)
        return None if found is None else self._computed(key, value, found)

    def _merge(self, key: str, entries: Iterable[Statistics | None]) -> Statistics | None:
        """Statistics merged two by two; None where there are none."""
        merge = self._metrics[key].metric.merge
        found = [entry for entry in entries if entry is not None]
        if not found:
            return None
        # as a tree: one that grows with what it holds is copied log(n) times, not n
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=False)
            found = [merge(a, b) for a, b in pairs] + found[len(found) - len(found) % 2 :]
        return found[0]

    def pooled_mean(self, value: Value, by_attempt: Ints) -> float | None:
        """Mean over attempts of `pooled`; `by_attempt` (samples, attempts), NO_ROW where unused."""
        each = (self.pooled(value, column[column != NO_ROW]) for column in by_attempt.T)
        return _mean(np.array([number for number in each if number is not None]))

    def pooled_interval(self, value: Value, by_attempt: Ints, groups: Ints) -> Interval:
        """Interval of `pooled_mean` over resamples of whole `groups` (samples,)."""
        key = self._metric_of[value.name]
        used = (by_attempt != NO_ROW).any(axis=1)
        by_attempt, numbered = by_attempt[used], _renumber(groups[used])
        if key in self._kept:
            return bootstrap_merged(
                range(len(by_attempt)),
                numbered,
                lambda chosen: self.pooled_mean(value, by_attempt[list(chosen)]),
            )
        values = [v for v in self._metrics[key].values if v.aggregation == "pooled"]
        weigh = self.weigher(values, by_attempt)
        summed = self.totals(values, by_attempt) if weigh is None else None
        if weigh is None and summed is None:
            return Interval(clusters=0, reason="nothing was scored")
        # all that a metric reports comes from the same resamples: they are drawn and summed once
        place = (key, by_attempt.tobytes(), numbered.tobytes())
        if place not in self._intervals:
            if weigh is not None:
                found = bootstrap_weighted(weigh, numbered, len(values))
            else:
                assert summed is not None
                found = bootstrap_several(summed[0], numbered, summed[1], len(values))
            if len(self._intervals) >= MOST_KEPT:
                del self._intervals[next(iter(self._intervals))]
            self._intervals[place] = dict(zip((v.name for v in values), found, strict=True))
        return self._intervals[place][value.name]

    def totals(
        self, values: Sequence[Value], by_attempt: Ints
    ) -> tuple[Take, Callable[[Floats], Floats]] | None:
        """What sums up to `pooled_mean` of one metric's `values`.

        Numbers of samples (s,) -> their statistics (s, k), and totals (m, k) -> the values
        (m, v), NaN where undefined. None where the statistics do not add up, or there are none.
        """
        key = self._metric_of[values[0].name]
        if key not in self._sums:
            return None
        sums = self._sums[key]
        attempts, width = by_attempt.shape[1], 1 + sums.shape[1]

        def take(samples: Ints) -> Floats:
            rows = by_attempt[samples]
            taken = np.empty((*rows.shape, width))
            # a column that counts rows tells an attempt without any from sums of 0
            taken[:, :, 0] = rows != NO_ROW
            taken[:, :, 1:] = sums[rows]
            if (rows == NO_ROW).any():
                taken[rows == NO_ROW] = 0.0
            return taken.reshape(len(samples), attempts * width)

        def compute(totals: Floats) -> Floats:
            found = [self._means(key, values, row.reshape(attempts, width)) for row in totals]
            return np.array(found).reshape(len(totals), len(values))

        return take, compute

    def layout(self, value: Value) -> Sequence[tuple[str, int | None]] | None:
        """Names and lengths of the statistics that add up to it; None where they do not."""
        return self._columns.get(self._metric_of[value.name])

    def _means(self, key: str, values: Sequence[Value], totals: Floats) -> list[float]:
        """Means over attempts of the values of summed statistics (attempts, 1 + k)."""
        named = self._metrics[key]
        each = [named.metric.compute(self._unflatten(key, t[1:])) for t in totals if t[0] > 0]
        means = []
        for value in values:
            name = value.of.removeprefix(named.prefix)
            mean = _mean(np.array([n for one in each if (n := _finite(one[name])) is not None]))
            means.append(np.nan if mean is None else mean)
        return means

    def _computed(self, key: str, value: Value, merged: Statistics) -> float | None:
        named = self._metrics[key]
        return _finite(named.metric.compute(merged)[value.of.removeprefix(named.prefix)])

    def _unflatten(self, key: str, flat: Floats) -> Statistics:
        statistics: Statistics = {}
        at = 0
        numbers = flat.tolist()
        for name, length in self._columns[key]:
            width = length if length is not None else 1
            part = numbers[at : at + width]
            statistics[name] = part if length is not None else part[0]
            at += width
        return statistics


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _renumber(groups: Ints) -> Ints:
    return np.unique(groups, return_inverse=True)[1].reshape(-1)
