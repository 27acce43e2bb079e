"""FSC-147: pictures of height 384, points, splits and names of what is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalikes.files import write_jpeg
from lookalikes.scenes import crowd

__all__ = ["write"]

KINDS = ("sea shells", "hot air balloons", "green peas")


def write(root: Path, *, samples: int = 3, split: str = "test") -> list[dict[str, Any]]:
    """`fsc147/`: images_384_VarV2, annotations, splits and classes; what is returned is `split`.

    The split's pictures stand in its own order, which is not that of the annotations; pictures of
    the other splits have annotations too.
    """
    home = root / "fsc147"
    annotations: dict[str, Any] = {}
    splits: dict[str, list[str]] = {
        key: [] for key in ("test", "test_coco", "val", "val_coco", "train")
    }
    lines: list[str] = []
    found: list[dict[str, Any]] = []
    for place in range(samples + 2):
        name, kind = f"{7 + 3 * place}.jpg", KINDS[place % len(KINDS)]
        rgb, centres = crowd(60 + place, 9 + 5 * place, width=576, height=384)
        write_jpeg(home / "images_384_VarV2" / name, rgb)
        annotations[name] = _annotation(rgb, centres, name)
        lines.append(f"{name}\t{kind}\n")
        if place >= samples:
            splits["train" if place == samples else ("val" if split != "val" else "test")] += [name]
            continue
        splits[split].insert(0, name)
        found.insert(
            0,
            {
                "name": name,
                "picture": rgb,
                "lossy": True,
                "query": kind,
                "count": len(centres),
                "points": centres,
                "group": name,
            },
        )
    splits["test_coco"] = splits["test"][:1]
    for file, record in (
        ("annotation_FSC147_384", annotations),
        ("Train_Test_Val_FSC_147", splits),
    ):
        (home / f"{file}.json").write_text(json.dumps(record), encoding="ascii")
    (home / "ImageClasses_FSC147.txt").write_text("".join(lines), encoding="ascii")
    return found


def _annotation(rgb: NDArray[np.uint8], centres: NDArray[np.float64], name: str) -> dict[str, Any]:
    height, width = rgb.shape[:2]
    boxes = [
        [[x - 9, y - 9], [x - 9, y + 9], [x + 9, y + 9], [x + 9, y - 9]]
        for x, y in centres[:3].tolist()
    ]
    return {
        "H": 2 * height,
        "W": 2 * width,
        "box_examples_coordinates": boxes,
        "box_examples_path": [f"box_examples/{name}_{at}.jpg" for at in range(3)],
        "density_path": f"gt_density_map_adaptive/{name}.npy",
        "density_path_fixed": f"gt_density_map_fixed/{name}.npy",
        "img_path": f"images/{name}",
        "points": centres.tolist(),
        "r": [9, 9],
        "ratio_h": 0.5,
        "ratio_w": 0.5,
    }
