"""Look-alikes of the releases of semantic labels, written after the notes on their layouts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from geometry import COUNT, save_picture
from views import view

STREET = (7, 8, 11, 23, 26, 24, 21, 13, 0)
"""Label ids of Cityscapes, one of them ignored."""

PARTS = ("skin", "hair", "neck", "l_eye", "cloth")
CATEGORIES = (1, 3, 62, 67, 187, 190, 199)


def write_cityscapes(root: Path) -> None:
    for at in range(COUNT):
        seen = view(at, 1024, 2048)
        ids = np.array([*STREET, 23], np.uint8)[seen.objects % len(STREET)]
        frame = f"frankfurt_000000_{at:06d}"
        save_picture(
            root / f"cityscapes/leftImg8bit/val/frankfurt/{frame}_leftImg8bit.png", seen.rgb
        )
        save_picture(root / f"cityscapes/gtFine/val/frankfurt/{frame}_gtFine_labelIds.png", ids)


def write_faces(root: Path, numbers: tuple[int, ...]) -> None:
    """The official layout, faces of these numbers."""
    base = root / "celebamask_hq"
    for at, number in enumerate(numbers):
        seen, small = view(at, 1024, 1024), view(at, 512, 512)
        save_picture(base / f"CelebA-HQ-img/{number}.jpg", seen.rgb)
        for place, part in enumerate(PARTS):
            mask = small.objects == place
            if mask.any():
                stored = np.repeat((mask * np.uint8(255))[..., None], 3, axis=2)
                folder = base / f"CelebAMask-HQ-mask-anno/{number // 2000}"
                save_picture(folder / f"{number:05d}_{part}.png", stored)


def write_coco(root: Path, count: int = 150) -> None:
    """As many pictures as a draw wants; those after the first few are small."""
    entries = []
    for at in range(count):
        seen = view(at, 480, 640) if at < COUNT else view(at, 24, 32)
        name = f"{at + 139:012d}"
        ids = (seen.objects + 2).astype(np.int64) * 1000
        ids[seen.objects < 0] = 0
        painted = np.stack([ids & 255, ids >> 8 & 255, ids >> 16], axis=2).astype(np.uint8)
        save_picture(root / f"coco/val2017/{name}.jpg", seen.rgb)
        save_picture(root / f"coco/annotations/panoptic_val2017/{name}.png", painted)
        segments = [
            {"id": int(i), "category_id": CATEGORIES[int(i) // 1000 % len(CATEGORIES)]}
            for i in np.unique(ids)
            if i
        ]
        entries.append({"image_id": at, "file_name": f"{name}.png", "segments_info": segments})
    (root / "coco/annotations/panoptic_val2017.json").write_text(
        json.dumps({"annotations": entries})
    )
