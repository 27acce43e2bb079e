"""Models over several tasks: do the tasks put them in one order, or each in its own?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval.errors import UsageError
from vgen_eval.results.across_cells import (
    BOUND,
    BOUNDS,
    LEAST_MODELS,
    Cells,
    LeftOut,
    collect,
    drop_incomplete,
)
from vgen_eval.results.reading import Run
from vgen_eval.statistics import kendall_w, ranks
from vgen_eval.wording import plural

__all__ = ["Across", "Agreement", "RankedModel", "RankedTask", "rank_across"]

SCHEMA_VERSION = "1.0"
LEAST_TASKS = 3
"""Fewer tasks say nothing of whether their orders agree."""
LEVEL = 0.05
MOST_EXACT = 20_000
DRAWN = 9_999
SEED = 0
MOST_REASONS = 4


class RankedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model's places, in the order of the tasks; 1 is the best, ties share the mean place."""

    model: str
    mean_rank: float
    places: tuple[float, ...]


class RankedTask(msgspec.Struct, frozen=True, kw_only=True):
    """What a task says of each model, in the order of the models."""

    task: str
    protocol: str
    metric: str
    unit: str
    higher_is_better: bool
    values: tuple[float, ...]
    runs: tuple[str, ...]


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Kendall's W over the tasks, corrected for ties, or why there is none."""

    w: float | None = None
    """0: the tasks' orders have nothing in common; 1: they are one order."""
    p_value: float | None = None
    """How often orders drawn at random, task by task, agree as well."""
    exact: bool = False
    """All orders were tried; otherwise 9,999 random ones."""
    chi_square: float | None = None
    df: int | None = None
    p_chi_square: float | None = None
    """Rough for few models and tasks."""
    finding: Literal["shared", "not_shown", "none"] = "none"
    reason: str | None = None


class Across(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of models over tasks."""

    schema_version: str = SCHEMA_VERSION
    across: str = "tasks"
    models: tuple[RankedModel, ...]
    """The best mean rank first."""
    tasks: tuple[RankedTask, ...]
    agreement: Agreement
    wins: tuple[tuple[int, ...], ...]
    """Tasks on which the model of the row is better than that of the column."""
    left_out: tuple[LeftOut, ...]


def rank_across(
    runs: Sequence[Run], *, with_bounds: bool = False, left_out: Sequence[LeftOut] = ()
) -> Across:
    """Ranks the models of the runs on each task by its primary value.

    Only runs of one identity are ranked against one another, and only models that have a run of
    every task. `left_out`: what was left out before. UsageError when fewer than two models remain.
    """
    everything = collect(runs, with_bounds=with_bounds)
    cells = drop_incomplete(everything)
    cells = msgspec.structs.replace(cells, left_out=(*left_out, *cells.left_out))
    if len(cells.models) < LEAST_MODELS or not cells.tasks:
        raise _too_little(cells, with_bounds=with_bounds)
    tasks = [_describe(cells, task) for task in cells.tasks]
    by_task = [ranks(task.values, higher_is_better=task.higher_is_better) for task in tasks]
    places = list(zip(*by_task, strict=True))
    order = sorted(range(len(places)), key=lambda at: (sum(places[at]), cells.models[at]))
    return Across(
        models=tuple(
            RankedModel(
                model=cells.models[at],
                mean_rank=sum(places[at]) / len(tasks),
                places=tuple(places[at]),
            )
            for at in order
        ),
        tasks=tuple(
            msgspec.structs.replace(
                task,
                values=tuple(task.values[at] for at in order),
                runs=tuple(task.runs[at] for at in order),
            )
            for task in tasks
        ),
        agreement=_agree(by_task),
        wins=tuple(
            tuple(sum(a < b for a, b in zip(places[i], places[j], strict=True)) for j in order)
            for i in order
        ),
        left_out=cells.left_out,
    )


def _describe(cells: Cells, task: str) -> RankedTask:
    runs = [cells.runs[task, model] for model in cells.models]
    scores = [run.card.score() for run in runs]
    return RankedTask(
        task=task,
        protocol=runs[0].card.protocol,
        metric=scores[0].metric,
        unit=scores[0].unit,
        higher_is_better=scores[0].higher_is_better,
        values=tuple(score.value for score in scores if score.value is not None),
        runs=tuple(str(run.path) for run in runs),
    )


def _agree(by_task: Sequence[Sequence[float]]) -> Agreement:
    if len(by_task) < LEAST_TASKS:
        return Agreement(reason=f"{plural(len(by_task), 'task')}, fewer than {LEAST_TASKS}")
    found = kendall_w(by_task)
    if found is None:
        return Agreement(reason="no task puts the models in any order: all are tied")
    p_value, exact = _chance(np.array(by_task))
    return Agreement(
        w=found.w,
        p_value=p_value,
        exact=exact,
        chi_square=found.chi_square,
        df=found.df,
        p_chi_square=found.p_value,
        finding="shared" if p_value < LEVEL else "not_shown",
    )


def _chance(places: NDArray[np.float64]) -> tuple[float, bool]:
    """How likely places (tasks, models) agree as well by chance, and whether that is exact.

    Each task's places are shuffled among the models; W grows with the spread of their totals.
    """
    tasks, models = places.shape
    exact = math.factorial(models) ** (tasks - 1) <= MOST_EXACT
    if exact:  # one task's order may stay: only how the others lie to it counts
        totals = places[:1]
        for row in places[1:]:
            shuffled = np.array(list(permutations(row)))
            totals = (totals[:, None] + shuffled[None]).reshape(-1, models)
    else:
        rng = np.random.default_rng(SEED)
        totals = np.zeros((DRAWN, models))
        for row in places:
            totals += rng.permuted(np.tile(row, (DRAWN, 1)), axis=1)
    mean = tasks * (models + 1) / 2
    spread = ((totals - mean) ** 2).sum(axis=1)
    observed = ((places.sum(axis=0) - mean) ** 2).sum()
    as_much = int((spread >= observed * (1 - 1e-9)).sum())
    return (as_much / len(totals) if exact else (as_much + 1) / (DRAWN + 1)), exact


def _too_little(cells: Cells, *, with_bounds: bool) -> UsageError:
    have = plural(len(cells.models), "model") if cells.tasks else "no task"
    why = "; ".join(f"{entry.what}: {entry.reason}" for entry in cells.left_out[:MOST_REASONS])
    more = len(cells.left_out) - MOST_REASONS
    told = f" (left out: {why}{f'; and {more} more' if more > 0 else ''})" if why else ""
    reasons = {BOUND.format(role) for role in BOUNDS}
    bounds = any(entry.reason in reasons for entry in cells.left_out)
    return UsageError(
        f"nothing to rank: {have} left, 2 models with runs of the same tasks are wanted{told}",
        cure="--with-bounds ranks ceiling and floor as well" if bounds and not with_bounds
        else "vgen-eval runs list shows which models have run which tasks",
    )  # fmt: skip
