"""Per-attempt statistics of a run as arrays, and what is made of rows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vgen_eval.engine.tasks import NamedMetric
from vgen_eval.scoring import SumMetric
from vgen_eval.statistics import Interval, bootstrap_mean, bootstrap_merged, bootstrap_pooled
from vgen_eval.store.rows import Rows
from vgen_eval.types import STATUS_GROUP, Statistics, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["ANSWERED", "EXCLUDED", "FAILED", "NOT_RUN", "NO_ROW", "UNSCORED", "AttemptTable"]

ANSWERED, FAILED, UNSCORED, EXCLUDED, NOT_RUN = 0, 1, 2, 3, 4
"""What a row is: scored; scored as failure; infrastructure; data fault; no line."""

NO_ROW = -1
"""Stands in a column of rows for a sample whose attempt is not used."""

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
            if not isinstance(metric.metric, SumMetric)
        }
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
            # a substitute's flags say nothing of an answer
            for flag in () if line.get("substitute") else line.get("flags", ()):
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

    def mean(self, value: Value, rows: Ints, groups: Ints) -> tuple[float | None, Interval, int]:
        """Mean of the per-row values that are defined, its interval, and their number."""
        found = self.values[value.of][rows]
        defined = np.isfinite(found)
        interval = bootstrap_mean(found[defined], _renumber(groups[rows][defined]))
        return _mean(found[defined]), interval, int(defined.sum())

    def pooled(self, value: Value, rows: Ints) -> float | None:
        """The value of the rows' merged statistics."""
        if rows.size == 0:
            return None
        key = self._metric_of[value.name]
        named = self._metrics[key]
        if key in self._kept:
            entries = [s for row in rows.tolist() if (s := self._kept[key][row]) is not None]
            if not entries:
                return None
            merged = entries[0]
            for entry in entries[1:]:
                merged = named.metric.merge(merged, entry)
        elif key in self._sums:
            merged = self._unflatten(key, self._sums[key][rows].sum(axis=0))
        else:
            return None
        return self._computed(key, value, merged)

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
        sums = self.totals(value, by_attempt)
        if sums is None:
            return Interval(clusters=0, reason="nothing was scored")
        return bootstrap_pooled(sums[0], numbered, sums[1])

    def totals(
        self, value: Value, by_attempt: Ints
    ) -> tuple[Floats, Callable[[Floats], float | None]] | None:
        """Sums (samples, k) of the rows, and `pooled_mean` as a function of their total (k,).

        None where the metric's statistics do not add up, or there are none.
        """
        key = self._metric_of[value.name]
        if key not in self._sums:
            return None
        # a column that counts rows comes first, and tells an attempt without any from sums of 0
        counted = np.column_stack([np.ones(len(self.state)), self._sums[key]])
        tables = np.where((by_attempt != NO_ROW)[:, :, None], counted[by_attempt], 0.0)
        width = counted.shape[1]
        return (
            tables.reshape(len(by_attempt), -1),
            lambda total: self._mean_of_totals(key, value, total.reshape(-1, width)),
        )

    def _mean_of_totals(self, key: str, value: Value, totals: Floats) -> float | None:
        """Mean over attempts of the value of its summed statistics, (attempts, 1 + k)."""
        each = (self._computed(key, value, self._unflatten(key, t[1:])) for t in totals if t[0] > 0)
        return _mean(np.array([number for number in each if number is not None]))

    def _computed(self, key: str, value: Value, merged: Statistics) -> float | None:
        named = self._metrics[key]
        found = named.metric.compute(merged)[value.of.removeprefix(named.prefix)]
        return float(found) if found is not None and np.isfinite(found) else None

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


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _renumber(groups: Ints) -> Ints:
    return np.unique(groups, return_inverse=True)[1].reshape(-1)
