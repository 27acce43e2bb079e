"""`vgen-eval reproduce list`: the tables there are, and how much of each is here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.cli import terminal
from vgen_eval.cli.reproduce_table import write_csv
from vgen_eval.cli.reproduce_text import sheet_lines, wrap
from vgen_eval.engine.settings import Settings
from vgen_eval.results.published import Table, load_published
from vgen_eval.results.reproducing.asking import Asked, ask
from vgen_eval.results.reproducing.finding import Library
from vgen_eval.results.reproducing.planning import Outlook, look
from vgen_eval.results.reproducing.sheet import Sheet
from vgen_eval.results.reproducing.speeds import find_speed

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["show_targets"]

HEAD = ("target", "also named", "cells", "figures", "here", "state", "title")
ALONE = "no task or no model card of them"


def show_targets(
    catalog: Catalog, output: Path, *, show: Callable[..., None], as_json: bool
) -> int:
    """Prints them and returns the exit code."""
    library = Library(catalog, output=output)
    settings = Settings(output=str(output), bounds=False)
    records = [_describe(table, library, catalog, settings) for table in load_published()]
    sheet = Sheet(
        name="targets",
        title="tables that can be reproduced",
        head=HEAD,
        rows=tuple(tuple(_row(record)) for record in records),
        right="llrrrll",
        groups=0,
        remarks=("here: cells that runs in the results folder give numbers of",),
    )
    csv = write_csv(HEAD, (dict(zip(HEAD, row, strict=True)) for row in sheet.rows))
    show(sheet, csv, lines=lambda columns: _lines(sheet, records, columns))
    if as_json:
        terminal.say_json({"targets": records, "faults": library.faults})
    terminal.note(*(f"note: left out: {fault}" for fault in library.faults))
    return 0


def _row(record: dict[str, Any]) -> Iterator[str]:
    yield record["target"]
    yield ", ".join(record["also"])
    yield from (str(record[key]) for key in ("cells", "figures", "here"))
    yield record["state"]
    yield record["title"]


def _lines(sheet: Sheet, records: list[dict[str, Any]], columns: int) -> list[str]:
    """As a table where it is wide enough, else two lines and more a target."""
    own = [line.removeprefix("  ") for line in sheet_lines(sheet, 1 << 20)[1:]]
    if all(terminal.columns_of(line) <= columns for line in own):
        return own
    rows = [["target", "cells", "figures", "here", "state"]]
    for record, row in zip(records, sheet.rows, strict=True):
        rows.append([row[0], *row[2:5], record["state"].partition(":")[0]])
    head, *firsts = terminal.layout(rows, right="lrrrl")
    lines = [head]
    for first, record in zip(firsts, records, strict=True):
        also = f"; also named {', '.join(record['also'])}" if record["also"] else ""
        why = record["state"].partition(":")[2].strip()
        why = f"; {why}" if why and why != ALONE else ""
        lines += [first, *wrap(f"{record['title']}{also}{why}", columns, "    ")]
    alone = [f"figures alone: {ALONE}"] if any(ALONE in r["state"] for r in records) else []
    for remark in (*sheet.remarks, *alone):
        lines += wrap(remark, columns, "")
    return lines


def _describe(
    table: Table, library: Library, catalog: Catalog, settings: Settings
) -> dict[str, Any]:
    asked = ask(table, catalog)
    outlook = look(asked, library, catalog, settings, may_run=False)
    askable = [each for each in asked if each.parts]
    here = [each for each in askable if _is_here(each, outlook, Path(settings.output))]
    if table.awaits:
        state = f"not run: task not present: {table.awaits}"
    elif not askable:
        state = f"figures alone: {ALONE}"
    else:
        state = "not run" if not here else "run" if len(here) == len(askable) else "run in part"
    return {
        "target": table.name,
        "also": [f"{table.paper}:{word}" for word in table.also],
        "title": table.title,
        "cells": len(asked),
        "figures": sum(len(each.cell.values) for each in asked),
        "runnable": len(askable),
        "here": len(here),
        "state": state,
    }


def _is_here(asked: Asked, outlook: Outlook, output: Path) -> bool:
    if asked.row.measure == "speed":
        return find_speed(asked.parts[0], output) is not None
    return all(need.found is not None for need in outlook.of(asked))
