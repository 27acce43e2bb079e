"""ReasonSeg: a picture and a JSON of polygons and texts beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from lookalikes.files import write_jpeg
from lookalikes.scenes import room

__all__ = ["write"]

HEIGHT, WIDTH = 480, 640
Box = tuple[float, float, float, float]
"""Left, top, right, bottom of a polygon's corners, all four of them inside it."""


def _shape(label: str, box: Box) -> dict[str, Any]:
    left, top, right, bottom = box
    points = [[left, top], [right, top], [right, bottom], [left, bottom]]
    return {"label": label, "labels": [label], "shape_type": "polygon", "points": points}


CASES: tuple[tuple[str, list[tuple[str, Box]], list[str], bool, str], ...] = (
    # name, shapes in the file's order, texts, is it a sentence, encoding
    (
        "101_2f",  # a part inside the target is ignored: the smaller shape is painted last
        [("ignore", (200.0, 200.0, 240.0, 230.0)), ("target", (150.0, 120.0, 300.0, 260.0))],
        ["the thing to put a plate on", "where would one set down a plate"],
        True,
        "utf-8",
    ),
    (
        "20_bc",  # a target inside what is ignored, a shape to drop, corners between pixels
        [
            ("flag", (0.0, 0.0, 600.0, 400.0)),
            ("target", (60.7, 50.2, 90.9, 80.6)),
            ("ignore_crowd", (40.0, 40.0, 160.0, 160.0)),
        ],
        ["the caf\u00e9\u2019s round object"],
        False,
        "cp1252",
    ),
    ("7_aa", [("flag", (10.0, 10.0, 20.0, 20.0))], ["something that is not here"], True, "utf-8"),
    (
        "9_dd",  # two targets
        [("target", (20.0, 300.0, 80.0, 360.0)), ("target", (400.0, 300.0, 420.0, 330.0))],
        ["both of the boxes"],
        True,
        "utf-8",
    ),
)


def write(root: Path, *, samples: int = 3, split: str = "test") -> list[dict[str, Any]]:
    """`reason_seg/ReasonSeg/<split>/*.jpg` and `*.json`: of the four cases the first `samples`.

    The first four hold: an ignored part in a target; a dropped `flag`, a target inside an ignored
    part and Windows quotes in cp1252; no polygon at all, so that nothing is to be found; two
    targets. A corner at 60.7 belongs to pixel 60. In the order of the file names.
    """
    folder = root / "reason_seg" / "ReasonSeg" / split
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for place in range(samples):
        name, shapes, texts, is_sentence, encoding = CASES[place % len(CASES)]
        name = name if place < len(CASES) else f"{name}{place}"
        rgb = room(place % 4).rgb
        write_jpeg(folder / f"{name}.jpg", rgb)
        record = {
            "text": texts,
            "is_sentence": is_sentence,
            "shapes": [_shape(*shape) for shape in shapes],
        }
        text = json.dumps(record, ensure_ascii=False)
        (folder / f"{name}.json").write_bytes(text.encode(encoding))
        values = np.zeros((HEIGHT, WIDTH), np.int32)
        kept = [shape for shape in shapes if shape[0] != "flag"]
        for label, box in sorted(kept, key=lambda shape: -_area(shape[1])):
            left, top, right, bottom = map(int, box)
            values[top : bottom + 1, left : right + 1] = -1 if "ignore" in label else 1
        found.append(
            {
                "name": name,
                "picture": rgb,
                "lossy": True,
                "mask": values == 1,
                "valid": values >= 0,
                "query": texts[0],
                "texts": texts,
                "is_sentence": is_sentence,
                "group": name,
            }
        )
    return sorted(found, key=lambda sample: str(sample["name"]))


def _area(box: Box) -> float:
    left, top, right, bottom = box
    return (right - left) * (bottom - top)
