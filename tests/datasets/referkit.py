"""Small releases of referring data: RefCOCO's pickle and outlines, ReasonSeg, DRAM, Manga109."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

HEIGHT, WIDTH = 24, 32
SQUARE = [4.0, 4.0, 12.0, 4.0, 12.0, 14.0, 4.0, 14.0]
CORNER = [20.0, 2.0, 30.0, 2.0, 30.0, 9.0]


def write_photo(path: Path, size: tuple[int, int] = (HEIGHT, WIDTH), seed: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
    Pillow.fromarray(pixels).save(path)


def write_json(path: Path, value: Any, *, encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(value, ensure_ascii=False).encode(encoding))


def quiet(_: str) -> None:
    """Takes a line of progress."""


# --- RefCOCO --------------------------------------------------------------------------------


def refs() -> list[dict[str, Any]]:
    """Two things on one photograph and one on another, of val; one more of testA."""

    def ref(number: int, image: int, split: str, *texts: str) -> dict[str, Any]:
        sentences = [
            {"sent_id": 10 * number + at, "sent": text, "raw": text.title(), "tokens": text.split()}
            for at, text in enumerate(texts)
        ]
        return {
            "ref_id": number, "ann_id": 100 + number, "image_id": image, "category_id": 1,
            "split": split, "file_name": f"COCO_train2014_{image:012d}_{number}.jpg",
            "sentences": sentences, "sent_ids": [s["sent_id"] for s in sentences],
        }  # fmt: skip

    return [
        ref(1, 7, "val", "left man", "man in red", "the one who waves"),
        ref(2, 7, "val", "dog"),
        ref(3, 8, "val", "a cup on the table", "cup"),
        ref(4, 8, "testA", "woman"),
    ]


def instances() -> dict[str, Any]:
    counts = [5 * HEIGHT, 6, HEIGHT * WIDTH - 5 * HEIGHT - 6]
    shapes: dict[int, Any] = {
        101: [SQUARE, CORNER],
        102: [CORNER],
        103: {"size": [HEIGHT, WIDTH], "counts": counts},
        104: [SQUARE],
        999: [SQUARE],
    }
    images = {101: 7, 102: 7, 103: 8, 104: 8, 999: 8}
    return {
        "info": {"year": 2014},
        "images": [
            {"id": number, "file_name": f"COCO_train2014_{number:012d}.jpg",
             "height": HEIGHT, "width": WIDTH, "license": 1}
            for number in (7, 8)
        ],
        "annotations": [
            {"id": at, "image_id": images[at], "category_id": 1, "iscrowd": 0, "area": 1.5,
             "segmentation": shape}
            for at, shape in shapes.items()
        ],
        "categories": [{"id": 1, "name": "person", "supercategory": "person"}],
    }  # fmt: skip


def write_refcoco(
    root: Path, *, name: str = "refcoco", by: str = "unc", data: Any = None, shapes: Any = None
) -> None:
    (root / name).mkdir(parents=True, exist_ok=True)
    (root / name / f"refs({by}).p").write_bytes(pickle.dumps(data or refs(), 2))
    write_json(root / name / "instances.json", shapes or instances())
    for number in (7, 8):
        file = f"COCO_train2014_{number:012d}.jpg"
        write_photo(root / "images/mscoco/images/train2014" / file, seed=number)


# --- ReasonSeg ------------------------------------------------------------------------------


def shape(label: str, *points: Sequence[float]) -> dict[str, Any]:
    return {
        "label": label, "labels": [label], "shape_type": "polygon", "image_name": "x.jpg",
        "points": [list(point) for point in points], "group_id": None, "flags": {},
    }  # fmt: skip


def box(label: str, left: float, top: float, right: float, bottom: float) -> dict[str, Any]:
    return shape(label, (left, top), (right, top), (right, bottom), (left, bottom))


def write_reason(
    root: Path, name: str, shapes: Any, *, split: str = "test", text: Any = None,
    encoding: str = "utf-8", size: tuple[int, int] = (HEIGHT, WIDTH),
) -> None:  # fmt: skip
    folder = root / "ReasonSeg" / split
    write_photo(folder / f"{name}.jpg", size)
    body = {"text": text or ["what is warm?"], "is_sentence": True, "shapes": shapes}
    write_json(folder / f"{name}.json", body, encoding=encoding)


# --- DRAM -----------------------------------------------------------------------------------


def write_dram(root: Path, labels: dict[str, NDArray[np.uint8]], **lists: list[str]) -> None:
    base = root / "DRAM_processed"
    for name, label in labels.items():
        write_photo(base / "test" / f"{name}.jpg", (label.shape[0], label.shape[1]))
        path = base / "labels" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Pillow.fromarray(label).save(path)
    for one, names in (lists or {"dram": list(labels)}).items():
        (base / "test" / f"{one}.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


# --- Manga109 -------------------------------------------------------------------------------

CATEGORIES = ("frame", "text", "face", "body", "balloon", "onomatopoeia")


def write_book(root: Path, book: str, pages: dict[str, dict[str, Any]], **more: Any) -> None:
    """`pages`: file name as the JSON has it -> class -> list of segmentations."""
    annotations = []
    images = []
    for number, (file, shapes) in enumerate(pages.items(), 1):
        write_photo(root / "images" / book / Path(file).name, seed=number)
        images.append({"id": number, "file_name": file, "width": WIDTH, "height": HEIGHT})
        for name, parts in shapes.items():
            for part in parts:
                at = {"id": len(annotations) + 1, "image_id": number, "segmentation": part}
                annotations.append({**at, "category_id": CATEGORIES.index(name) + 1})
    body = {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": at, "name": name} for at, name in enumerate(CATEGORIES, 1)],
    }
    write_json(root / "segmentation" / f"{book}.json", {**body, **more})
