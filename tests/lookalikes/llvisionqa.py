"""LLVisionQA: a JSON list beside pictures, or the Hub's Parquet with the pictures inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalikes.files import jpeg_bytes, write_jpeg
from lookalikes.scenes import crowd

__all__ = ["write", "write_hub"]

ASKED: tuple[tuple[str, tuple[str, ...], str, int, int], ...] = (
    ("Is this picture sharp?", ("Yes", "No"), "Yes", 0, 0),
    ("What is the main distortion?", ("Noise", "Blur", "None of these"), "Blur", 1, 0),
    ("How is the light of the wall?", ("Dark", "Medium", "Bright", "Too bright"), "Dark", 2, 3),
    ("Is the background out of focus?", ("No", "Yes"), "No", 0, 2),
)
"""Question, candidates, right answer, type, concern."""
KINDS = ("yes-or-no", "what", "how")
ABOUT = ("distortion", "others", "in-context distortion", "in-context others")


def write(root: Path, *, split: str = "dev", answers: bool = True) -> list[dict[str, Any]]:
    """`llvisionqa/llvisionqa_<split>.json` and `llvisionqa/images/NNNNN.jpg`, as first released."""
    folder = root / "llvisionqa"
    records, found = [], []
    for number, (question, candidates, right, kind, about) in enumerate(ASKED):
        name = f"{number:05d}.jpg"
        rgb, _ = crowd(60 + number, 2)
        write_jpeg(folder / "images" / name, rgb)
        record = {
            "img_path": name,
            "question": question,
            "candidates": list(candidates),
            "type": kind,
            "concern": about,
        }
        records.append(record | ({"correct_ans": right} if answers else {}))
        found.append(_told(number, rgb) | {"id": name})
    (folder / f"llvisionqa_{split}.json").write_text(json.dumps(records), "utf-8")
    return found


def write_hub(root: Path, *, split: str = "dev", answers: bool = True) -> list[dict[str, Any]]:
    """`llvisionqa/data/<split>-00000-of-00001.parquet`: four options, the missing ones N/A."""
    rows, found = [], []
    for number, (question, candidates, right, kind, about) in enumerate(ASKED):
        rgb, _ = crowd(60 + number, 2)
        padded = [*candidates, *["N/A"] * (4 - len(candidates))]
        rows.append(
            {
                "id": number,
                "image": {"bytes": jpeg_bytes(rgb), "path": f"{number:05d}.jpg"},
                "question": question,
                **{f"option{at}": text for at, text in enumerate(padded)},
                "question_type": str(kind),
                "question_concern": str(about),
                "correct_choice": "ABCD"[candidates.index(right)] if answers else "",
            }
        )
        found.append(_told(number, rgb) | {"id": f"{number:05d}.jpg"})
    names = ["question", *(f"option{at}" for at in range(4))]
    names += ["question_type", "question_concern", "correct_choice"]
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema(
        [("id", pa.int64()), ("image", image), *((name, pa.string()) for name in names)]
    )
    folder = root / "llvisionqa" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / f"{split}-00000-of-00001.parquet")
    return found


def _told(number: int, rgb: Any) -> dict[str, Any]:
    question, candidates, right, kind, about = ASKED[number]
    return {
        "picture": rgb,
        "lossy": True,
        "question": question,
        "candidates": candidates,
        "right": right,
        "tags": {"type": KINDS[kind], "concern": ABOUT[about]},
    }
