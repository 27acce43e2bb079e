"""Manga109's pages with the masks of MangaSegmentation, one COCO-like JSON a book."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco_masks

from lookalikes.files import rle_counts, write_jpeg

__all__ = ["CATEGORIES", "write"]

CATEGORIES = ("frame", "text", "face", "body", "balloon", "onomatopoeia")
"""By number, from 1."""

HEIGHT, WIDTH = 1170, 1654
PAGES = (("ARMS", 3), ("ARMS", 12), ("BEMADER_P", 5))


def _page(number: int) -> tuple[NDArray[np.uint8], list[tuple[str, Any, NDArray[np.bool_]]]]:
    """A page of ink on paper, and its things: category, segmentation, mask."""
    rgb = np.full((HEIGHT, WIDTH, 3), 250, np.uint8)
    things: list[tuple[str, Any, NDArray[np.bool_]]] = []
    for side in (0, 1):
        left, top = 60 + 830 * side, 50
        frame = np.zeros((HEIGHT, WIDTH), bool)
        frame[top : top + 520, left : left + 700] = True
        rgb[frame] = 216 - 40 * side
        right, bottom = left + 700, top + 520
        corners = [left, top, right, top, right, bottom, left, bottom]
        things.append(("frame", [[float(x) for x in corners]], frame))
    y, x = np.ogrid[:HEIGHT, :WIDTH]
    for middle, category, level in (
        ((300 + 20 * number, 250), "balloon", 255),
        ((1200, 300), "balloon", 255),
        ((520, 400), "face", 90),
    ):
        mask = (x - middle[0]) ** 2 / 9 + (y - middle[1]) ** 2 / 4 <= 900
        rgb[mask] = level
        packed: Any = coco_masks.encode(np.asfortranarray(mask, np.uint8))
        packed["counts"] = packed["counts"].decode("ascii")
        runs = {"size": [HEIGHT, WIDTH], "counts": rle_counts(mask)}
        things.append((category, runs if category == "face" else packed, mask))
    return rgb, things


def write(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """`manga109/images/<Book>/NNN.jpg`, `manga109/segmentation/<Book>.json`; `samples` pages.

    One entry a page and category, with the union of its masks: polygons, compressed and plain runs
    all occur. Categories follow their numbers. The second page of a book has no face, and a further
    page of the JSON has no mask at all.
    """
    home = root / "manga109"
    books: dict[str, dict[str, list[Any]]] = {}
    found = []
    for place in range(samples):
        book, page = PAGES[place % len(PAGES)]
        rgb, things = _page(place)
        if place == 1:
            things = [thing for thing in things if thing[0] != "face"]
        write_jpeg(home / "images" / book / f"{page:03d}.jpg", rgb)
        record = books.setdefault(book, {"images": [], "annotations": []})
        record["images"].append(_image(book, page))
        record["annotations"] += [
            {
                "id": 1000 * page + at,
                "image_id": page,
                "category_id": CATEGORIES.index(category) + 1,
                "iscrowd": 0,
                "area": int(mask.sum()),
                "segmentation": segmentation,
            }
            for at, (category, segmentation, mask) in enumerate(things)
        ]
        for category in CATEGORIES:
            masks = [mask for name, _, mask in things if name == category]
            if masks:
                found.append(
                    {
                        "book": book,
                        "page": page,
                        "picture": rgb,
                        "lossy": True,
                        "class": category,
                        "mask": np.logical_or.reduce(masks),
                        "group": f"{book}/{page:03d}",
                    }
                )
    (home / "segmentation").mkdir(parents=True, exist_ok=True)
    for book, record in books.items():
        blank = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
        write_jpeg(home / "images" / book / "099.jpg", blank)
        record["images"].append(_image(book, 99))
        whole = record | {
            "categories": [{"id": k, "name": name} for k, name in enumerate(CATEGORIES, 1)]
        }
        path = home / "segmentation" / f"{book}.json"
        path.write_text(json.dumps(whole), encoding="utf-8")
    return found


def _image(book: str, page: int) -> dict[str, Any]:
    return {"id": page, "file_name": f"{book}/{page:03d}.jpg", "height": HEIGHT, "width": WIDTH}
