"""Runs by the way in which their answers were judged: who judged, how, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from vgen_eval import jsonio
from vgen_eval.distributions import HOME
from vgen_eval.engine.plan import Job
from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.judging.record import SettingFacts
from vgen_eval.results.reading import Run
from vgen_eval.store.run import RunStore
from vgen_eval.types import Value
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["PRESET", "Attempt", "Judged", "Numbers", "Setting", "arrange", "presets_of"]

Attempt = tuple[str, int]
"""Sample and attempt."""

Numbers = Mapping[Attempt, float]
"""What each attempt came to; those without a number are not there."""

PRESET = "preset"
"""The option of a judge that names a way of judging."""

SHORTEST = 4
"""Letters of a run's id at least, as everywhere."""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A run, its answers judged."""

    run: Run
    job: Job
    numbers: Numbers

    def is_called(self, name: str) -> bool:
        """Is the name that of the model or of the run?"""
        card = self.run.card
        model = f"{card.model_info.get('distribution', '')}:{card.model}"
        return name in (card.model, model, self.run.name, self.run.path.name, card.run)

    def begins_with(self, name: str) -> bool:
        """Is the name the start of the run's id?"""
        return len(name) >= SHORTEST and self.run.path.name.startswith(name)


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that were judged alike."""

    facts: SettingFacts
    runs: tuple[Judged, ...]

    @property
    def asked(self) -> str | None:
        """Digest of who was asked, settings included; None where nobody was."""
        judge = self.runs[0].job.judge
        return None if judge is None else judge.identity_digest()

    def run_of(self, name: str) -> Judged | None:
        """The run that a name in the people's file means, "": the one that there is.

        None where none of these does; UsageError where several do.
        """
        found = [one for one in self.runs if not name or one.is_called(name)]
        found = found or [one for one in self.runs if one.begins_with(name)]
        if len(found) > 1:
            ids = ", ".join(one.run.name for one in found)
            said = f"'{name}' is" if name else "no model is named, and there are"
            raise UsageError(
                f"{said} {'several runs' if name else 'answers of several runs'}: {ids}",
                cure="leave runs out, or name them in the file: column 'run', or 'model'",
            )
        return found[0] if found else None


def _value_named(name: str | None, job: Job) -> Value:
    """The value that the judge is measured by: the task's primary where none is named."""
    if name is None:
        return job.task.primary
    known = {value.name: value for metric in job.task.metrics for value in metric.values}
    if name not in known:
        raise UsageError(
            f"--value: {job.task.ref.name} reports no '{name}'.{nearest(name, known)}",
            cure=f"one of {', '.join(known)}",
        )
    return known[name]


def arrange(
    runs: Sequence[Run], catalog: Catalog, *, value: str | None
) -> tuple[tuple[Setting, ...], Value]:
    """The runs by the way in which they were judged, in the order given.

    UsageError where they are of several tasks, or their samples have no numbers of that value.
    """
    tasks = list(dict.fromkeys(run.card.task for run in runs))
    if len(tasks) > 1:
        raise UsageError(
            f"these runs are of {plural(len(tasks), 'task')}: {', '.join(tasks)}",
            cure="name the runs of one: what people said is of one",
        )
    groups: dict[bytes, list[Judged]] = {}
    chosen: Value | None = None
    for run in runs:
        job = run.open(catalog)
        # protocols may differ in their primary; one value is measured
        found = _value_named(value if chosen is None else chosen.name, job)
        chosen = chosen or found
        judged = Judged(run=run, job=job, numbers=_numbers(run, job, found))
        groups.setdefault(jsonio.canonical(_identity(job)), []).append(judged)
    assert chosen is not None
    if not any(judged.numbers for group in groups.values() for judged in group):
        _refuse_pooled(chosen, [judged for group in groups.values() for judged in group])
    facts = [_facts(group) for group in groups.values()]
    settings = [
        Setting(facts=msgspec.structs.replace(one, label=label), runs=tuple(group))
        for one, label, group in zip(facts, _labels(facts), groups.values(), strict=True)
    ]
    return tuple(settings), chosen


def _numbers(run: Run, job: Job, value: Value) -> Numbers:
    lines = RunStore(run.path).scores(job.score_digest, job.rows())
    found = {(line["sample"], line["attempt"]): line.get("values", {}) for line in lines}
    return {
        attempt: float(values[value.of])
        for attempt, values in found.items()
        if values.get(value.of) is not None and math.isfinite(values[value.of])
    }


def _refuse_pooled(value: Value, runs: Sequence[Judged]) -> None:
    """UsageError: no sample has a number of it by itself."""
    keys: set[str] = set()
    for judged in runs:
        store = RunStore(judged.run.path)
        for line in store.scores(judged.job.score_digest, judged.job.rows()):
            keys |= {key for key, number in line.get("values", {}).items() if number is not None}
    metrics = runs[0].job.task.metrics
    others = [v.name for metric in metrics for v in metric.values if v.of in keys]
    raise UsageError(
        f"'{value.name}' has no numbers of single answers, and people spoke of these",
        cure=f"--value {' or '.join(others)}" if others else "vgen-eval show RUN says what failed",
    )


def _identity(job: Job) -> dict[str, Any]:
    """What makes two runs judged alike; the model that answered is no part of it."""
    return {
        "protocol": job.task.ref.protocol,
        "judge": job.codec.info.get("judge"),
        "model": None if job.judge is None else job.judge.identity_digest(),
        "decoder": job.codec.info["decoder"],
    }


def _facts(group: Sequence[Judged]) -> SettingFacts:
    job = group[0].job
    info = job.codec.info.get("judge") or {}
    options = dict(info.get("options", {}))
    return SettingFacts(
        label="",
        protocol=job.task.ref.protocol,
        judge=info.get("name"),
        version=info.get("version"),
        model=None if job.judge is None else job.judge.qualified,
        options=options,
        preset=options.get(PRESET),
        runs={one.run.name: one.run.card.model for one in group},
    )


def presets_of(job: Job, catalog: Catalog) -> tuple[str, ...]:
    """The names that the judge's option `preset` takes; () where it has none, or nobody judged."""
    info = job.codec.info.get("judge")
    if info is None:
        return ()
    options = catalog.component("judge", info["name"], home=HOME).obj.Options
    if PRESET not in options.__struct_fields__:
        return ()
    kind = get_type_hints(options)[PRESET]
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()


def _labels(facts: Sequence[SettingFacts]) -> list[str]:
    """What tells the settings apart, in as few words as do."""
    named = [one.preset for one in facts]
    if all(named) and len(set(named)) == len(named):
        return [str(name) for name in named]
    told = [
        {
            "judge": one.judge or "none",
            "model": one.model or "none",
            "protocol": one.protocol,
            **{key: jsonio.dumps(value).decode() for key, value in one.options.items()},
        }
        for one in facts
    ]
    keys = [key for key in dict.fromkeys(k for one in told for k in one) if _varies(key, told)]
    if not keys:
        # what is left to differ is no one's option: versions, prompts, the decoder
        return [f"setting {at}" for at in range(1, len(facts) + 1)] if len(facts) > 1 else ["judge"]
    return [
        ", ".join(
            one[key] if key in ("judge", "model", "protocol") else f"{key}={one[key]}"
            for key in keys
            if key in one
        )
        for one in told
    ]


def _varies(key: str, told: Sequence[Mapping[str, str]]) -> bool:
    return len({one.get(key) for one in told}) > 1
