"""DIODE's validation set: indoors and outdoor, depth, its mask, and normals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lookalikes.files import write_npy, write_png
from lookalikes.scenes import room, street

__all__ = ["write"]

WIDTH, HEIGHT = 1024, 768
HOMES = {
    "indoors": (("scene_00019", "scan_00183"), ("scene_00020", "scan_00184")),
    "outdoor": (("scene_00022", "scan_00193"), ("scene_00023", "scan_00195")),
}
"""Two scans of each domain; a third sample lies in the first scan."""


def write(
    root: Path, *, samples: int = 3, domain: str = "indoors", folder: str | None = None,
    normals: bool = True,
) -> list[dict[str, Any]]:  # fmt: skip
    """`diode/<domain>/scene_*/scan_*/*.png, *_depth.npy, *_depth_mask.npy, *_normal.npy`.

    `folder`: another name of the domain's folder (`outdoors`). Where the mask is 0 the depth is
    garbage, among it far larger than any true one. Normals of (0, 0, 0) are unknown; that they
    point right, up and towards the camera is a reading, the release does not say it.
    """
    found = []
    for place in range(samples):
        scene, scan = HOMES[domain][place % 2]
        name = f"{scene[6:]}_{scan[5:]}_{domain}_{150 + 10 * (place // 2):03d}_{10 * place:03d}"
        home = root / "diode" / (folder or domain) / scene / scan
        cast = room if domain == "indoors" else street
        view = cast(place, width=WIDTH, height=HEIGHT)
        write_png(home / f"{name}.png", view.rgb)
        rng = np.random.default_rng(place)
        known = np.isfinite(view.depth)
        known &= np.kron(rng.random((HEIGHT // 32, WIDTH // 32)) > 0.15, np.ones((32, 32))) > 0
        if domain == "outdoor":
            known &= np.nan_to_num(view.depth, nan=np.inf) < 300
        garbage = rng.choice([0.0, 0.0, 197.5, 4.2], size=(HEIGHT, WIDTH))
        depth = np.where(known, view.depth, garbage).astype(np.float32)
        write_npy(home / f"{name}_depth.npy", depth[:, :, None])
        write_npy(home / f"{name}_depth_mask.npy", known.astype(np.float32))
        truth = np.where(known[:, :, None], view.normals, np.nan).astype(np.float32)
        one: dict[str, Any] = {
            "name": name,
            "group": f"{scene}/{scan}",
            "domain": domain,
            "picture": view.rgb,
            "depth": np.where(known, depth, np.float32(np.nan)),
        }
        if normals:
            write_npy(home / f"{name}_normal.npy", np.nan_to_num(truth))
            one["normals"] = truth
        found.append(one)
    return sorted(found, key=lambda sample: str(sample["name"]))
