"""Truths with known shapes, scenes to decode in, and angles worked out the long way."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import Fit, Image
from vgen_eval.types import Scene

Floats = NDArray[np.float32]


def scene_of(
    height: int, width: int, *, original: tuple[int, int] | None = None, fit: Fit = "stretch"
) -> Scene:
    """A scene whose picture is of this size; its original as well, unless told."""
    coarse = np.random.default_rng(7).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    photo = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)
    size = original or (height, width)
    return Scene(image=Image(np.asarray(photo, np.uint8)), size=size, fit=fit)


def dome(height: int, width: int, *, bulge: float = 1.2) -> Floats:
    """A smooth bulge: left faces left, the top faces up, the middle the camera."""
    rows, columns = np.mgrid[:height, :width]
    x = bulge * ((columns + 0.5) / width * 2 - 1)
    y = bulge * (1 - (rows + 0.5) / height * 2)
    vectors = np.stack([x, y, np.ones_like(x)], axis=2)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=2, keepdims=True), np.float32)


def random_normals(height: int, width: int, *, seed: int = 0) -> Floats:
    vectors = np.random.default_rng(seed).normal(size=(height, width, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=2, keepdims=True), np.float32)


def angles_between(pred: NDArray[np.generic], target: NDArray[np.generic]) -> NDArray[np.float64]:
    """Degrees, by the arc tangent of |p x t| and p . t: good at every angle."""
    p, t = np.asarray(pred, np.float64), np.asarray(target, np.float64)
    across = np.linalg.norm(np.cross(p, t), axis=-1)
    return np.asarray(np.degrees(np.arctan2(across, (p * t).sum(axis=-1))))
