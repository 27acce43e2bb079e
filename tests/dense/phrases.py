"""Look-alikes of the releases of referring segmentation, after the notes on their layouts."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from geometry import COUNT, save_picture
from views import view

SPLITS = {"refcoco": "unc", "refcoco+": "unc", "refcocog": "umd"}


def outline(mask: np.ndarray) -> list[list[float]]:
    """The largest outline of a mask, as COCO writes polygons: x, y, x, y, ..."""
    found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = max(found, key=cv2.contourArea)
    return [[float(v) for v in largest.reshape(-1)]]


def write_refer(root: Path) -> None:
    """Three data sets over the same pictures: two sentences a reference, pickles of protocol 2."""
    base = root / "refer_seg"
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    refs: list[dict[str, Any]] = []
    for at in range(COUNT):
        seen = view(at, 320, 420)
        name = f"COCO_train2014_{at + 9:012d}.jpg"
        save_picture(base / "images/mscoco/images/train2014" / name, seen.rgb)
        images.append({"id": at + 9, "file_name": name, "height": 320, "width": 420})
        segmentation = outline(seen.objects == 2)
        annotations.append(
            {"id": 100 + at, "image_id": at + 9, "category_id": 1, "segmentation": segmentation,
             "iscrowd": 0, "area": 1.0, "bbox": [0, 0, 1, 1]}
        )  # fmt: skip
        sentences = [
            {"sent_id": 2 * at + n, "sent": text, "raw": text.title(), "tokens": text.split()}
            for n, text in enumerate(("the thing in the middle", "that thing"))
        ]
        refs.append(
            {"ref_id": at, "ann_id": 100 + at, "image_id": at + 9, "category_id": 1,
             "split": "val", "file_name": f"COCO_train2014_{at + 9:012d}_{100 + at}.jpg",
             "sent_ids": [2 * at, 2 * at + 1], "sentences": sentences}
        )  # fmt: skip
    for name, split_by in SPLITS.items():
        folder = base / name
        folder.mkdir(parents=True)
        (folder / "instances.json").write_text(
            json.dumps(
                {"images": images, "annotations": annotations,
                 "categories": [{"id": 1, "name": "thing", "supercategory": "thing"}]}
            )
        )  # fmt: skip
        (folder / f"refs({split_by}).p").write_bytes(pickle.dumps(refs, protocol=2))


def write_reasonseg(root: Path) -> None:
    for split in ("val", "test"):
        folder = root / "reason_seg/ReasonSeg" / split
        for at in range(COUNT):
            seen = view(at, 320, 420)
            save_picture(folder / f"{at:04d}.jpg", seen.rgb)
            points = np.reshape(outline(seen.objects == 2)[0], (-1, 2)).tolist()
            shapes = [
                {"label": "target", "points": points},
                {"label": "ignore", "points": [[0, 0], [20, 0], [20, 20], [0, 20]]},
                {"label": "flag", "points": [[0, 0], [400, 0], [400, 300]]},
            ]
            record = {"text": ["what stands in the caf\u00e9?", "what else?"], "is_sentence": True,
                      "shapes": shapes}  # fmt: skip
            text = json.dumps(record, ensure_ascii=False)
            (folder / f"{at:04d}.json").write_bytes(text.encode("cp1252" if at else "utf-8"))


def write_dram(root: Path) -> None:
    base, names = root / "dram/DRAM_processed", []
    for at in range(COUNT):
        seen = view(at, 320, 420)
        labels = np.array([0, 15, 3, 12, 1, 0], np.uint8)[np.clip(seen.objects, 0, 4)]
        save_picture(base / f"test/realism/painting_{at}.jpg", seen.rgb)
        save_picture(base / f"labels/realism/painting_{at}.png", labels)
        names.append(f"realism/painting_{at}\n")
    for name in ("dram", "dram_with_unseen", "realism"):
        (base / f"test/{name}.txt").write_text("".join(names))


def write_manga(root: Path) -> None:
    base = root / "manga109"
    images, annotations = [], []
    for at in range(COUNT):
        seen = view(at, 320, 420)
        save_picture(base / f"images/AkkeraKanjinchou/{at:03d}.jpg", seen.rgb)
        images.append(
            {"id": at, "file_name": f"AkkeraKanjinchou/{at:03d}.jpg", "height": 320, "width": 420}
        )
        for place, category in ((1, 4), (2, 5)):
            mask = seen.objects == place
            if mask.sum() > 50:
                annotations.append(
                    {"id": len(annotations), "image_id": at, "category_id": category,
                     "segmentation": outline(mask), "iscrowd": 0}
                )  # fmt: skip
    names = ("frame", "text", "onomatopoeia", "face", "body", "balloon")
    record = {"images": images, "annotations": annotations,
              "categories": [{"id": i, "name": n} for i, n in enumerate(names, 1)]}  # fmt: skip
    (base / "segmentation").mkdir(parents=True)
    (base / "segmentation/AkkeraKanjinchou.json").write_text(json.dumps(record))
