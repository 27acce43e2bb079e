"""The parts of a picture that depth benchmarks score: the field's named crops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

__all__ = ["Crop", "crop_of"]

Crop = Literal["none", "eigen_nyu", "eigen", "garg"]

_NYU = (45, 471, 41, 601)
"""Rows and columns of 480 x 640 (Eigen et al., 2014)."""

_SHARES: Mapping[str, tuple[float, float, float, float]] = {
    "eigen": (0.3324324, 0.91351351, 0.0359477, 0.96405229),
    "garg": (0.40810811, 0.99189189, 0.03594771, 0.96405229),
}
"""Of height and width, on KITTI (Eigen et al., 2014; Garg et al., 2016)."""


def crop_of(crop: Crop, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Rows and columns of a map (H, W); ValueError when the crop is not one of such maps."""
    if crop == "none":
        return slice(None), slice(None)
    height, width = shape
    if crop == "eigen_nyu":
        if (height, width) != (480, 640):
            raise ValueError(f"crop eigen_nyu is of 640x480 pixels, the map is {width}x{height}")
        top, bottom, left, right = _NYU
    else:
        top, bottom = (int(share * height) for share in _SHARES[crop][:2])
        left, right = (int(share * width) for share in _SHARES[crop][2:])
    return slice(top, bottom), slice(left, right)
