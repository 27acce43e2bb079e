"""Releases of counting made small: Parquet files, and a service that has their pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lookalikes.files import sha256
from PIL import Image as Pillow
from vgen_eval_plugins.standins.server import Answer, Call, Handler, Rejected, Service

POINTS = pa.list_(pa.struct([("x", pa.float64()), ("y", pa.float64())]))
PIXMO = pa.schema(
    [
        ("image_url", pa.string()),
        ("image_sha256", pa.string()),
        ("points", POINTS),
        ("count", pa.int64()),
        ("label", pa.string()),
        ("collection_method", pa.string()),
    ]
)
CUT = slice(0, -40)
"""Of a file that was cut off."""


def picture(number: int, *, width: int = 50, height: int = 40, form: str = "PNG") -> bytes:
    pixels = np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8)
    file = io.BytesIO()
    Pillow.fromarray(pixels).save(file, form)
    return file.getvalue()


class Pictures(Service):
    """Gives picture N at /N.png, and nothing at addresses in `gone`."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: set[str] = set()

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        return (("GET", r"/(\d+)\.png", self._give),)

    def _give(self, call: Call) -> Answer:
        if call.path in self.gone:
            raise Rejected("gone", status=404)
        return Answer(body=picture(int(call.groups[0])), content_type="image/png")

    @property
    def asked(self) -> list[str]:
        return sorted(seen.path for seen in self.seen)


def row(
    service: Service | None, number: int, label: str, count: int, **more: Any
) -> dict[str, Any]:
    """A row as PixMo-Points has them: `count` points in per cent, unless `more` says other."""
    return {
        "image_url": f"{service.url if service else 'https://example.invalid'}/{number}.png",
        "image_sha256": sha256(picture(number)),
        "points": [{"x": 100 * k / max(count, 1), "y": 50.0} for k in range(count)],
        "count": count,
        "label": label,
        "collection_method": "counting",
        **more,
    }


def write_rows(
    root: Path, rows: Sequence[dict[str, Any]], *, name: str = "train-00000-of-00001",
    schema: pa.Schema = PIXMO, group: int = 4,
) -> Path:  # fmt: skip
    """data/NAME.parquet in row groups of `group` rows."""
    path = root / "data" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path, row_group_size=group)
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
