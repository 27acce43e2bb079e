"""`vgen-eval reproduce list`: the tables there are, and how much of each is here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.cli import terminal
from vgen_eval.engine.settings import Settings
from vgen_eval.results.published import Table, load_published
from vgen_eval.results.reproducing.asking import Asked, ask
from vgen_eval.results.reproducing.finding import Library
from vgen_eval.results.reproducing.planning import Outlook, look
from vgen_eval.results.reproducing.speeds import find_speed

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["show_targets"]


def show_targets(catalog: Catalog, output: Path, *, as_json: bool) -> int:
    """Prints them and returns the exit code."""
    library = Library(catalog, output=output)
    settings = Settings(output=str(output), bounds=False)
    records = [_describe(table, library, catalog, settings) for table in load_published()]
    if as_json:
        terminal.say_json({"targets": records, "faults": library.faults})
        return 0
    head = ["target", "cells", "figures", "here", "state", "title"]
    lines = terminal.layout([head, *map(_row, records)], right="lrrrll")
    terminal.say(*(terminal.clip(line, terminal.width()) for line in lines))
    terminal.note(*(f"note: left out: {fault}" for fault in library.faults))
    return 0


def _row(record: dict[str, Any]) -> list[str]:
    names = [record["target"], *(f"({word})" for word in record["also"])]
    numbers = [str(record[key]) for key in ("cells", "figures", "here")]
    return [" ".join(names), *numbers, record["state"], record["title"]]


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
        state = "figures alone: no task or no model card of them"
    else:
        state = "not run" if not here else "run" if len(here) == len(askable) else "run in part"
    return {
        "target": table.name,
        "also": list(table.also),
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
