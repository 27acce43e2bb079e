"""LLVisionQA as the Hub has it: Parquet rows with pictures, made records of the original list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import MissingData

from vgen_eval_plugins.datasets.parquet import find_shards, read_batches
from vgen_eval_plugins.datasets.prepared_counts import suffix_of, write_atomic
from vgen_eval_plugins.datasets.release import WHERE, Release
from vgen_eval_plugins.quality.perception.targets import LETTERS

__all__ = ["convert_rows"]

PADDING = "N/A"
"""Stands for an option that a question does not have."""
OPTIONS = ("option0", "option1", "option2", "option3")
ROWS = 16
"""In memory at one time: each brings its picture."""
_NAME = re.compile(r"[\w][\w.-]{0,120}\.\w{2,5}")


def convert_rows(release: Release, split: str, *, images: str) -> tuple[list[dict[str, Any]], str]:
    """The split's records, their pictures written below `images`, and a line that says how many.

    A picture keeps its name where it has one, else it is called by the row's id: the names are
    what a file of the user's speaks of. Rows are not judged here: what is wrong with one shows
    when the list is read. MissingData for files that are damaged or not there.
    """
    files = find_shards(release, splits=(split,))
    columns = ("id", "image", "question", *OPTIONS, "question_type", "question_concern")
    batches = read_batches(
        files, columns, title=release.title, optional=("correct_choice",), size=ROWS
    )
    records: list[dict[str, Any]] = []
    written: set[str] = set()
    for row in (row for batch in batches for row in batch.to_pylist()):
        name = _write_picture(release, row, images=images, taken=written)
        records.append(_record(row, name))
    if not records:
        raise MissingData(f"{release.title}: {files[0]} holds no row", cure=WHERE)
    return records, f"{release.title}, {split}: {len(records)} questions, {len(written)} pictures"


def _write_picture(
    release: Release, row: Mapping[str, Any], *, images: str, taken: set[str]
) -> str:
    """The picture's name; empty for a row without one. One name is written once."""
    image = row["image"]
    data = image.get("bytes") if isinstance(image, Mapping) else None
    if not data:
        return ""
    path = str(image.get("path") or "").replace("\\", "/").rpartition("/")[2]
    name = path if _NAME.fullmatch(path) else f"{_plain(row['id'])}.{suffix_of(data)}"
    if name not in taken:
        taken.add(name)
        write_atomic(release.root / images / name, data)
    return name


def _record(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    offered = {letter: row[column] for letter, column in zip(LETTERS, OPTIONS, strict=False)}
    candidates = [text for text in offered.values() if text is not None and text.strip() != PADDING]
    choice = str(row.get("correct_choice") or "").strip().strip("().").upper()
    right = offered.get(choice)
    if choice and (right is None or right.strip() == PADDING):
        right = f"{choice} (an option that is not there)"
    return {
        "img_path": name,
        "question": row["question"] or "",
        "candidates": candidates,
        "type": "" if row["question_type"] is None else row["question_type"],
        "concern": "" if row["question_concern"] is None else row["question_concern"],
        **({"correct_ans": right} if right else {}),
    }


def _plain(value: Any) -> str:
    return re.sub(r"[^\w-]+", "-", str(value)).strip("-")[:80] or "row"
