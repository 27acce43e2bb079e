"""Runs made once for all export tests, and short words for exporting some of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vgen_eval import Refused, Request, ResultCard
from vgen_eval.errors import Transient
from vgen_eval.plugins import Catalog
from vgen_eval.results.card import read_card
from vgen_eval.results.export import Exported, export
from vgen_eval.store.run import find_runs

__all__ = ["FAULTY", "Copied", "counter", "edit", "export_runs", "lines", "runs_of"]

FAULTY = ("coins", "chelsea-eyes", "coffee-forks")
"""Samples that `counter` refuses, cannot read, and fails to be asked for."""

Copied = Callable[..., Path]


def counter(request: Request) -> Any:
    """Counts three of everything, in words; three samples go wrong, each in its own way."""
    if request.sample == FAULTY[0]:
        raise Refused("not that picture")
    if request.sample == FAULTY[2]:
        raise Transient("the line to /srv/models/counter/socket is down")
    return "none of your business" if request.sample == FAULTY[1] else "I see 3."


def runs_of(folder: Path, model: str = "*", task: str = "*") -> list[Path]:
    """The run directories of a model and a task, by their names."""
    cards = [(path, read_card(path)) for path in find_runs(folder)]
    return [
        path
        for path, card in cards
        if model in ("*", card.model) and task in ("*", card.task.removeprefix("samples/"))
    ]


def export_runs(name: str, paths: list[Path], target: Path, **options: Any) -> Exported:
    """The runs in a format, below `target`."""
    return export(name, paths, target=target, options=options, catalog=Catalog.discover())


def edit(run: Path, change: Callable[[Any], None], *, file: str = "result_card.json") -> Path:
    """Changes a JSON file of a run in place."""
    record = json.loads((run / file).read_text())
    change(record)
    (run / file).write_text(json.dumps(record))
    return run


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def copy_run(run: Path, to: Path) -> Path:
    """A copy of a run in a results folder of its own."""
    card: ResultCard = read_card(run)
    return Path(shutil.copytree(run, to / card.run))
