"""One table over tasks, as `vgen-eval table` makes it; of a suite, or of all that is here."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.reading import Run, name_apart
from vgen_eval.results.tables import spelling
from vgen_eval.results.tables.build import make_table
from vgen_eval.results.tables.record import Table
from vgen_eval.viewer.records import RunRow
from vgen_eval.viewer.site import Site
from vgen_eval.viewer.staging import links
from vgen_eval.viewer.staging.templating import page

__all__ = ["ROUTES", "show_table"]


def show_table(request: Request) -> Response:
    """Models by tasks; `suite`: its tasks alone."""
    site: Site = request.app.state.site
    site.index.refresh()
    suites = sorted(
        {head.name if plugin.builtin else f"{plugin.name}:{head.name}"
         for plugin, head in site.catalog.heads("suite")}
    )  # fmt: skip
    suite = request.query_params.get("suite", "")
    if suite and suite not in suites:
        raise UsageError(f"suite: there is no '{suite[:60]}'.{nearest(suite[:60], suites)}")
    rows = [run for run in site.index.runs() if run.task]
    labels = _tasks_of(suite, site) if suite else None
    if labels is not None:
        rows = [run for run in rows if run.task in labels]
    runs, by_path = _open(site, rows)
    table = _table(runs)
    missing = sorted(set(labels or ()) - {run.task for run in rows})
    return page(
        request,
        "suite.html",
        page_class="page-table",
        crumbs=(("Tables", "/table" if suite else None), *(((suite, None),) if suite else ())),
        suite=suite,
        suites=suites,
        lines=_lines(table, by_path) if table is not None else [],
        table=table,
        heads=[spelling.head_lines(head, table.cols_by) for head in table.cols] if table else [],
        addresses=_addresses(table, by_path) if table is not None else [],
        caption=spelling.caption(table, intervals=True) if table is not None else [],
        missing=missing,
    )


def _tasks_of(suite: str, site: Site) -> list[str]:
    from vgen_eval.engine.naming import expand_tasks

    refs = expand_tasks([f"suite:{suite}"], site.catalog, notices=[])
    return [ref.label for ref in refs]


def _open(site: Site, rows: list[RunRow]) -> tuple[list[Run], dict[str, RunRow]]:
    """The runs with a card as tables take them, and their rows by the run that a cell names."""
    found, by_path = [], {}
    for row in rows:
        card = site.index.card(row)
        if card is not None:
            run = Run((site.results / row.path).resolve(), card)
            found.append(run)
            by_path[str(run.path)] = row
    name_apart(found)
    return found, {run.name: by_path[str(run.path)] for run in found} | {
        run.card.run: by_path[str(run.path)] for run in found
    }


def _table(runs: list[Run]) -> Table | None:
    """None where no run has a card, or no card a value over all samples."""
    try:
        return make_table(runs)
    except UsageError:
        return None


def _lines(table: Table, by_path: dict[str, RunRow]) -> list[dict[str, Any]]:
    places = spelling.all_decimals(table)
    lines = []
    for at, head in enumerate(table.rows):
        cells: list[dict[str, Any] | None] = []
        for over, cell in enumerate(table.cells[at]):
            if cell is None:
                cells.append(None)
                continue
            run = by_path.get(cell.run)
            decimals = places[at][over]
            cells.append(
                {
                    "text": "–" if cell.value is None else spelling.number(cell.value, decimals),
                    "measure": spelling.own_measure(table, head, table.cols[over], cell),
                    "interval": spelling.interval(cell, decimals),
                    "marks": spelling.marks(cell),
                    "best": cell.best,
                    "href": links.run(run) if run is not None else None,
                }
            )
        lines.append(
            {"head": spelling.head_lines(head, table.rows_by), "role": head.role, "cells": cells}
        )
    return lines


def _addresses(table: Table, by_path: dict[str, RunRow]) -> list[str | None]:
    """Of each column, the leaderboard of its task, where it is of one."""
    found: list[str | None] = []
    for over in range(len(table.cols)):
        rows = {
            by_path[cell.run].task_slug
            for line in table.cells
            if (cell := line[over]) is not None and cell.run in by_path
        }
        found.append(f"/t/{rows.pop()}" if len(rows) == 1 else None)
    return found


ROUTES = [Route("/table", show_table)]
