"""The grey levels that every classic measure reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["luma"]

_WEIGHTS = np.array([0.299, 0.587, 0.114])
"""Of R, G and B: ITU-R BT.601."""


def luma(picture: NDArray[Any]) -> NDArray[np.float64]:
    """float64 (H, W), whole levels 0..255, of uint8 (H, W), (H, W, 1), (H, W, 3) or (H, W, 4).

    Rounded to 8 bits, as the programs that came with NIQE, BRISQUE and SSIM read a colour picture:
    so grey saved as RGB measures as grey does. ValueError for another shape or type, for no pixels,
    and for a picture that is seen through: what lies behind it is not known here.
    """
    if picture.dtype != np.uint8:
        raise ValueError(f"uint8 levels were wanted, {picture.dtype} came")
    if picture.size == 0:
        raise ValueError(f"the picture has no pixels: {picture.shape}")
    if picture.ndim == 3 and picture.shape[2] == 4:
        if (picture[:, :, 3] != 255).any():
            raise ValueError("the picture is seen through in places; lay it on a colour first")
        picture = picture[:, :, :3]
    if picture.ndim == 3 and picture.shape[2] == 3:
        return np.asarray(np.rint(picture.astype(np.float64) @ _WEIGHTS))
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[:, :, 0]
    if picture.ndim != 2:
        raise ValueError(f"(H, W), or 1, 3 or 4 channels were wanted, {picture.shape} came")
    return picture.astype(np.float64)
