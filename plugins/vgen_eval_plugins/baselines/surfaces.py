"""Unlearned guesses of depth and normals: height in the picture, detail, slopes of brightness."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.baselines.vision import reduce
from vgen_eval_plugins.pictures import RGB

__all__ = ["guess_depth", "guess_nearness", "guess_normals", "paint_nearness", "paint_normals"]

Plane = NDArray[np.float32]

SURFACE_SIDE = 256
"""Long side that cues are read at: they are of large things."""

HEIGHT_SHARE = 0.75
"""Weight of the height in the picture; the rest is local detail."""

BLUR = 24
"""A blur's sigma is the long side divided by this."""

SLOPE = 12.0
"""Tilt for a change of brightness, in whole ranges, over the long side."""

LEAN = 1.0
"""Up against toward, at the bottom of the picture: a floor there faces up and not the camera."""

NEAR_M, FAR_M = 2.0, 10.0
_DETAIL_FULL = 95
"""Percentile of local detail that counts as near."""


def _grey(picture: RGB) -> Plane:
    """float32 (h, w) in 0..1, its long side at most SURFACE_SIDE."""
    small, _ = reduce(picture, SURFACE_SIDE)
    grey = cv2.cvtColor(np.ascontiguousarray(small), cv2.COLOR_RGB2GRAY)
    return np.asarray(grey, np.float32) / np.float32(255)


def _blur(plane: Plane) -> Plane:
    sigma = max(1.0, max(plane.shape) / BLUR)
    return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma), np.float32)


def _enlarge(plane: NDArray[np.float32], picture: RGB) -> NDArray[np.float32]:
    height, width = picture.shape[:2]
    grown = cv2.resize(plane, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(grown, np.float32)


def _lowness(rows: int) -> Plane:
    """float32 (rows, 1): 0 at the top of a picture, 1 at its bottom."""
    return (np.arange(rows, dtype=np.float32)[:, None] + np.float32(0.5)) / np.float32(rows)


def guess_nearness(picture: RGB) -> Plane:
    """float32 (H, W) in 0..1: lower in the picture and richer in detail is taken for nearer."""
    grey = _grey(picture)
    # not cv2.magnitude, whose last bit changes with where its result lies in memory
    slopes = np.abs(cv2.Sobel(grey, cv2.CV_32F, 1, 0)) + np.abs(cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    detail = _blur(np.asarray(slopes, np.float32))
    full = float(np.percentile(detail, _DETAIL_FULL))
    detail = np.clip(detail / np.float32(max(full, 1e-6)), 0, 1)
    near = np.float32(HEIGHT_SHARE) * _lowness(len(grey)) + np.float32(1 - HEIGHT_SHARE) * detail
    return np.clip(_enlarge(near, picture), 0, 1)


def paint_nearness(picture: RGB) -> RGB:
    """uint8 (H, W, 3): near is bright."""
    grey = np.asarray(np.rint(guess_nearness(picture) * 255), np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def guess_depth(picture: RGB) -> Plane:
    """float32 (H, W) in metres: nearness as 1 / depth between 1 / 10 m and 1 / 2 m."""
    far, near = np.float32(1 / FAR_M), np.float32(1 / NEAR_M)
    return np.asarray(1 / (far + guess_nearness(picture) * (near - far)), np.float32)


def guess_normals(picture: RGB) -> NDArray[np.float32]:
    """float32 (H, W, 3), x right, y up, z toward.

    Smooth brightness is taken for height, and the lower half for more and more of a floor.
    """
    smooth = _blur(_grey(picture))
    scale = np.float32(SLOPE * max(smooth.shape) / SURFACE_SIDE)
    right = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=1 / 8) * scale
    down = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=1 / 8) * scale
    floor = np.float32(LEAN) * np.clip(2 * _lowness(len(smooth)) - 1, 0, 1)
    # a slope that rises to the right faces left, one that rises downward faces up
    normals = cv2.merge([-right, down + floor, np.ones_like(smooth)])
    normals = _enlarge(np.asarray(normals, np.float32), picture)
    return np.asarray(normals / np.linalg.norm(normals, axis=2, keepdims=True), np.float32)


def paint_normals(picture: RGB) -> RGB:
    """uint8 (H, W, 3): red to the right, green up, blue toward the camera."""
    return np.asarray(np.rint((guess_normals(picture) + 1) * 127.5), np.uint8)
