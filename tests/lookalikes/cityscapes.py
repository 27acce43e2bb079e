"""Cityscapes' validation set: street pictures and maps of label ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lookalikes.files import write_png
from lookalikes.scenes import street

__all__ = ["CATEGORY", "IDS", "write"]

IDS = {
    "road": 7, "sidewalk": 8, "building": 11, "wall": 12, "fence": 13, "pole": 17,
    "traffic light": 19, "traffic sign": 20, "vegetation": 21, "terrain": 22, "sky": 23,
    "person": 24, "rider": 25, "car": 26, "truck": 27, "bus": 28, "train": 31, "motorcycle": 32,
    "bicycle": 33,
}  # fmt: skip
"""Label ids of the 19 classes, in the order of their training ids; all others are ignored."""

CATEGORY = {
    "flat": ("road", "sidewalk"),
    "construction": ("building", "wall", "fence"),
    "object": ("pole", "traffic light", "traffic sign"),
    "nature": ("vegetation", "terrain"),
    "sky": ("sky",),
    "human": ("person", "rider"),
    "vehicle": ("car", "truck", "bus", "train", "motorcycle", "bicycle"),
}

FRAMES = (("frankfurt", "000000", "000294"), ("frankfurt", "000001", "000538"),
          ("lindau", "000000", "000019"), ("munster", "000000", "000019"))  # fmt: skip


def write(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """`cityscapes/leftImg8bit/val/...` and `cityscapes/gtFine/val/...`, 2048 x 1024.

    `labels`: the 19 classes, `categories`: the seven. The own vehicle (1), a parking place (9), a
    static thing (4) and a trailer (30) are ignored. The scene is cast at half the size and every
    pixel doubled.
    """
    home = root / "cityscapes"
    found = []
    for place in range(samples):
        city, sequence, frame = FRAMES[place]
        view = street(place, width=1024, height=512)
        ids = np.zeros(view.places.shape, np.uint8)
        for label, mask in view.masks().items():
            ids[mask] = IDS[label]
        ids[480:] = 1
        ids[440:470, 300:420] = 9
        ids[300:330, 40:60] = 4
        ids[300:330, 70:90] = 30
        ids[200:240, 480:500] = IDS["traffic sign"]
        picture, ids = (np.repeat(np.repeat(a, 2, axis=0), 2, axis=1) for a in (view.rgb, ids))
        stem = f"{city}_{sequence}_{frame}"
        write_png(home / "leftImg8bit" / "val" / city / f"{stem}_leftImg8bit.png", picture)
        truth = home / "gtFine" / "val" / city
        write_png(truth / f"{stem}_gtFine_labelIds.png", ids)
        write_png(truth / f"{stem}_gtFine_instanceIds.png", ids.astype(np.uint16))
        labels = {name: ids == number for name, number in IDS.items()}
        groups = {
            group: np.logical_or.reduce([labels[name] for name in names])
            for group, names in CATEGORY.items()
        }
        found.append(
            {
                "name": stem,
                "picture": picture,
                "labels": {name: mask for name, mask in labels.items() if mask.any()},
                "categories": {name: mask for name, mask in groups.items() if mask.any()},
                "valid": np.isin(ids, list(IDS.values())),
                "city": city,
            }
        )
    return found
