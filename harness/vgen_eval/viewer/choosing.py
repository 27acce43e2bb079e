"""Runs as selection rules see them: their samples with every number, read from the score lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vgen_eval.distributions import bare_name
from vgen_eval.results.contrast_facts import label_runs
from vgen_eval.store.run import RunStore
from vgen_eval.types import STATUS_GROUP
from vgen_eval.viewer.ranking import Candidates
from vgen_eval.viewer.records import SampleRow, key_of

if TYPE_CHECKING:
    from vgen_eval.engine.plan import Job
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.reading import Run

__all__ = ["candidates_of"]


def candidates_of(runs: Sequence[Run], catalog: Catalog) -> list[Candidates]:
    """The runs with their samples; NotRunnable where lines are not those of the card."""
    labels = label_runs(runs)
    return [_read(run, label, catalog) for run, label in zip(runs, labels, strict=True)]


def _read(run: Run, label: str, catalog: Catalog) -> Candidates:
    job = run.open(catalog)
    values = [value for metric in job.task.metrics for value in metric.values]
    primary = next((value for value in values if value.name == run.card.primary), None)
    directions = {value.of: value.higher_is_better for value in reversed(values)}
    directions |= {value.name: value.higher_is_better for value in values}
    return Candidates(
        label=label,
        names=tuple(dict.fromkeys(_names(run))),
        primary=run.card.primary,
        directions=directions,
        aliases={value.name: value.of for value in values if value.name != value.of},
        rows=tuple(_rows(run, job, "" if primary is None else primary.of)),
    )


def _names(run: Run) -> Iterator[str]:
    yield bare_name(run.card.model)
    yield run.card.model
    yield from (run.name, run.path.name, run.card.run, key_of(run.card.run.removeprefix("runs/")))


def _rows(run: Run, job: Job, primary: str) -> Iterator[SampleRow]:
    """One a sample in the run's order; a mean is over attempts that are scored and have one."""
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for line in RunStore(run.path).scores(job.score_digest, job.rows()):
        lines.setdefault(line["sample"], []).append(line)
    # `skip`: a failure is in no number
    counted = ("answered",) if job.task.failure is None else ("answered", "model_failure")
    key = key_of(run.card.run.removeprefix("runs/"))
    for at, item in enumerate(job.items):
        own = lines.get(item.id, [])
        values = _means(line for line in own if STATUS_GROUP[line["status"]] in counted)
        statuses = [line["status"] for line in own]
        failed = next((status for status in statuses if status != "ok"), "ok")
        yield SampleRow(
            run=key,
            key=key_of(item.id),
            id=item.id,
            group=item.group,
            at=at,
            status=failed if statuses else "not_run",
            score=values.get(primary),
            values=values,
            flags=tuple(dict.fromkeys(flag for line in own for flag in line.get("flags", ()))),
            tags=dict(item.tags),
            attempts=job.attempts,
            reason=next((line["reason"] for line in own if line.get("reason")), ""),
        )


def _means(lines: Iterable[Mapping[str, Any]]) -> dict[str, float | None]:
    """Value -> its mean over the attempts that have one; None where none has."""
    found: dict[str, list[float]] = {}
    for line in lines:
        for name, value in line.get("values", {}).items():
            numbers = found.setdefault(name, [])
            if value is not None and math.isfinite(value):
                numbers.append(value)
    return {name: sum(ns) / len(ns) if ns else None for name, ns in found.items()}
