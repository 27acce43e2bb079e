"""The leaderboard of a task: who leads, is the lead real, how many failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.results.card import ResultCard
from vgen_eval.types import STATUS_GROUP
from vgen_eval.viewer.absent import not_found
from vgen_eval.viewer.charts import dot
from vgen_eval.viewer.records import KEY_LENGTH, Query, RunRow, key_of
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.templating import count, page
from vgen_eval.viewer.standings import Choice, Group, Standing, choose, has_values, make_groups
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.viewer.index import Index

__all__ = ["ROUTES", "show_leaderboard"]

MOST_PUBLISHED = 60
MODEL_FAILURES = tuple(name for name, group in STATUS_GROUP.items() if group == "model_failure")


def show_leaderboard(request: Request) -> Response:
    """The runs of one task@protocol by a value; bounds below, published figures beside."""
    site: Site = request.app.state.site
    site.index.refresh()
    key = request.path_params["task"][:KEY_LENGTH]
    runs = [run for run in site.index.runs() if run.task and key_of(run.task) == key]
    if not runs:
        not_found("no run here is of this task", cure="All runs are on the first page.")
    pairs = [(run, card) for run in runs if (card := site.index.card(run)) is not None]
    if not any(has_values(card) for _, card in pairs):
        pairs = []
    waiting = [run for run in runs if all(run.key != other.key for other, _ in pairs)]
    context: dict[str, Any] = {
        "crumbs": ((runs[0].task, None),),
        "task": runs[0].task,
        "family": next((run.family for run in runs if run.family), ""),
        "address": links.task(runs[0]),
        "waiting": waiting,
        "choice": None,
        "many": len(pairs) > 1,
    }
    if pairs:
        choice = choose([card for _, card in pairs], request.query_params)
        groups = make_groups(site.index, pairs, choice)
        ends = _ends(groups)
        shown = [_show(site.index, group, choice, ends) for group in groups]
        context |= {
            "choice": choice,
            "groups": shown,
            "bounds": _bare_bounds(pairs, choice),
            "published": _published(pairs[0][1], choice),
            "leader": next((r.run for g in groups for r in g.rows if r.rank == 1), None),
            "ends": ends,
        }
    return page(request, "leaderboard.html", page_class="page-leaderboard", **context)


def _ends(groups: Sequence[Group]) -> tuple[float, float]:
    """Of the axis that all rows share."""
    found = [
        number
        for group in groups
        for row in (*group.rows, *group.bounds)
        for number in (row.value, *(row.interval or ()))
        if number is not None
    ]
    return (min(found), max(found)) if found else (0.0, 1.0)


def _show(index: Index, group: Group, choice: Choice, ends: tuple[float, float]) -> dict[str, Any]:
    def cells(row: Standing) -> dict[str, Any]:
        counts = row.card.counts
        return {
            "row": row,
            "run": row.run,
            "dot": dot(row.value, row.interval, low=ends[0], high=ends[1]),
            "n": _made_of(index, row, choice),
            "comparable": row.comparable and not group.apart,
            "failed": counts.failed,
            "reason": row.score.reason if row.score is not None else "not measured",
            "why": row.score.ci95.reason if row.score is not None else None,
        }

    return {
        "rows": [cells(row) for row in group.rows],
        "bounds": [cells(row) for row in group.bounds],
        "apart": group.apart,
        "tested": group.tested,
    }


def _made_of(index: Index, row: Standing, choice: Choice) -> str:
    """How many samples the number is of; attempts, where samples are tried more than once and
    some attempts are left out."""
    if row.score is None:
        return "0"
    counts = row.card.counts
    # where the protocol skips failures, they are in no number
    if choice.fail == "worst" or counts.failure_value == "skip" or not counts.model_failure:
        return count(row.score.n)
    if row.run.attempts > 1:
        all_of_them = choice.subset == "all"
        return f"{plural(counts.answered, 'attempt')}" if all_of_them else "not told"
    failed = counts.model_failure
    if choice.subset != "all":
        asked = Query(status=MODEL_FAILURES, tag=(choice.subset,))
        failed = index.samples(row.run, asked)[1]
    return count(row.score.n - failed)


def _bare_bounds(
    pairs: Sequence[tuple[RunRow, ResultCard]], choice: Choice
) -> list[tuple[str, str, float | None]]:
    """Ceiling and floor as cards tell them, where their own runs are not here."""
    if choice.subset != "all" or choice.fail != "worst":
        return []
    roles = {run.role for run, _ in pairs}
    found: dict[tuple[str, str, float | None], None] = {}
    for _, card in pairs:
        for name in ("ceiling", "floor"):
            bound = getattr(card, name)
            if bound is not None and name not in roles and bound.metric == choice.metric:
                found[name, bound.model, bound.value] = None
    return list(found)


def _published(card: ResultCard, choice: Choice) -> list[dict[str, Any]]:
    """What papers print of this task under this protocol, for this value and subset."""
    from vgen_eval.results.published import load_published

    found: list[dict[str, Any]] = []
    for table in load_published():
        for row in table.rows:
            if (row.task, row.protocol) != (card.task, card.protocol):
                continue
            if row.measure != "score" or row.subset != choice.subset or row.selection != "mean":
                continue
            found += [
                {
                    "label": cell.label,
                    "model": cell.model,
                    "value": cell.values[choice.metric],
                    "data": row.data,
                    "n": row.n_paper,
                    "table": table.name,
                    "source": table.source,
                    "comparability": (cell.comparability or row.comparability).replace("_", " "),
                    "reason": cell.reason or row.reason,
                }
                for cell in row.cells
                if choice.metric in cell.values
            ]
    found.sort(key=lambda entry: -entry["value"] if choice.higher_is_better else entry["value"])
    return found[:MOST_PUBLISHED]


ROUTES = [Route("/t/{task}", show_leaderboard)]
