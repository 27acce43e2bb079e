"""Depth from a stereo pair's disparity, and surface normals derived from depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_JUMP", "depth_from_disparity", "normals_from_depth"]

MAX_JUMP = 0.02
"""Share of its own depth by which a neighbour may lie nearer or farther on one surface."""
BAND = 32
"""Rows whose normals are derived at one time."""


def depth_from_disparity(
    disparity: NDArray[Any], *, focal_px: float, baseline_mm: float, doffs: float
) -> NDArray[np.float32]:
    """(H, W) metres along the optical axis, NaN where the disparity is not known.

    Z = baseline * focal / (d + doffs), the convention of Middlebury Stereo 2014; `doffs` is the
    distance in x of the two principal points. Unknown: not finite, or no point before the camera.
    """
    shift = disparity.astype(np.float64) + doffs
    shift[~(np.isfinite(shift) & (shift > 0))] = np.nan
    return np.asarray(baseline_mm / 1000.0 * focal_px / shift).astype(np.float32)


def normals_from_depth(
    depth: NDArray[Any], *, focal_px: float, principal_px: tuple[float, float]
) -> NDArray[np.float32]:
    """(H, W, 3) unit normals, x right, y up, z towards the camera, derived from depth in metres.

    Each pixel is back-projected through its centre; the normal is the cross product of the
    central differences along columns and rows, turned to face the camera. It is exact on planes,
    of second order on curved surfaces. NaN: at the border; where the pixel or one of its four
    neighbours has no depth; and where a neighbour's depth differs by more than MAX_JUMP of the
    pixel's own, for between two surfaces there is no normal.
    """
    rows, columns = depth.shape
    normals = np.full((rows, columns, 3), np.nan, np.float32)
    if rows < 3 or columns < 3:
        return normals
    x = (np.arange(columns) - principal_px[0]) / focal_px
    y = (principal_px[1] - np.arange(rows)[:, None]) / focal_px
    # some rows at a time: 170 bytes a pixel are in hand
    for first in range(1, rows - 1, BAND):
        last = min(first + BAND, rows - 1)
        around = slice(first - 1, last + 1)
        normals[first:last, 1:-1] = _inner(depth[around].astype(np.float64), x, y[around])
    return normals


def _inner(z: NDArray[Any], x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Normals of all pixels but those at the border; `x`, `y`: of the rays at depth 1."""
    point = np.stack([x * z, y * z, -z], axis=2)
    across = point[1:-1, 2:] - point[1:-1, :-2]
    upwards = point[:-2, 1:-1] - point[2:, 1:-1]
    inner = np.cross(across, upwards)
    middle = z[1:-1, 1:-1]
    for near in (z[1:-1, 2:], z[1:-1, :-2], z[:-2, 1:-1], z[2:, 1:-1]):
        inner[~(np.abs(near - middle) <= MAX_JUMP * middle)] = np.nan  # NaN is no neighbour either
    away = (inner * point[1:-1, 1:-1]).sum(axis=2, keepdims=True) > 0
    inner *= np.where(away, -1.0, 1.0) / np.linalg.norm(inner, axis=2, keepdims=True)
    return np.asarray(inner)
