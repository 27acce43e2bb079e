"""A package of tiny photographs of the tests' own, lines about them, and a scene."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from vgen_eval.imaging import encode_png
from vgen_eval_plugins.samples.reader import Samples

PACKAGE = "tiny_photographs"
Make = Callable[..., Samples]


class Photos:
    """Files of the package, and what lines say of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pixels = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
        self.add("photo.png", encode_png(self.pixels))
        disparity = np.linspace(4, 40, 1200, dtype=np.float32).reshape(30, 40)
        disparity[3, 5:8] = np.nan, np.inf, -np.inf
        self.disparity = disparity
        self.save(disparity)

    def add(self, name: str, data: bytes) -> str:
        (self.folder / name).write_bytes(data)
        return hashlib.sha256(data).hexdigest()

    def save(self, disparity: Any, name: str = "disp.npz") -> str:
        np.savez(self.folder / name, disparity)
        return self.sha256(name)

    def sha256(self, name: str) -> str:
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()

    def line(self, **changes: Any) -> dict[str, Any]:
        line = {"id": "a", "group": "g", "image": "photo.png", "sha256": self.sha256("photo.png")}
        return {key: value for key, value in {**line, **changes}.items() if value is not ...}

    def stereo(self, **changes: Any) -> dict[str, Any]:
        block = {
            "file": "disp.npz", "sha256": self.sha256("disp.npz"),
            "focal_px": 50.0, "baseline_mm": 120.0, "doffs": 2.0, "principal_px": [19.5, 14.0],
        }  # fmt: skip
        return {key: value for key, value in {**block, **changes}.items() if value is not ...}


def toy_scene(name: str = "toy", **changes: Any) -> dict[str, Any]:
    """A floor, a wall and two balls under a sky."""
    base = {"colour": [180, 120, 60]}
    return {
        "name": name,
        "camera": {"width": 48, "height": 36, "focal_px": 40, "principal_px": [23.5, 17.5],
                   "eye_m": 1.0},
        "light": {"toward": [1, 2, 1]},
        "sky": {"colour": [200, 220, 255], "label": "sky"},
        "objects": [
            {**base, "shape": "plane", "name": "floor", "label": "floor", "point": [0, 0, 0],
             "normal": [0, 1, 0]},
            {**base, "shape": "box", "name": "wall", "label": "wall", "centre": [0, 1, -8],
             "size": [50, 2, 1]},
            {**base, "shape": "sphere", "name": "left", "label": "ball", "centre": [-1, 0.5, -4],
             "radius": 0.5},
            {**base, "shape": "sphere", "name": "right", "label": "ball", "centre": [1, 0.5, -5],
             "radius": 0.5},
        ],
        **changes,
    }  # fmt: skip
