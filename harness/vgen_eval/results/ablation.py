"""What an ablation came to, as a record: values, paired differences, and what becomes of ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from vgen_eval.distributions import HOME, LOCAL
from vgen_eval.engine.ablation import Reading
from vgen_eval.errors import BrokenPlugin
from vgen_eval.results.comparing import compare, rank_moves
from vgen_eval.results.table import ANSWERED, EXCLUDED, FAILED, NOT_RUN, UNSCORED
from vgen_eval.statistics import Interval, ranks
from vgen_eval.types import Value
from vgen_eval.wording import describe

__all__ = ["SCHEMA_VERSION", "describe_ablation", "is_incomplete"]

SCHEMA_VERSION = "1.0"
MOST_FAULTS = 5
LEAST_RUNS = 2

_STATES = (
    ("answered", ANSWERED), ("model_failure", FAILED), ("infrastructure", UNSCORED),
    ("data_fault", EXCLUDED), ("not_run", NOT_RUN),
)  # fmt: skip


def describe_ablation(
    readings: Sequence[Sequence[Reading]], key: str, values: Sequence[Any], metric: str | None
) -> dict[str, Any]:
    """Runs by values as plain JSON, each against the first value, and the ranking of each group.

    `readings`: of each run, one for each value. `metric`: the value compared; None: each reading's
    primary. Runs of one task over the same samples are a group.
    """
    runs = [_describe_run(row, metric) for row in readings]
    for run, label in zip(runs, _labels(runs), strict=True):
        run["label"] = label
    groups: dict[tuple[str, tuple[str, ...]], list[dict[str, Any]]] = {}
    for run, row in zip(runs, readings, strict=True):
        job = row[0].job
        which = job.task.ref.name if key == "protocol" else job.task.ref.label
        samples = tuple(item.id for item in job.items)
        groups.setdefault((which, samples), []).append(run)
    return {
        "schema_version": SCHEMA_VERSION,
        "key": key,
        "values": list(values),
        "baseline": 0,
        "metric": metric,
        "models_asked": 0,
        "runs": runs,
        "ranking": [
            _rank(task, members) for (task, _), members in groups.items() if len(members) > 1
        ],
    }


def is_incomplete(record: dict[str, Any]) -> bool:
    """Have attempts of any reading no score, by a fault of ours or because none was made?"""
    return any(not cell["complete"] for run in record["runs"] for cell in run["values"])


def _describe_run(row: Sequence[Reading], metric: str | None) -> dict[str, Any]:
    job = row[0].job
    own = [at for at, reading in enumerate(row) if reading.is_own]
    return {
        "run": str(row[0].path),
        "model": job.model.qualified,
        "answer": job.codec.answer.form,
        "prompt": job.variant,
        "samples": len(job.items),
        "groups": len({item.group for item in job.items}),
        "attempts": job.attempts,
        "own": own[0] if own else None,
        "values": [_describe_reading(row[0], reading, metric) for reading in row],
    }


def _value(reading: Reading, metric: str | None) -> Value:
    if metric is None:
        return reading.job.task.primary
    values = (value for named in reading.job.task.metrics for value in named.values)
    return next(value for value in values if value.name == metric)


def _describe_reading(base: Reading, reading: Reading, metric: str | None) -> dict[str, Any]:
    base_value, value = _value(base, metric), _value(reading, metric)
    label = reading.job.task.ref.label
    try:
        found = compare(base.summary, base_value, reading.summary, value)
    # `merge` and `compute` are anyone's code
    except (Exception, SystemExit) as exc:
        raise BrokenPlugin(f"{label}: its metrics cannot be summarised: {describe(exc)}") from exc
    if (value.name, value.unit) != (base_value.name, base_value.unit):
        why = f"{value.name} is another measure than {base_value.name}"
        none = Interval(clusters=0, reason=why)
        found = msgspec.structs.replace(found, difference=None, interval=none, test=None)
    state = reading.summary.table.state
    counts = {name: int((state == number).sum()) for name, number in _STATES}
    reason = None
    if found.value is None:
        reason = "undefined for these samples" if found.samples else "no sample was scored"
    faults = sorted(reading.faults.items(), key=lambda entry: -entry[1])[:MOST_FAULTS]
    return {
        "task": label,
        "metric": value.name,
        "aggregation": value.aggregation,
        "unit": value.unit,
        "higher_is_better": value.higher_is_better,
        "reason": reason,
        "complete": counts["infrastructure"] == 0 and counts["not_run"] == 0,
        "counts": {"expected": int(np.size(state)), **counts},
        "faults": [{"reason": why, "attempts": count} for why, count in faults],
        "dropped_options": list(reading.dropped),
        "score_digest": reading.job.score_digest,
        **msgspec.to_builtins(found),
    }


def _labels(runs: Sequence[dict[str, Any]]) -> list[str]:
    """What tells each run from the others: its model, and more where models stand twice."""
    more: list[Callable[[dict[str, Any]], Any]] = [
        lambda run: run["model"].removeprefix(f"{HOME}:").removeprefix(f"{LOCAL}:"),
        lambda run: run["answer"],
        lambda run: run["prompt"],
        lambda run: run["run"].rpartition("/")[2],
    ]
    labels = [more[0](run) for run in runs]
    for tell in more[1:]:
        if len(set(labels)) == len(labels):
            break
        twice = {label for label in labels if labels.count(label) > 1}
        if len({tell(run) for run, label in zip(runs, labels, strict=True) if label in twice}) > 1:
            labels = [
                f"{label} {tell(run) or '-'}" if label in twice else label
                for run, label in zip(runs, labels, strict=True)
            ]
    return labels


def _rank(task: str, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Places of a group's runs under each value, and how far they moved from the first order.

    A value under which no run has a whole number has no order; elsewhere the runs that have one
    under every other value take part.
    """
    usable = [
        at
        for at in range(len(runs[0]["values"]))
        if any(_fault(run["values"][at]) is None for run in runs)
    ]
    members, left_out = [], []
    for run in runs:
        faults = [fault for at in usable if (fault := _fault(run["values"][at])) is not None]
        if faults:
            left_out.append({"run": run["run"], "label": run["label"], "reason": faults[0]})
        else:
            members.append(run)
    places: list[list[float] | None] = [None] * len(runs[0]["values"])
    for at in usable if len(members) >= LEAST_RUNS else ():
        column = [run["values"][at] for run in members]
        numbers = [cell["value"] for cell in column]
        places[at] = ranks(numbers, higher_is_better=column[0]["higher_is_better"])
    first = places[0]
    return {
        "task": task,
        "runs": [run["run"] for run in members],
        "labels": [run["label"] for run in members],
        "models": [run["model"] for run in members],
        "places": places,
        "moves": [
            None if first is None or after is None
            else msgspec.to_builtins(rank_moves(first, after))
            for after in places
        ],
        "left_out": left_out,
    }  # fmt: skip


def _fault(cell: dict[str, Any]) -> str | None:
    """Why a run takes no place under a value; None when it does."""
    if cell["value"] is None:
        return str(cell["reason"])
    return None if cell["complete"] else "attempts without a score"
