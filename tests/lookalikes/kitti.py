"""KITTI's Eigen test split with the annotated depth of the depth benchmark; one line has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lookalikes.files import write_png
from lookalikes.scenes import street

__all__ = ["LIST", "write"]

LIST = "eigen_test_files_with_gt.txt"
WIDTH, HEIGHT = 1242, 375
DRIVES = (("2011_09_26", "2011_09_26_drive_0002_sync", 721.5377),
          ("2011_09_26", "2011_09_26_drive_0009_sync", 721.5377),
          ("2011_09_28", "2011_09_28_drive_0002_sync", 707.0493))  # fmt: skip


def write(root: Path, *, samples: int = 3) -> list[dict[str, Any]]:
    """`kitti/<date>/<drive>/image_02/data/N.png`, `<drive>/proj_depth/groundtruth/image_02/N.png`.

    Depth is 256 levels a metre where the LiDAR struck, and 0 elsewhere. The second line of the
    list says None and is no sample.
    """
    home = root / "kitti"
    lines, found = [], []
    for place in range(samples):
        date, drive, focal = DRIVES[place % len(DRIVES)]
        frame = f"{69 + 54 * place:010d}.png"
        view = street(place, width=WIDTH, height=HEIGHT)
        colour = f"{date}/{drive}/image_02/data/{frame}"
        truth = f"{drive}/proj_depth/groundtruth/image_02/{frame}"
        write_png(home / colour, view.rgb)
        rng = np.random.default_rng(place)
        struck = rng.random((HEIGHT, WIDTH)) < 0.2
        struck[:120] = False  # the beams end below the top of the picture
        near = np.nan_to_num(view.depth, nan=0.0)
        levels = np.where(struck & (near < 90), np.round(near * 256), 0).astype(np.uint16)
        write_png(home / truth, levels)
        lines.append(f"{colour} {truth} {focal}\n")
        if not place:
            without = f"{date}/{drive}/image_02/data/{frame.replace('69', '70')}"
            write_png(home / without, view.rgb)
            lines.append(f"{without} None {focal}\n")
        metres = levels.astype(np.float32) / 256
        found.append(
            {
                "picture": view.rgb,
                "depth": np.where(levels > 0, metres, np.float32(np.nan)),
                "group": drive,
                "frame": frame,
            }
        )
    (home / LIST).write_text("".join(lines), encoding="ascii")
    return found
