"""Which classes a run took for which, counted again from the answers it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.lost import Lost
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import prepare
from vgen_eval.errors import BrokenPlugin, UsageError, VgenEvalError
from vgen_eval.results.lines import open_lines
from vgen_eval.results.reading import Run
from vgen_eval.store.run import RunStore
from vgen_eval.types import Item
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vgen_eval.plugins import Catalog

__all__ = ["Confusion", "count_confusion"]

BESIDE = 2
"""Columns that are no class of the truth: an unknown one, and none."""


class Confusion:
    """Pixels by their class in the truth and in the answers, over all scored attempts."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._counts = np.zeros((0, BESIDE), np.int64)

    def add(self, names: tuple[str, ...], counts: NDArray[np.int64]) -> None:
        """Takes in one picture's counts (classes, classes + 2)."""
        before = len(self._places)
        places = [self._places.setdefault(name, len(self._places)) for name in names]
        more = len(self._places) - before
        if more:
            grown = np.zeros((before + more, before + more + BESIDE), np.int64)
            grown[:before, :before] = self._counts[:, :before]
            grown[:before, -BESIDE:] = self._counts[:, before:]
            self._counts = grown
        size = len(self._places)
        columns = [*places, size, size + 1]
        self._counts[np.ix_(places, columns)] += counts

    @property
    def names(self) -> tuple[str, ...]:
        """The classes, in the truths' order."""
        return tuple(self._places)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(classes, classes + 2): rows by truth; the last columns: unknown to it, left open."""
        return self._counts

    def class_iou(self) -> list[float | None]:
        """IoU of each class; None for one in neither truth nor answers."""
        own = self._counts.diagonal()
        union = self._counts.sum(axis=1) + self._counts[:, :-BESIDE].sum(axis=0) - own
        return [
            float(both / whole) if whole else None for both, whole in zip(own, union, strict=True)
        ]


def count_confusion(run: Run, catalog: Catalog, *, data_root: str | None = None) -> Confusion:
    """Of the attempts that the run scored; its data must be there, and its answers kept.

    UsageError where no metric of the run tells classes apart; NotRunnable where answers are lost
    or its scores are of other components.
    """
    store = RunStore(run.path)
    job, metric = _reopen(run, catalog, data_root)
    lines = list(store.predictions(job.rows()))
    _check_kept(store, lines)
    scored = {
        (line["sample"], line["attempt"]): line["substitute"]
        for line in store.scores(job.score_digest, job.rows())
        if "statistics" in line
    }
    by_sample: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        if (line["sample"], line["attempt"]) in scored:
            by_sample.setdefault(line["sample"], []).append(line)
    found = Confusion()
    keeper = Keeper(job, store, None, keep="all")
    for item in job.items:
        if item.id not in by_sample:
            continue
        try:
            _add_sample(found, job, metric, keeper, item, by_sample[item.id], scored)
        except VgenEvalError:
            raise
        # readers, decoders and metrics are anyone's code
        except (Exception, SystemExit) as exc:
            raise BrokenPlugin(
                f"{run.task}: sample '{item.id}' cannot be read again: {describe(exc)}",
                cure=f"vgen-eval score {run.path} tells more",
            ) from exc
    return found


def _reopen(run: Run, catalog: Catalog, data_root: str | None) -> tuple[Job, Any]:
    """The run's job, and its metric of classes."""
    job = open_lines(run.path, run.card, catalog, data_root=data_root, with_data=True)
    metric = _metric(job)
    if metric is None:
        raise UsageError(
            f"{run.task}: no metric of it tells classes apart",
            cure="plot confusion is for runs of tasks with label maps",
        )
    return job, metric


def _check_kept(store: RunStore, lines: Sequence[Mapping[str, Any]]) -> None:
    lost = Lost(store)
    count = sum(lost.has(line) for line in lines)
    if count:
        raise lost.fault(
            count,
            so="so which classes were confused is not known any more",
            cure="run the task again with --keep all",
        )


def _metric(job: Job) -> Any:
    metrics = (named.metric for named in job.task.metrics)
    return next((metric for metric in metrics if hasattr(metric, "class_confusion")), None)


def _add_sample(
    found: Confusion, job: Job, metric: Any, keeper: Keeper, item: Item,
    lines: list[Mapping[str, Any]], scored: Mapping[tuple[str, int], bool],
) -> None:  # fmt: skip
    prepared = prepare(job, job.task.dataset.load(item))
    for line in lines:
        if not scored[line["sample"], line["attempt"]]:
            answer = keeper.read(line)
            prediction = job.codec.decoder.decode(answer, prepared.scene)
        elif job.task.failure is not None:
            prediction = job.task.failure.decode(None, prepared.scene)
        else:
            continue
        sample = prepared.sample
        found.add(*metric.class_confusion(prediction.value, sample.target, sample.valid))
