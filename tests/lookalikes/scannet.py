"""ScanNet in Marigold's list of 800: colour in JPEG, depth in millimetres."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np

from lookalikes.files import write_jpeg, write_png
from lookalikes.scenes import room

__all__ = ["LIST", "write"]

LIST = "scannet_val_sampled_list_800_1.txt"
HOMES = (("scene0406_02", "000300"), ("scene0088_02", "001100"), ("scene0645_02", "000800"),
         ("scene0088_02", "000100"))  # fmt: skip
"""The list is shuffled: its order is not the folders'."""


def write(root: Path, *, samples: int = 3, large_colour: bool = False) -> list[dict[str, Any]]:
    """`scannet/<scene>/color/N.jpg` and `depth/N.png` (640 x 480).

    `large_colour`: pictures of 1296 x 968 as the sensor gives them; the picture returned is then
    that large one, which a reader brings to the depth's size.
    """
    lines, found = [], []
    for place in range(samples):
        scene, frame = HOMES[place]
        view = room(place)
        rgb = view.rgb
        if large_colour:
            rgb = np.asarray(cv2.resize(rgb, (1296, 968), interpolation=cv2.INTER_LINEAR), np.uint8)
        colour, depth = f"{scene}/color/{frame}.jpg", f"{scene}/depth/{frame}.png"
        write_jpeg(root / "scannet" / colour, rgb)
        levels = np.round(view.depth * 1000.0).astype(np.uint16)
        levels[:, :12] = 0
        levels[200:240, 300:330] = 0
        write_png(root / "scannet" / depth, levels)
        lines.append(f"{colour} {depth}\n")
        metres = levels.astype(np.float32) / 1000
        found.append(
            {
                "picture": rgb,
                "lossy": True,
                "depth": np.where(levels > 0, metres, np.float32(np.nan)),
                "group": scene,
                "frame": frame,
            }
        )
    (root / "scannet" / LIST).write_text("".join(lines), encoding="ascii")
    return found
