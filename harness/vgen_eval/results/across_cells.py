"""Which run stands for which model on which task, where models are ranked over several tasks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.results.contrast_facts import is_of_the_model, label_models, tell_apart
from vgen_eval.results.identity import MODEL
from vgen_eval.results.reading import Run

__all__ = ["BOUND", "BOUNDS", "Cells", "LeftOut", "collect", "drop_incomplete"]

BOUNDS = ("ceiling", "floor")
VERSIONS = "versions"
BOUND = "a {}: --with-bounds ranks it"
IMPORTED = "predictions"
LEAST_MODELS = 2
MOST_FIELDS = 3


class LeftOut(msgspec.Struct, frozen=True, omit_defaults=True):
    """What takes no part, and why."""

    what: str
    reason: str
    model: str | None = None
    """Of a run, whose it is."""


class Cells(msgspec.Struct, frozen=True, kw_only=True):
    """Of each task, the run of each model that has one; all of a task under one identity."""

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    runs: Mapping[tuple[str, str], Run]
    """(task, model) -> run."""
    left_out: tuple[LeftOut, ...]


def collect(runs: Sequence[Run], *, with_bounds: bool) -> Cells:
    """Sorts the runs by task and model, each left out one with its reason.

    `with_bounds`: rank ceilings and floors among the models. Where the runs of a task differ in
    more than the model, those that most models have are ranked.
    """
    left_out: list[LeftOut] = []
    taking: list[Run] = []
    for run in runs:
        why = _fault(run, with_bounds=with_bounds)
        if why is None:
            taking.append(run)
        else:
            left_out.append(_leave(run, why))
    names = _name_models(taking)
    found: dict[tuple[str, str], Run] = {}
    by_task = _grouped(taking, lambda run: run.card.task)
    for task, members in sorted(by_task.items()):
        for run in _of_one_identity(members, names, left_out):
            key = task, names[_model_key(run)]
            if key in found:
                found[key], other = _later(found[key], run)
                left_out.append(_leave(other, f"the model ran again: {found[key].path} is ranked"))
            else:
                found[key] = run
    return Cells(
        models=tuple(dict.fromkeys(model for _, model in found)),
        tasks=tuple(dict.fromkeys(task for task, _ in found)),
        runs=found,
        left_out=tuple(left_out),
    )


def _leave(run: Run, reason: str) -> LeftOut:
    return LeftOut(str(run.path), reason, label_models([run.card.model], [{}])[0])


def _fault(run: Run, *, with_bounds: bool) -> str | None:
    """Why a run takes no part; None when it does."""
    card = run.card
    role = str(card.model_info.get("role", "model"))
    if role in BOUNDS and not with_bounds:
        return BOUND.format(role)
    try:
        score = card.score()
    except KeyError:
        return f"its card has no value of its primary '{card.primary}'"
    if score.value is None:
        return score.reason or "its primary has no value"
    if not math.isfinite(score.value):
        return "its primary is no finite number"
    return None if card.complete else "attempts without a score"


def _grouped(runs: Iterable[Run], key: Callable[[Run], str]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return found


def _of_one_identity(
    members: Sequence[Run], names: Mapping[str, str], left_out: list[LeftOut]
) -> list[Run]:
    """The runs of a task that most models have under one identity; the others are left out."""
    groups = list(_grouped(members, _identity_key).values())
    groups.sort(key=lambda group: -len({names[_model_key(run)] for run in group}))
    for other in groups[1:]:
        apart = tell_apart([groups[0][0].facts, other[0].facts]).identity
        fields = ", ".join(one.field for one in apart[:MOST_FIELDS])
        more = f" and {len(apart) - MOST_FIELDS} more" if len(apart) > MOST_FIELDS else ""
        told = f"another {fields}{more} than those ranked"
        left_out += [_leave(run, told) for run in other]
    return groups[0]


def _identity_key(run: Run) -> str:
    facts = run.facts.items()
    kept = {f: v for f, v in facts if not is_of_the_model(f) and not f.startswith(VERSIONS)}
    return jsonio.digest(kept)


def _model_facts(run: Run) -> dict[str, Any]:
    """What makes a model one and the same over tasks."""
    found = {f: v for f, v in run.facts.items() if f.startswith(f"{MODEL}.")}
    if run.card.model_info.get("adapter") == IMPORTED:  # each task has files of its own
        found = {f: v for f, v in found.items() if not f.startswith(f"{MODEL}.options.")}
    return found


def _model_key(run: Run) -> str:
    return jsonio.digest(_model_facts(run))


def _name_models(runs: Sequence[Run]) -> dict[str, str]:
    """Key of each model -> what it is called, no two alike."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(_model_key(run), run)
    labels = label_models(
        [run.card.model for run in first.values()], [_model_facts(run) for run in first.values()]
    )
    return {
        key: label if labels.count(label) == 1 else f"{label} {at + 1}"
        for at, (key, label) in enumerate(zip(first, labels, strict=True))
    }


def _later(one: Run, other: Run) -> tuple[Run, Run]:
    """The one that was finished last, and the other."""

    def finished(run: Run) -> str:
        return str(run.card.volatile.get("finished", ""))

    return (other, one) if finished(other) > finished(one) else (one, other)


def drop_incomplete(cells: Cells) -> Cells:
    """Models and tasks of which every pair has a run.

    A task counts where two models have it, and half of them at least; a model that lacks one of
    these is left out.
    """
    models, tasks = list(cells.models), list(cells.tasks)
    left_out = list(cells.left_out)
    for task in cells.tasks:
        having = [model for model in models if (task, model) in cells.runs]
        if len(having) < max(LEAST_MODELS, len(models) / 2):
            tasks.remove(task)
            left_out.append(LeftOut(task, f"{', '.join(having)} alone {_has(having)} it"))
    for model in cells.models:
        lacking = [task for task in tasks if (task, model) not in cells.runs]
        if lacking:
            models.remove(model)
            left_out.append(LeftOut(model, f"has no run of {', '.join(lacking)}"))
    return msgspec.structs.replace(
        cells, models=tuple(models), tasks=tuple(tasks), left_out=tuple(left_out)
    )


def _has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"
