"""CountBench: parquet with the pictures inside, some of which are lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lookalikes.files import jpeg_bytes
from lookalikes.scenes import crowd

__all__ = ["write"]

WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def write(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """`countbench/data/train-*.parquet`: image {bytes, path}, text, number.

    The second row has no picture and is not among what is returned; `row` counts it.
    """
    rows: list[dict[str, Any]] = []
    found = []
    for place in range(samples):
        count = 2 + place % len(WORDS)
        rgb, _ = crowd(40 + place, count)
        text = f"A set of {WORDS[count - 2]} blue discs on paper"
        picture = {"bytes": jpeg_bytes(rgb), "path": None}
        found.append(
            {"row": len(rows), "picture": rgb, "lossy": True, "count": count, "text": text}
        )
        rows.append({"image": picture, "text": text, "number": count})
        if not place:
            rows.append({"image": None, "text": "Seven lost pictures", "number": 7})
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("image", image), ("text", pa.string()), ("number", pa.int64())])
    folder = root / "countbench" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / "train-00000-of-00001-cf54c241ba947306.parquet")
    return found
