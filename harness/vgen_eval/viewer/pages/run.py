"""The page of a run: its result card, whole, and the way to its samples."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.results.card import ResultCard
from vgen_eval.viewer.card_words import pairs, sections, subsets
from vgen_eval.viewer.charts import histogram
from vgen_eval.viewer.pages.marks import mark_run
from vgen_eval.viewer.records import RunRow
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.templating import page

__all__ = ["ROUTES", "show_run"]

ASKED = ("answer", "attempts", "created", "harness", "hardware", "model_identity", "prompt",
         "selection", "seed", "versions")  # fmt: skip
"""Of run.json, what is told of a run without a card."""


def show_run(request: Request) -> Response:
    """The card of one run; what there is of it, where it has none."""
    site: Site = request.app.state.site
    run = site.run(request.path_params["run"])
    mark = mark_run(site, run)  # before what is shown: what comes meanwhile is told
    card = site.index.card(run)
    facets = site.index.facets(run)
    record = None if card is not None else site.index.record(run)
    return page(
        request,
        "run.html",
        page_class="page-run",
        crumbs=(
            *(((run.task, links.task(run)),) if run.task else ()),
            (run.model or run.path, None),
        ),
        run=run,
        card=card,
        facets=facets,
        chart=histogram(facets.edges, facets.counts, name=run.primary) if facets.counts else None,
        rivals=_rivals(site, run),
        asked=pairs({k: record[k] for k in ASKED if k in record}) if record else (),
        live=links.since(run),
        mark=mark,
        **_of_card(card),
    )


def _of_card(card: ResultCard | None) -> dict[str, Any]:
    if card is None:
        return {
            "score": None, "failures": (),
            "scores": (), "best_of": (), "metrics": (), "subsets": (), "sections": (),
        }  # fmt: skip
    metrics, rows = subsets(card)
    whole = [score for score in card.scores if score.subset == "all"]
    mean = [score for score in whole if score.selection == "mean"]
    return {
        "score": next((score for score in mean if score.metric == card.primary), None),
        "failures": _failures(card),
        "scores": mean,
        "best_of": [score for score in whole if score.selection != "mean"],
        "metrics": metrics,
        "subsets": rows,
        "sections": sections(card),
    }


def _failures(card: ResultCard) -> list[tuple[str, int | None]]:
    """Why attempts had no answer, and how many; what a card does not say is left open."""
    found = []
    for entry in card.volatile.get("failures") or ():
        reason, attempts = entry.get("reason"), entry.get("attempts")
        is_count = isinstance(attempts, int) and not isinstance(attempts, bool)
        told = reason if isinstance(reason, str) else "not told"
        found.append((told, attempts if is_count else None))
    return found


def _rivals(site: Site, run: RunRow) -> list[RunRow]:
    """Other runs of its task: what it can be compared with."""
    found = [
        other for other in site.index.runs()
        if other.task == run.task and other.key != run.key and other.ended
    ]  # fmt: skip
    return sorted(found, key=lambda other: (other.role != "model", other.model, other.path))[:40]


ROUTES = [Route("/r/{run}", show_run)]
