"""Made-up tables, predictions that hit a figure, and the command in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import vgen_eval
from vgen_eval.engine.importing import import_predictions
from vgen_eval.engine.naming import expand_tasks
from vgen_eval.engine.tasks import open_task
from vgen_eval.plugins import Catalog

__all__ = [
    "CELL", "COUNTER", "DEPTH", "ROW", "Say", "cells", "edit_card", "import_counts", "reports",
    "run", "table",
]  # fmt: skip

COUNTER = "google/gemini-3.5-flash"
"""A model that nobody can run any more: its numbers can only be brought along."""
COUNTING: Mapping[str, Any] = {
    "data": "photographs",
    "task": "samples/counting",
    "protocol": "standard",
    "n_paper": 13,
    "tag": "S",
    "tolerance": {"mae": 0.05},
    "comparability": "comparable",
    "cells": [{"label": "Gemini", "model": COUNTER, "values": {"mae": 2.0}}],
}
DEPTH: Mapping[str, Any] = {
    "data": "scenes",
    "task": "samples/depth",
    "protocol": "standard",
    "tag": "S",
    "tolerance": {"delta1": 0.0005},
    "comparability": "comparable",
    "cells": [{"label": "Oracle", "model": "oracle", "values": {"delta1": 1.0}}],
}
ERRORS = (1, 3) * 6 + (2,)
"""How far each of 13 counts is off: 2 on average."""


def table(folder: Path, *rows: Mapping[str, Any], **more: Any) -> str:
    """Writes a table of these rows; JSON is YAML. Gives its path."""
    path = folder / "own.yaml"
    head = {"paper": "own", "table": "one", "title": "A table", "source": "made up"}
    path.write_text(json.dumps({**head, **more, "rows": list(rows)}, indent=1))
    return str(path)


def import_counts(
    folder: Path, errors: Sequence[int] = ERRORS, model: str = COUNTER, **settings: Any
) -> Any:
    """Predictions of `samples/counting` that are off by these, as a run of the model."""
    catalog = Catalog.discover()
    (ref,) = expand_tasks(["samples/counting"], catalog, notices=[])
    task = open_task(ref, catalog, overrides={}, data_root=None)
    answers = [
        {"id": item.id, "output": str(task.dataset.load(item).target.count + off)}
        for item, off in zip(task.items, errors, strict=False)
    ]
    path = folder / "counts.jsonl"
    path.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    (card,) = import_predictions(
        task="samples/counting", predictions=path, model_name=model, catalog=catalog,
        output=str(folder / "out"), overrides=settings,
    )  # fmt: skip
    return card


def run(folder: Path, **arguments: Any) -> Any:
    """One run into the results folder."""
    (card,) = vgen_eval.evaluate(**{"output": str(folder / "out"), "bounds": False, **arguments})
    return card


def edit_card(folder: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Changes the card of the one run of predictions and gives its folder."""
    (path,) = (folder / "out" / "runs" / "predictions").rglob("result_card.json")
    card = json.loads(path.read_text())
    change(card)
    path.write_text(json.dumps(card))
    return path.parent


Say = Callable[..., tuple[int, dict[str, Any]]]
"""`vgen-eval reproduce ... --json`: exit code and document."""


def cells(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = record["cells"]
    return found


def reports(record: Mapping[str, Any]) -> list[list[str]]:
    """The fields that each cell's report names."""
    return [[each["field"] for each in cell["report"]] for cell in cells(record)]


ROW, CELL = COUNTING, COUNTING["cells"][0]
