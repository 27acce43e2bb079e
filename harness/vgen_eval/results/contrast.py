"""Two or more runs of one task set beside one another, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import msgspec

from vgen_eval.errors import BrokenPlugin, NotRunnable, UsageError, VgenEvalError, nearest
from vgen_eval.results.across_cells import LeftOut
from vgen_eval.results.contrast_facts import Apart, Differing, label_runs, show_fact, tell_apart
from vgen_eval.results.contrast_pairs import Pair, PerRun, SideBySide
from vgen_eval.results.identity import GROUPS, differing_groups
from vgen_eval.results.reading import Run
from vgen_eval.results.summarise import Summary
from vgen_eval.statistics import adjust
from vgen_eval.types import Value
from vgen_eval.wording import describe, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Contrast", "Measure", "Part", "contrast"]

SCHEMA_VERSION = "1.0"
LEAST_RUNS = 2
MOST_PARTS = 100
MOST_TASKS = 4
EVERY = "all"


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the runs."""

    run: str
    label: str
    task: str
    model: str
    answer: str
    prompt: str | None
    samples: int
    attempts: int
    complete: bool


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What runs come to over the samples that all of them have scored."""

    subset: str
    """all, or tag=value."""
    n: int
    clusters: int
    values: tuple[PerRun, ...]
    """In the order of the runs."""
    pairs: tuple[Pair, ...]


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """One value that the runs report."""

    metric: str
    aggregation: Literal["mean", "pooled"]
    unit: str
    higher_is_better: bool
    primary: bool
    parts: tuple[Part, ...]


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """Several runs beside one another."""

    schema_version: str = SCHEMA_VERSION
    task: str
    runs: tuple[Side, ...]
    pairing: Literal["first", "all"]
    """Each run against the first, or against every other."""
    correction: str = "holm"
    tests: int
    """p-values that were corrected together."""
    identity: tuple[Differing, ...]
    """What differs and makes the numbers no measure of the models alone."""
    model: tuple[Differing, ...]
    versions: tuple[Differing, ...]
    measures: tuple[Measure, ...]
    left_out: tuple[LeftOut, ...]


def contrast(
    runs: Sequence[Run],
    catalog: Catalog,
    *,
    metrics: Sequence[str] = (),
    pairing: Literal["first", "all"] = "first",
    by: str | None = None,
    anyway: bool = False,
    left_out: Sequence[LeftOut] = (),
) -> Contrast:
    """Each run's values and their paired differences, over the samples that all have scored.

    `metrics`: names of values, or `all`; none: the primary of the first. `by`: a tag, of which
    each value is a part of its own. `left_out`: what was left out before. UsageError when fewer
    than two runs are there, when they differ in more than the model and not `anyway`, for an
    unknown value or tag, and when no sample is common.
    """
    runs, twice = _each_once(runs)
    left_out = [*left_out, *twice]
    if len(runs) < LEAST_RUNS:
        raise UsageError(
            f"{plural(len(runs), 'run')} to compare, 2 at least are wanted{_told(left_out)}",
            cure="vgen-eval compare RUN RUN...",
        )
    apart = tell_apart([run.facts for run in runs])
    groups = differing_groups([run.groups for run in runs])
    if groups is not None:
        told = (*apart.identity, Differing(GROUPS, groups))
        apart = msgspec.structs.replace(apart, identity=told)
    labels = label_runs(runs)
    if apart.identity and not anyway:
        raise _refusal(apart, labels)
    summaries = [run.summary(catalog) for run in runs]
    beside = SideBySide(summaries)
    if not beside.items:
        several = _of_several_tasks(apart)
        if several is not None:
            raise several
        raise UsageError(
            "the runs have no sample in common",
            cure="vgen-eval compare wants runs of one task, over the same samples",
        )
    parts = _parts(beside, by)
    pairs = list(combinations(range(len(runs)), 2))
    if pairing == "first":
        pairs = [pair for pair in pairs if pair[0] == 0]
    measures = tuple(
        _measure(beside, values, parts, pairs, primary=values[0].name == runs[0].card.primary)
        for values in _values(runs, summaries, metrics)
    )
    measures, tests = _correct(measures)
    return Contrast(
        task=runs[0].task,
        runs=tuple(map(_side, runs, labels, summaries)),
        pairing=pairing,
        tests=tests,
        identity=apart.identity,
        model=apart.model,
        versions=apart.versions,
        measures=measures,
        left_out=tuple(left_out),
    )


def _each_once(runs: Sequence[Run]) -> tuple[list[Run], list[LeftOut]]:
    """The runs without copies of one another: same run, same answers."""
    kept: dict[tuple[str, str], Run] = {}
    left_out = []
    for run in runs:
        first = kept.setdefault((run.card.run, run.card.content_digest), run)
        if first is not run:
            left_out.append(LeftOut(str(run.path), f"the same run as {first.path}"))
    return list(kept.values()), left_out


def _told(left_out: Sequence[LeftOut]) -> str:
    return f" ({'; '.join(f'{one.what}: {one.reason}' for one in left_out)})" if left_out else ""


def _refusal(apart: Apart, labels: Sequence[str]) -> UsageError:
    several = _of_several_tasks(apart)
    if several is not None:
        return several
    told = "; ".join(f"{one.field}: {_values_of(one)}" for one in apart.identity)
    return UsageError(
        f"{', '.join(labels)} differ in more than the model: {told}",
        cure="--anyway compares them over the samples that they share",
    )


def _of_several_tasks(apart: Apart) -> UsageError | None:
    """What is said of runs of several tasks; None for those of one."""
    for one in apart.identity:
        if one.field == "task":
            first = next(str(value) for value in one.values if value is not None)
            tasks = list(dict.fromkeys(map(show_fact, one.values)))
            more = f" and {len(tasks) - MOST_TASKS} more" if len(tasks) > MOST_TASKS else ""
            return UsageError(
                f"these are runs of several tasks: {' / '.join(tasks[:MOST_TASKS])}{more}",
                cure=f"name runs of one task, or --task {first}; "
                "--across tasks ranks models over them",
            )
    return None


def _values_of(one: Differing) -> str:
    return " / ".join(dict.fromkeys(show_fact(value) for value in one.values))


def _side(run: Run, label: str, summary: Summary) -> Side:
    return Side(
        run=str(run.path),
        label=label,
        task=run.task,
        model=summary.job.model.qualified,
        answer=run.card.answer,
        prompt=run.card.prompt,
        samples=len(summary.job.items),
        attempts=summary.job.attempts,
        complete=run.card.complete,
    )


def _values(
    runs: Sequence[Run], summaries: Sequence[Summary], metrics: Sequence[str]
) -> Iterator[tuple[Value, ...]]:
    """Of each value asked for, what it is in each run; UsageError unless it is one and the same."""
    known = [
        {value.name: value for metric in summary.job.task.metrics for value in metric.values}
        for summary in summaries
    ]
    shared = [name for name in known[0] if all(name in other for other in known)]
    primary = runs[0].card.primary
    wanted = list(metrics) or [primary]
    if EVERY in wanted:
        wanted = sorted(shared, key=lambda name: name != primary)
    if not metrics and primary not in known[0]:
        raise NotRunnable(
            f"{runs[0].path}: its card has no value of its primary '{primary}'",
            cure=f"--metric NAME: {', '.join(shared)}",
        )
    for name in dict.fromkeys(wanted):
        if name not in shared:
            has = "no run has" if not any(name in each for each in known) else "not every run has"
            raise UsageError(
                f"value '{name}': {has} it.{nearest(name, shared)}",
                cure=f"--metric NAME: {', '.join(shared) or 'there is none that all have'}",
            )
        values = tuple(each[name] for each in known)
        kinds = {(v.unit, v.higher_is_better, v.aggregation) for v in values}
        if len(kinds) > 1:
            raise UsageError(
                f"{name} is not the same measure in every run: "
                + " / ".join(f"{v.aggregation}, {v.unit or 'no unit'}" for v in values),
                cure="--metric NAME compares another value",
            )
        yield values


def _parts(beside: SideBySide, by: str | None) -> dict[str, list[str]]:
    """Subset -> ids: all of the common samples, then each value of the tag."""
    parts = {EVERY: [item.id for item in beside.items]}
    if by is None:
        return parts
    tags = dict.fromkeys(tag for item in beside.items for tag in item.tags)
    if by not in tags:
        raise UsageError(
            f"--by {by}: no sample has that tag.{nearest(by, tags)}",
            cure=f"--by TAG: {', '.join(sorted(tags))}" if tags else "these samples have no tags",
        )
    found: dict[str, list[str]] = {}
    for item in beside.items:
        if by in item.tags:
            found.setdefault(f"{by}={item.tags[by]}", []).append(item.id)
    if len(found) > MOST_PARTS:
        raise UsageError(f"--by {by}: {len(found)} values, more than {MOST_PARTS}: it is an id")
    return parts | dict(sorted(found.items()))


def _measure(
    beside: SideBySide, values: Sequence[Value], parts: dict[str, list[str]],
    pairs: Sequence[tuple[int, int]], *, primary: bool,
) -> Measure:  # fmt: skip
    try:
        found = [beside.part(values, ids, pairs) for ids in parts.values()]
    except VgenEvalError:
        raise
    # `merge` and `compute` are anyone's code
    except (Exception, SystemExit) as exc:
        raise BrokenPlugin(f"{values[0].name}: cannot be summarised: {describe(exc)}") from exc
    return Measure(
        metric=values[0].name,
        aggregation=values[0].aggregation,
        unit=values[0].unit,
        higher_is_better=values[0].higher_is_better,
        primary=primary,
        parts=tuple(
            Part(subset=subset, n=n, clusters=clusters, values=per_run, pairs=paired)
            for subset, (n, clusters, per_run, paired) in zip(parts, found, strict=True)
        ),
    )


def _correct(measures: Sequence[Measure]) -> tuple[tuple[Measure, ...], int]:
    """The measures with every p-value corrected for all that are shown, and how many these are."""
    raw = [pair.test.p_value for m in measures for part in m.parts for pair in part.pairs]
    corrected, tests = iter(adjust(raw, "holm")), sum(p is not None for p in raw)
    replace = msgspec.structs.replace
    done = tuple(
        replace(
            measure,
            parts=tuple(
                replace(
                    part, pairs=tuple(pair.corrected(next(corrected), tests) for pair in part.pairs)
                )
                for part in measure.parts
            ),
        )
        for measure in measures
    )
    return done, tests
