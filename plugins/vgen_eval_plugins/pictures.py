"""What the families ask of an answered picture: is it one, is it flat, a copy, of another shape."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable

__all__ = [
    "ASPECT_TOLERANCE",
    "channel_range",
    "crop_letterbox",
    "has_wrong_aspect",
    "is_copy",
    "read_rgb",
    "resize",
]

RGB = NDArray[np.uint8]

ASPECT_TOLERANCE = 0.02
"""Relative difference of width / height above which an answer has another shape."""

COPY_LEVELS = 3.0
"""Mean absolute difference, in 8-bit levels, below which an answer is a copy of the input."""


def read_rgb(answer: Any) -> RGB:
    """The answer as contiguous uint8 (H, W, 3); Undecodable when it is no such picture."""
    if not isinstance(answer, np.ndarray):
        raise Undecodable(f"a picture was wanted, {type(answer).__name__} came")
    if answer.dtype != np.uint8 or answer.ndim != 3 or answer.shape[2] != 3:
        raise Undecodable(
            f"a uint8 (H, W, 3) picture was wanted, {answer.dtype} {answer.shape} came"
        )
    if answer.size == 0:
        raise Undecodable(f"the picture has no pixels: {answer.shape}")
    return np.ascontiguousarray(answer)


def resize(picture: NDArray[Any], *, height: int, width: int) -> NDArray[Any]:
    """(height, width) version: pixel areas averaged when it shrinks, bilinear when it grows."""
    if picture.shape[:2] == (height, width):
        return picture
    shrinks = height * width < picture.shape[0] * picture.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, (width, height), interpolation=method))


def channel_range(picture: RGB) -> int:
    """Largest spread, over the three channels, between the darkest and the brightest pixel."""
    spreads = []
    for channel in cv2.split(picture):
        low, high, _, _ = cv2.minMaxLoc(channel)
        spreads.append(round(high - low))
    return max(spreads)


def has_wrong_aspect(size: tuple[int, int], wanted: tuple[int, int]) -> bool:
    """Do two (height, width) sizes differ in shape by more than 2 % and more than rounding?"""
    height, width = size
    exact = height * wanted[1] / wanted[0]
    # a side is a whole number of pixels, so one pixel is no evidence in a small picture
    return abs(width - exact) > max(ASPECT_TOLERANCE * exact, 1.0)


def is_copy(answer: RGB, picture: RGB) -> bool:
    """Is the answer the input picture again, give or take its compression?"""
    height, width = picture.shape[:2]
    same = resize(answer, height=height, width=width)
    return bool(cv2.norm(same, picture, cv2.NORM_L1) / picture.size < COPY_LEVELS)


def crop_letterbox(answer: RGB, *, height: int, width: int) -> RGB:
    """The largest centred part of the answer that has the shape of (height, width)."""
    rows, columns = answer.shape[:2]
    if rows * width > columns * height:
        keep = max(1, round(columns * height / width))
        top = (rows - keep) // 2
        return np.ascontiguousarray(answer[top : top + keep])
    keep = max(1, round(rows * width / height))
    left = (columns - keep) // 2
    return np.ascontiguousarray(answer[:, left : left + keep])
