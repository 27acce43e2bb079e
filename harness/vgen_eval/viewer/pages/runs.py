"""The first page: what is here, what is running, what broke."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.viewer.records import RunRow
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging.templating import page

__all__ = ["ROUTES", "STATES", "folder_of", "mark_of", "show_runs"]

STATES = {
    "running": "Running",
    "unreadable": "Cannot be read",
    "stopped": "Ended early",
    "incomplete": "Incomplete",
    "complete": "Complete",
}
"""In the order of the page: what asks for a look comes first."""


def show_runs(request: Request) -> Response:
    """All runs by state, those that were written last first."""
    site: Site = request.app.state.site
    site.index.refresh()
    runs = site.index.runs()
    words = request.query_params.get("q", "").lower().split()
    shown = [run for run in runs if all(word in _text(run) for word in words)]
    folders = sorted({folder_of(run) for run in runs})
    return page(
        request,
        "runs.html",
        page_class="page-runs",
        results=site.results,
        total=len(runs),
        groups=_by_state(shown),
        tasks=_tasks(shown),
        shown=len(shown),
        q=request.query_params.get("q", ""),
        folders=folders,
        folder_of=folder_of,
        mark=mark_of(runs),
    )


def _by_state(runs: Sequence[RunRow]) -> list[tuple[str, str, list[RunRow]]]:
    newest = sorted(runs, key=lambda run: (-run.changed, run.path))
    groups = (
        (state, title, [run for run in newest if run.state == state])
        for state, title in STATES.items()
    )
    return [(state, title, members) for state, title, members in groups if members]


def _tasks(runs: Sequence[RunRow]) -> list[tuple[str, RunRow, int]]:
    """Task, one of its runs (for its address), and how many it has."""
    found: dict[str, list[RunRow]] = {}
    for run in runs:
        if run.task:
            found.setdefault(run.task, []).append(run)
    return [(task, members[0], len(members)) for task, members in sorted(found.items())]


def _text(run: RunRow) -> str:
    return f"{run.model} {run.task} {run.path} {run.state} {run.prompt or ''}".lower()


def folder_of(run: RunRow) -> str:
    """The results folder that a run lies in, below the one that is served; "" for that itself."""
    parts = run.path.split("/")
    return "/".join(parts[: parts.index("runs")]) if "runs" in parts else ""


def mark_of(runs: Sequence[RunRow]) -> str:
    """Differs once a run is added, is gone, or has another state or value."""
    from vgen_eval.jsonio import digest

    found: list[Any] = sorted([run.key, run.state, run.value] for run in runs)
    return str(digest(found))[:12]


ROUTES = [Route("/", show_runs)]
