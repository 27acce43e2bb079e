"""From the scores file of a run to its numbers: attempts, subsets, both denominators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vgen_eval.engine.plan import Job
from vgen_eval.errors import BrokenPlugin
from vgen_eval.results.card import Counts, Score
from vgen_eval.results.table import (
    ANSWERED,
    EXCLUDED,
    FAILED,
    NO_ROW,
    NOT_RUN,
    UNSCORED,
    AttemptTable,
)
from vgen_eval.statistics import Interval, bootstrap_mean
from vgen_eval.store.run import RunStore
from vgen_eval.types import Item, Value
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

__all__ = ["Summary", "summarise"]

MAX_LISTED = 1000
MAX_SUBSETS = 100


def summarise(job: Job, store: RunStore, *, unknown_ids: Sequence[str] = ()) -> tuple[
    tuple[Score, ...], Counts
]:  # fmt: skip
    """Scores and counts of a run from its scores file."""
    rows = job.rows()
    table = AttemptTable(job.task.metrics, rows)
    table.fill(store.scores(job.score_digest, rows))
    summary = Summary(job, table)
    try:
        scores = tuple(summary.scores())
    # `merge` and `compute` are anyone's code
    except (Exception, SystemExit) as exc:
        raise BrokenPlugin(
            f"{job.task.ref.label}: its metrics cannot be summarised: {describe(exc)}",
            cure=f"every answer is kept: mend the metric, then vgen-eval score {store.path}",
        ) from exc
    return scores, _counts(job, table, unknown_ids)


def _counts(job: Job, table: AttemptTable, unknown_ids: Sequence[str]) -> Counts:
    missing = table.missing.reshape(len(job.items), job.attempts).any(axis=1)
    missing_ids = [job.items[at].id for at in np.flatnonzero(missing)]
    return Counts(
        expected=table.state.size,
        answered=int((table.state == ANSWERED).sum()),
        model_failure=int((table.state == FAILED).sum()),
        infrastructure=int((table.state == UNSCORED).sum()),
        data_fault=int((table.state == EXCLUDED).sum()),
        not_run=int((table.state == NOT_RUN).sum()),
        statuses=dict(sorted(table.statuses.items())),
        flags=dict(sorted(table.flags.items())),
        failure_value=job.task.protocol.failure_value,
        missing_ids=tuple(missing_ids[:MAX_LISTED]),
        unknown_ids=tuple(unknown_ids)[:MAX_LISTED],
    )


class Summary:
    """The numbers of one table."""

    def __init__(self, job: Job, table: AttemptTable) -> None:
        self.job = job
        self.table = table
        names = {group: at for at, group in enumerate(sorted({i.group for i in job.items}))}
        by_sample = np.array([names[item.group] for item in job.items], dtype=np.int64)
        self.groups = np.repeat(by_sample, job.attempts)
        # `skip`: the paper left failures out, so they are in neither number
        kinds = [ANSWERED] if job.task.failure is None else [ANSWERED, FAILED]
        self.scored = np.isin(table.state, kinds)

    def scores(self) -> Iterator[Score]:
        values = [value for metric in self.job.task.metrics for value in metric.values]
        for subset, samples in _subsets(self.job.items).items():
            for value in values:
                yield self._mean_over_attempts(value, subset, samples)
                if self.job.attempts > 1:
                    for first in range(1, self.job.attempts + 1):
                        yield self._best_of(value, subset, samples, first)

    def rows(self, samples: Ints, attempts: range) -> Ints:
        """Row numbers (samples, attempts)."""
        columns = np.array(attempts, dtype=np.int64)
        return samples[:, None] * self.job.attempts + columns[None, :]

    def _score(
        self, value: Value, subset: str, selection: str, number: float | None, n: int,
        answered: float | None, interval: Interval, reason: str | None,
    ) -> Score:  # fmt: skip
        if number is None and reason is None:
            reason = self._nothing() if n == 0 else "undefined for these samples"
        return Score(
            metric=value.name,
            aggregation=value.aggregation,
            selection=selection,
            subset=subset,
            value=number,
            reason=reason if number is None else None,
            answered_only=answered,
            ci95=interval,
            n=n,
            higher_is_better=value.higher_is_better,
            unit=value.unit,
        )

    def _nothing(self) -> str:
        """Why there is no sample to make a number of."""
        rule, known = self.job.task.protocol.calibration, self.job.codec.calibration
        if rule is None or not rule.exclude or known is None or self.scored.any():
            return "no sample was scored"
        if set(known["samples"]) < {item.id for item in self.job.items}:
            return "no sample was scored"
        return (
            "nothing is left to score: the decoder was calibrated on every sample, and the "
            "protocol leaves these out; calibrate on fewer, or run more samples"
        )

    # --- mean over attempts ---------------------------------------------------------------

    def _mean_over_attempts(self, value: Value, subset: str, samples: Ints) -> Score:
        rows = self.rows(samples, range(self.job.attempts))
        number, interval, n = self.average(value, rows, self.scored)
        answered, _, _ = self.average(
            value, rows, self.table.state == ANSWERED, with_interval=False
        )
        reason = None
        if number is None and n and value.aggregation == "pooled":
            reason = self.table.explain(value, np.where(self.scored[rows], rows, NO_ROW))
        return self._score(value, subset, "mean", number, n, answered, interval, reason)

    def average(
        self, value: Value, rows: Ints, usable: NDArray[np.bool_], *, with_interval: bool = True
    ) -> tuple[float | None, Interval, int]:
        """The value over rows (samples, attempts), its interval, and how many samples it is of."""
        none = Interval(clusters=0, reason="no value")
        samples = int(usable[rows].any(axis=1).sum()) if rows.size else 0
        if value.aggregation == "mean":
            if self.job.attempts > 1:
                return self._mean_of_means(value, rows, usable, with_interval=with_interval)
            return self.table.mean(
                value, rows[usable[rows]], self.groups, with_interval=with_interval
            )
        by_attempt = np.where(usable[rows], rows, NO_ROW)
        number = self.table.pooled_mean(value, by_attempt)
        if not with_interval or number is None:
            return number, none, samples
        groups = self.groups[rows[:, 0]]
        return number, self.table.pooled_interval(value, by_attempt, groups), samples

    def _mean_of_means(
        self, value: Value, rows: Ints, usable: NDArray[np.bool_], *, with_interval: bool
    ) -> tuple[float | None, Interval, int]:
        """Mean over samples of the mean over their scored attempts."""
        numbers = np.where(usable[rows], self.table.values[value.of][rows], np.nan)
        defined = np.isfinite(numbers)
        some = defined.any(axis=1)
        sums = np.where(defined, numbers, 0.0).sum(axis=1)[some]
        means = sums / defined.sum(axis=1)[some]
        groups = np.unique(self.groups[rows[:, 0]][some], return_inverse=True)[1].reshape(-1)
        mean = float(means.mean()) if means.size else None
        interval = Interval(clusters=0, reason="no value")
        if with_interval:
            interval = bootstrap_mean(means, groups)
        return mean, interval, int(some.sum())

    # --- oracle best of p -----------------------------------------------------------------

    def _best_of(self, value: Value, subset: str, samples: Ints, first: int) -> Score:
        """Best of the first p attempts by the truth: an upper bound, and named so."""
        selection = f"best_of_{first}"
        rows = self.rows(samples, range(first))
        by_itself = value.aggregation == "mean" and self.job.task.selector is None
        guide = value if by_itself else self._guide()
        none = Interval(clusters=0, reason="no value")
        if guide is None:
            reason = f"{self._picker.name} has no per-sample value to pick attempts by"
            return self._score(value, subset, selection, None, 0, None, none, reason)
        picks = self._picks(guide, rows, self.scored)
        answered_picks = self._picks(guide, rows, self.table.state == ANSWERED)
        if value.aggregation == "mean":
            number, interval, n = self.table.mean(value, picks, self.groups)
            answered, _, _ = self.table.mean(
                value, answered_picks, self.groups, with_interval=False
            )
        else:
            number, n = self.table.pooled(value, picks), int(picks.size)
            answered = self.table.pooled(value, answered_picks)
            interval = none
            if number is not None:
                column = picks[:, None]
                interval = self.table.pooled_interval(value, column, self.groups[picks])
        return self._score(value, subset, selection, number, n, answered, interval, None)

    @property
    def _picker(self) -> Value:
        """What the protocol picks attempts by where a value cannot: select_by, or the primary."""
        return self.job.task.selector or self.job.task.primary

    def _guide(self) -> Value | None:
        """The picker, if it has per-sample numbers."""
        picker = self._picker
        return picker if np.isfinite(self.table.values[picker.of]).any() else None

    def _picks(self, guide: Value, rows: Ints, usable: NDArray[np.bool_]) -> Ints:
        """The row of each sample's best usable attempt; the earlier one on ties."""
        numbers = np.where(usable[rows], self.table.values[guide.of][rows], np.nan)
        some = np.isfinite(numbers).any(axis=1)
        worst = -np.inf if guide.higher_is_better else np.inf
        filled = np.where(np.isfinite(numbers), numbers, worst)[some]
        best = filled.argmax(axis=1) if guide.higher_is_better else filled.argmin(axis=1)
        picked: Ints = rows[some][np.arange(best.size), best]
        return picked


def _subsets(items: Sequence[Item]) -> Mapping[str, Ints]:
    """all, and each tag=value that does not hold for every sample.

    A tag of very many values is an id, not a breakdown, and is left out.
    """
    tags: dict[str, dict[str, list[int]]] = {}
    for at, item in enumerate(items):
        for tag, content in item.tags.items():
            tags.setdefault(tag, {}).setdefault(content, []).append(at)
    everything = {"all": np.arange(len(items), dtype=np.int64)}
    return everything | {
        f"{tag}={content}": np.array(rows, dtype=np.int64)
        for tag, contents in sorted(tags.items())
        if len(contents) <= MAX_SUBSETS
        for content, rows in sorted(contents.items())
        if len(rows) < len(items)
    }
