"""CelebAMask-HQ: one mask file a part; and PixelArena's export of it, indices in one file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from lookalikes.files import sha256, write_indexed, write_jpeg, write_png

__all__ = ["CLASSES", "PALETTE", "PARTS", "write_export", "write_official"]

CLASSES = (
    "background", "skin", "nose", "eye_glass", "left_eye", "right_eye", "left_eyebrow",
    "right_eyebrow", "left_ear", "right_ear", "mouth", "upper_lip", "lower_lip", "hair", "hat",
    "ear_ring", "necklace", "neck", "cloth",
)  # fmt: skip
PARTS = (
    "skin", "nose", "eye_g", "l_eye", "r_eye", "l_brow", "r_brow", "l_ear", "r_ear", "mouth",
    "u_lip", "l_lip", "hair", "hat", "ear_r", "neck_l", "neck", "cloth",
)  # fmt: skip
"""File names of classes 1 to 18; where two cover a pixel the later one has it."""

PALETTE = [
    (0, 0, 0), (204, 0, 0), (76, 153, 0), (204, 204, 0), (51, 51, 255), (204, 0, 204),
    (0, 255, 255),
    (255, 204, 204), (102, 51, 0), (255, 0, 0), (102, 204, 0), (255, 255, 0), (0, 0, 153),
    (0, 0, 204), (255, 51, 153), (0, 204, 204), (0, 51, 0), (255, 153, 51), (0, 204, 0),
]  # fmt: skip
NUMBERS = (0, 27, 2001)


def _parts(number: int) -> dict[str, NDArray[np.bool_]]:
    """Part -> (512, 512) mask; left and right are the person's, so that left is on the right."""
    shift, found = 4 * number, {}

    def ellipse(x: int, y: int, width: int, height: int) -> NDArray[np.bool_]:
        canvas = np.zeros((512, 512), np.uint8)
        cv2.ellipse(canvas, (x + shift, y), (width, height), 0, 0, 360, 255, -1)
        return canvas > 0

    found["neck"] = ellipse(250, 430, 60, 80)
    found["skin"] = ellipse(250, 260, 120, 160)
    found["hair"] = ellipse(250, 150, 150, 120) & ~ellipse(250, 280, 112, 150)
    found["nose"] = ellipse(250, 270, 18, 34)
    for part, x in (("l_", 296), ("r_", 204)):
        found[part + "eye"] = ellipse(x, 230, 24, 10)
        found[part + "brow"] = ellipse(x, 205, 30, 6)
    found["l_ear"], found["r_ear"] = ellipse(372, 260, 14, 34), ellipse(128, 260, 14, 34)
    found["u_lip"], found["l_lip"] = ellipse(250, 336, 40, 8), ellipse(250, 352, 40, 8)
    found["cloth"] = ellipse(250, 520, 200, 60)
    if number % 2:
        found["eye_g"] = ellipse(296, 232, 40, 22) | ellipse(204, 232, 40, 22)
        found["ear_r"] = ellipse(372, 300, 6, 12)
    return found


def _indices(parts: dict[str, NDArray[np.bool_]]) -> NDArray[np.uint8]:
    indices = np.zeros((512, 512), np.uint8)
    for place, part in enumerate(PARTS, 1):
        if part in parts:
            indices[parts[part]] = place
    return indices


def _photo(indices: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    muted = np.array(PALETTE, np.float64) * 0.5 + (90, 80, 76)
    picture = muted.astype(np.uint8)[indices]
    return np.asarray(cv2.resize(picture, (size, size), interpolation=cv2.INTER_LINEAR), np.uint8)


def _labels(indices: NDArray[np.uint8]) -> dict[str, NDArray[np.bool_]]:
    masks = {name: indices == place for place, name in enumerate(CLASSES)}
    return {name: mask for name, mask in masks.items() if mask.any()}


def write_official(root: Path, *, numbers: Sequence[int] = NUMBERS) -> list[dict[str, Any]]:
    """`CelebA-HQ-img/N.jpg` (1024) and `CelebAMask-HQ-mask-anno/{N//2000}/NNNNN_part.png` (512).

    Part files are RGB, white on black, and only those of parts that are there. `labels` is at 512.
    """
    home = root / "celebamask_hq"
    found = []
    for place, number in enumerate(numbers):
        parts = _parts(place)
        indices = _indices(parts)
        picture = _photo(indices, 1024)
        write_jpeg(home / "CelebA-HQ-img" / f"{number}.jpg", picture)
        folder = home / "CelebAMask-HQ-mask-anno" / str(number // 2000)
        for part, mask in parts.items():
            white = np.repeat(mask[:, :, None], 3, axis=2).astype(np.uint8) * 255
            write_png(folder / f"{number:05d}_{part}.png", white)
        found.append(
            {"number": number, "picture": picture, "lossy": True, "labels": _labels(indices)}
        )
    return found


def write_export(
    root: Path, *, samples: int = 3, sizes: tuple[int, ...] = (512, 1024)
) -> list[dict[str, Any]]:
    """`eval-set/celeb/id-150.json`, `images/<hex>.jpg` (512) and `masks-<size>/<hex>.png`, mode P.

    `labels` is at 512, `labels_1024` the same doubled. The list's order is the samples' order.
    """
    home = root / "celebamask_hq"
    names, found = [], []
    for place in range(samples):
        name = sha256(f"face {place}".encode())[:32]
        indices = _indices(_parts(place))
        large = np.repeat(np.repeat(indices, 2, axis=0), 2, axis=1)
        picture = _photo(indices, 512)
        write_jpeg(home / "images" / f"{name}.jpg", picture)
        for size in sizes:
            path = home / f"masks-{size}" / f"{name}.png"
            write_indexed(path, indices if size == 512 else large, PALETTE)
        names.append(name)
        found.append(
            {
                "name": name,
                "picture": picture,
                "lossy": True,
                "labels": _labels(indices),
                "labels_1024": _labels(large),
            }
        )
    listed = home / "eval-set" / "celeb" / "id-150.json"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text(json.dumps(names), encoding="ascii")
    return found
