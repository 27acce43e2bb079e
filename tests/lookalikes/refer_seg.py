"""RefCOCO, RefCOCO+ and RefCOCOg: refs in a pickle, masks in instances.json, COCO's pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalikes import python2_pickle
from lookalikes.files import rle_counts, write_jpeg
from lookalikes.scenes import room

__all__ = ["IMAGES", "write"]

IMAGES = "images/mscoco/images/train2014"
HEIGHT, WIDTH = 480, 640
POSTERS = ((60, 90, 130, 190), (150, 90, 210, 160))
"""Left, top, right, bottom, the last two not included: a poster in two parts."""

_SENTENCES = {
    "poster": ("two yellow posters on the wall", "posters"),
    "red ball": ("the red ball", "caf\u00e9 style ball on the floor"),
}


def _scene(number: int) -> tuple[NDArray[np.uint8], dict[str, NDArray[np.bool_]]]:
    view = room(number)
    rgb, poster = view.rgb.copy(), np.zeros((HEIGHT, WIDTH), bool)
    for left, top, right, bottom in POSTERS:
        poster[top:bottom, left:right] = True
    rgb[poster] = (232, 208, 40)
    ball = view.mask("red ball")
    return rgb, {"poster": poster, "red ball": ball & ~poster}


def _polygons() -> list[list[float]]:
    return [
        [float(x) for x in (left, top, right, top, right, bottom, left, bottom)]
        for left, top, right, bottom in POSTERS
    ]


def _annotation(number: int, image: int, what: str, mask: NDArray[np.bool_]) -> dict[str, Any]:
    rows, columns = np.nonzero(mask)
    top, left = int(rows.min()), int(columns.min())
    runs = {"size": [HEIGHT, WIDTH], "counts": rle_counts(mask)}
    return {
        "id": number,
        "image_id": image,
        "category_id": 84 if what == "poster" else 37,
        "iscrowd": int(what != "poster"),
        "area": float(mask.sum()),
        "bbox": [left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top],
        "segmentation": _polygons() if what == "poster" else runs,
    }


def write(
    root: Path, *, samples: int = 3, dataset: str = "refcoco", split_by: str = "unc",
    split: str = "val",
) -> list[dict[str, Any]]:  # fmt: skip
    """`refer_seg/<dataset>/refs(<split_by>).p` and `instances.json`, and the pictures.

    `samples` refs of the split, two sentences each: the list has twice as many entries, in the
    order of the refs and then of their sentences. Refs 2k and 2k + 1 stand on one picture. A ref of
    `train` and one of each other split stand between them. Polygons have whole coordinates, where
    every way of filling agrees.
    """
    home = root / "refer_seg"
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    refs: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    for place in range(samples):
        number = 1000 + 7 * (place // 2)
        rgb, masks = _scene(place // 2)
        name = f"COCO_train2014_{number:012d}.jpg"
        if place % 2 == 0:
            write_jpeg(home / IMAGES / name, rgb)
            images.append({"id": number, "file_name": name, "height": HEIGHT, "width": WIDTH})
            for offset, (what, mask) in enumerate(masks.items()):
                annotations.append(_annotation(10 * number + offset, number, what, mask))
        what = ("poster", "red ball")[place % 2]
        if place == 1:  # these lie between refs of the split
            for other in sorted({"train", "val", "testA", "testB", "test"} - {split}):
                refs.append(_ref(len(refs), number, "poster", other))
        refs.append(_ref(len(refs), number, what, split))
        found += [
            {
                "picture": rgb,
                "lossy": True,
                "mask": masks[what],
                "query": sentence["sent"],
                "group": str(number),
                "ref": refs[-1]["ref_id"],
                "sentence": at,
            }
            for at, sentence in enumerate(refs[-1]["sentences"])
        ]
    folder = home / dataset
    folder.mkdir(parents=True, exist_ok=True)
    names = {84: "book", 37: "sports ball"}
    instances = {
        "info": {"description": "look-alike"},
        "images": images,
        "licenses": [],
        "annotations": annotations,
        "categories": [{"supercategory": "", "id": k, "name": name} for k, name in names.items()],
    }
    (folder / "instances.json").write_text(json.dumps(instances), encoding="utf-8")
    (folder / f"refs({split_by}).p").write_bytes(python2_pickle.dumps(refs))
    return found


def _ref(place: int, image: int, what: str, split: str) -> dict[str, Any]:
    sentences = [
        {
            "tokens": text.split(),
            "raw": text.capitalize() + "!",
            "sent_id": 70000 + 10 * place + at,
            "sent": text,
        }
        for at, text in enumerate(_SENTENCES[what])
    ]
    annotation = 10 * image + ("poster", "red ball").index(what)
    return {
        "sent_ids": [sentence["sent_id"] for sentence in sentences],
        "file_name": f"COCO_train2014_{image:012d}_{annotation % 10}.jpg",
        "ann_id": annotation,
        "ref_id": 500 + place,
        "image_id": image,
        "split": split,
        "sentences": sentences,
        "category_id": 84 if what == "poster" else 37,
    }
