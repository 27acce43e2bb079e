"""What is new: a run since a mark, and how far all runs are, as JSON that pages poll."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vgen_eval.errors import UsageError
from vgen_eval.viewer.pages.marks import Mark, news
from vgen_eval.viewer.pages.runs import mark_of
from vgen_eval.viewer.records import PAGE_SIZE
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.templating import plain

__all__ = ["ROUTES", "since", "tell_all"]

MOST = 20
"""Samples that are told by name; the others are counted."""


def since(request: Request) -> Response:
    """State, progress, and the samples whose lines came after the mark, newest first."""
    site: Site = request.app.state.site
    run = site.run(request.path_params["run"])
    known = Mark.read(request.path_params["mark"])
    if known is None:
        # not as what is not there: a page takes that for a run that is gone
        raise UsageError("a page asks what is new with the mark that it was given: this is none")
    rows, mark, scored_again = news(site, run, known)
    return JSONResponse(
        {
            "state": run.state,
            "ended": run.ended,
            "expected": run.expected,
            "failed": run.failed,
            "mark": str(mark),
            "scored_again": scored_again,
            "fresh": len(rows),
            "more": len(rows) >= PAGE_SIZE,
            # a sample comes twice where its score is written after its answer was told
            "keys": [row.key for row in rows],
            "samples": [
                {
                    "id": plain(row.id),
                    "status": row.status,
                    "score": row.score,
                    "address": links.sample(run, row),
                }
                for row in rows[:MOST]
            ],
        }
    )


def tell_all(request: Request) -> Response:
    """How far the runs are that are written now; `mark` differs once the list itself does."""
    site: Site = request.app.state.site
    site.index.refresh()
    runs = site.index.runs()
    return JSONResponse(
        {
            "mark": mark_of(runs),
            "runs": [
                {"key": run.key, "ended": run.ended, "expected": run.expected}
                for run in runs
                if run.state == "running"
            ],
        }
    )


ROUTES = [Route("/r/{run}/since/{mark}", since), Route("/live", tell_all)]
