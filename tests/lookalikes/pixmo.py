"""PixMo-Points and PixMo-Count: parquet tables of URLs; the pictures lie elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lookalikes.files import jpeg_bytes, sha256
from lookalikes.scenes import crowd

__all__ = ["pictures", "write_count", "write_points"]

DEAD = "gone.jpg"
CHANGED = "changed.jpg"


def _discs(number: int) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    return crowd(number, 3 + 4 * number)


def pictures(*, samples: int = 3) -> Mapping[str, bytes]:
    """What is served: name in the URL -> JPEG. `gone.jpg` is not there, `changed.jpg` another."""
    served = {f"discs{place}.jpg": jpeg_bytes(_discs(place)[0]) for place in range(samples)}
    return served | {CHANGED: jpeg_bytes(crowd(77, 2)[0])}


def _row(base_url: str, name: str, place: int) -> dict[str, Any]:
    """The row of a picture that is where it says, or not."""
    rgb, centres = _discs(place)
    return {
        "image_url": f"{base_url}/{name}",
        "image_sha256": sha256(jpeg_bytes(rgb)),
        "centres": centres,
        "count": len(centres),
        "rgb": rgb,
        "reachable": name not in {DEAD, CHANGED},
    }


def _sample(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "picture": row["rgb"],
        "lossy": True,
        "query": row["label"],
        "count": row["count"],
        "points": row["centres"],
        "group": row["image_sha256"],
        "reachable": row["reachable"],
        "collection_method": row.get("collection_method"),
    }


def write_points(root: Path, base_url: str, *, samples: int = 3) -> list[dict[str, Any]]:
    """`pixmo-points/data/train-*.parquet` in two parts: every row, whichever way it was collected.

    Each picture has a row of discs (collected for counting), one of squares, of which there are
    none, and one collected by pointing. Then a link that is dead and one whose picture is no longer
    the one that was labelled (`reachable` False). Points are percent of the width and the height.
    """
    rows = []
    for place in range(samples):
        row = _row(base_url, f"discs{place}.jpg", place)
        none = {"centres": np.empty((0, 2)), "count": 0}
        one = {"centres": row["centres"][:1], "count": 1}
        rows += [
            row | {"label": "blue discs", "collection_method": "counting"},
            row | none | {"label": "squares", "collection_method": "counting"},
            row | one | {"label": "the first disc", "collection_method": "pointing"},
        ]
    for name in (DEAD, CHANGED):
        row = _row(base_url, name, samples)
        rows.append(row | {"label": "blue discs", "collection_method": "counting"})
    point = pa.struct([("x", pa.float64()), ("y", pa.float64())])
    schema = pa.schema(
        [
            ("image_url", pa.string()),
            ("image_sha256", pa.string()),
            ("points", pa.list_(point)),
            ("count", pa.int64()),
            ("label", pa.string()),
            ("collection_method", pa.string()),
        ]
    )
    folder = root / "pixmo-points" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    half = len(rows) // 2
    for part, chunk in enumerate((rows[:half], rows[half:])):
        table = pa.Table.from_pylist([_points_row(row) for row in chunk], schema=schema)
        pq.write_table(table, folder / f"train-{part:05d}-of-00002.parquet")
    return [_sample(row) for row in rows]


def _points_row(row: Mapping[str, Any]) -> dict[str, Any]:
    height, width = row["rgb"].shape[:2]
    percent = row["centres"] * (100.0 / width, 100.0 / height)
    kept = ("image_url", "image_sha256", "count", "label", "collection_method")
    points = [{"x": float(x), "y": float(y)} for x, y in percent]
    return {key: row[key] for key in kept} | {"points": points}


def write_count(root: Path, base_url: str, *, samples: int = 3) -> list[dict[str, Any]]:
    """`pixmo-count/data/{train,validation,test}-*.parquet`: what is returned is the test split.

    The last row's link is dead. Points are pixels, in two lists a row, and empty but in `train`.
    """
    rows = [_row(base_url, f"discs{place}.jpg", place) for place in range(samples)]
    rows.append(_row(base_url, DEAD, samples))
    rows = [row | {"label": "discs"} for row in rows]
    floats = pa.list_(pa.float32())
    schema = pa.schema(
        [
            ("image_url", pa.string()),
            ("image_sha256", pa.string()),
            ("count", pa.int32()),
            ("points", pa.struct([("x", floats), ("y", floats)])),
            ("label", pa.string()),
        ]
    )
    folder = root / "pixmo-count" / "data"
    folder.mkdir(parents=True, exist_ok=True)
    for split, chunk in (("train", rows[:1]), ("validation", rows[:1]), ("test", rows)):
        table = pa.Table.from_pylist(
            [_count_row(row, with_points=split == "train") for row in chunk], schema=schema
        )
        pq.write_table(table, folder / f"{split}-00000-of-00001.parquet")
    return [_sample(row) for row in rows]


def _count_row(row: Mapping[str, Any], *, with_points: bool) -> dict[str, Any]:
    centres = row["centres"] if with_points else np.empty((0, 2))
    kept = ("image_url", "image_sha256", "count", "label")
    points = {"x": centres[:, 0].tolist(), "y": centres[:, 1].tolist()}
    return {key: row[key] for key in kept} | {"points": points}
