"""Look-alikes of the releases of counting, written after the notes on their layouts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from geometry import COUNT, save_picture
from PIL import Image as Pillow
from views import view


def write_fsc147(root: Path) -> None:
    base, names = root / "fsc147", [f"{at}.jpg" for at in range(COUNT)]
    annotations = {}
    for at, name in enumerate(names):
        save_picture(base / "images_384_VarV2" / name, view(at, 384, 512).rgb)
        points = [[40.5 + 30 * k, 100.0 + 20 * (k % 3)] for k in range(9 + at)]
        annotations[name] = {"points": points, "box_examples_coordinates": []}
    (base / "annotation_FSC147_384.json").write_text(json.dumps(annotations))
    splits = {"train": [], "val": [], "test": names, "val_coco": [], "test_coco": []}
    (base / "Train_Test_Val_FSC_147.json").write_text(json.dumps(splits))
    (base / "ImageClasses_FSC147.txt").write_text("".join(f"{name}\tapples\n" for name in names))


def write_countbench(root: Path) -> None:
    folder, rows = root / "countbench/data", []
    for at in range(COUNT):
        file = io.BytesIO()
        Pillow.fromarray(view(at, 240, 320).rgb).save(file, "JPEG")
        rows.append({"image": {"bytes": file.getvalue(), "path": None},
                     "text": f"A photo of {at + 3} balls", "number": at + 3})  # fmt: skip
    rows.append({"image": None, "text": "gone", "number": 4})
    folder.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "train-00000-of-00001.parquet")
