"""Truths that stand in a manifest's lines, answers in lines of words: scored, and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from faultkit import Scored, Target, random_photo, read_run, write_card, write_file
from vgen_eval.engine.importing import import_predictions
from vgen_eval.plugins import Catalog

__all__ = ["ANSWER", "CHOICE", "COUNT", "SCORE", "score_lines", "write_line_task", "write_lines"]

COUNT = Target(
    "count", "counting", "text", "count_text", "count_error", "accuracy",
    {"failure_value": "zero_count"},
)  # fmt: skip
CHOICE = Target(
    "choice", "quality", "text", "option_text", "option_accuracy", "accuracy",
    {"failure_value": "wrong_choice"},
)  # fmt: skip
ANSWER = Target(
    "answer", "quality", "text", "answer_text", "exact_match", "exact_match",
    {"failure_value": "wrong_answer"},
)  # fmt: skip
SCORE = Target(
    "score", "quality", "text", "rating", "correlation", "srcc", {"failure_value": "no_quality"}
)

Truths = Mapping[str, Mapping[str, Any]]
"""Sample -> the fields of its line."""


def write_line_task(
    folder: Path, target: Target, truths: Truths, *, files: Mapping[str, bytes] | None = None,
    **card: Any,
) -> str:  # fmt: skip
    """Writes task.yaml, manifest.jsonl and pictures; gives the card's path.

    A line that names no picture has the same one as all others; `files`: what lines name.
    """
    for name, data in {"photo.png": random_photo(8, 8), **(files or {})}.items():
        write_file(folder / name, data)
    lines = (
        {"id": sample, **({} if "images" in fields else {"image": "photo.png"}), **fields}
        for sample, fields in truths.items()
    )
    write_lines(folder / "manifest.jsonl", lines)
    return write_card(folder, target, **card)


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """Writes a JSON object a line."""
    write_file(path, "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    return path


def score_lines(
    folder: Path, target: Target, truths: Truths, said: Mapping[str, Any], **task: Any
) -> Scored:
    """Writes everything, scores what was said as the command does, and reads the run's files."""
    lines = ({"id": sample, "output": output} for sample, output in said.items())
    (card,) = import_predictions(
        task=write_line_task(folder, target, truths, **task),
        predictions=write_lines(folder / "predictions.jsonl", lines),
        model_name="theirs",
        catalog=Catalog.discover(),
        output=str(folder / "results"),
    )
    return read_run(folder / "results", card)
