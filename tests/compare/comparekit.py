"""Runs to compare, made once: baselines on every sample task, and counts that differ as planned."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vgen_eval
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog

__all__ = [
    "Compare",
    "count",
    "groups_of",
    "lines_of",
    "make_runs",
    "run_path",
    "score_values",
    "truths",
]

Compare = Callable[..., dict[str, Any]]
"""The type of the `compare` fixture."""

TASKS = ("counting", "depth", "normals", "referring", "semantic")
MODELS = ("oracle", "classical", "blind", "copy")


def make_runs(output: Path) -> None:
    """Runs of the baselines over the sample tasks that all of them paint, in `output`."""
    tasks = [f"samples/{task}" for task in TASKS]
    vgen_eval.evaluate(tasks=tasks, models=list(MODELS), output=str(output), bounds=False)


def run_path(output: Path, model: str, task: str, *, answer: str = "image") -> Path:
    """The run of a model on a task."""
    for path in sorted((output / "runs" / model).glob(f"samples/{task}@*/*")):
        if json.loads((path / "run.json").read_text())["answer"] == answer:
            return path
    raise FileNotFoundError(f"{model} {task}")


def lines_of(run: Path) -> list[dict[str, Any]]:
    """The score lines of a run, in the order of its samples."""
    [path] = (run / "scores").glob("*.jsonl")
    lines = {(line := json.loads(text))["sample"]: line for text in path.read_text().splitlines()}
    return [lines[name] for name in json.loads((run / "run.json").read_text())["samples"]]


def score_values(run: Path, value: str) -> dict[str, float]:
    """Sample -> its number in the scores file."""
    return {line["sample"]: line["values"][value] for line in lines_of(run)}


def groups_of(run: Path) -> dict[str, str]:
    """Sample -> its group."""
    items = map(json.loads, (run / "samples.jsonl").read_text().splitlines())
    return {item["id"]: item["group"] for item in items}


def truths(output: Path) -> dict[str, int]:
    """How many there are of what is counted, by sample: what the oracle says."""
    run = run_path(output, "oracle", "counting")
    found = {}
    for line in lines_of(run):
        assert line["values"]["mae"] == 0
        found[line["sample"]] = round(line["prediction"]["count"])
    return found


def count(output: Path, name: str, counts: dict[str, int], **more: Any) -> Path:
    """The run of a model of that name, which counted so."""
    path = output / f"{name}.jsonl"
    lines = [json.dumps({"id": key, "output": str(value)}) for key, value in counts.items()]
    path.write_text("\n".join(lines) + "\n")
    [card] = import_predictions(
        task="samples/counting", predictions=path, model_name=name, catalog=Catalog.discover(),
        output=str(output), answer="text", **more,
    )  # fmt: skip
    return output / card.run
