"""What the families ask of an answer: is it a picture, is it flat, a copy, of another size."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import Scene

__all__ = [
    "channel_range",
    "is_copy",
    "read_painted",
    "read_rgb",
    "resize",
    "size_flags",
]

RGB = NDArray[np.uint8]

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


def read_painted(answer: Any, scene: Scene) -> tuple[RGB, list[str]]:
    """The part of a painted answer that shows the original, contiguous, and what it is flagged.

    Flags: `wrong_aspect`, `copied_input`. Undecodable when the answer is no picture. Bars are
    nobody's answer: whatever else is asked of it is asked of this part.
    """
    given, geometry = read_rgb(answer), scene.geometry
    flags = ["wrong_aspect"] if geometry.has_other_shape(given.shape) else []
    if is_copy(np.ascontiguousarray(geometry.cut(given)), scene.image.array):
        flags.append("copied_input")
    return np.ascontiguousarray(geometry.crop(given)), flags


def resize(picture: NDArray[Any], *, height: int, width: int) -> NDArray[Any]:
    """(height, width) version: pixel areas averaged when it shrinks, bilinear when it grows.

    Not `imaging.resize`: what a photograph gains by cubic growth are rims around marks on it.
    """
    if picture.shape[:2] == (height, width):
        return picture
    shrinks = height * width < picture.shape[0] * picture.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(picture, (width, height), interpolation=method))


def size_flags(array: NDArray[Any], scene: Scene) -> list[str]:
    """`resized` and `wrong_aspect` of a native answer (H, W, ...), beside the picture seen."""
    seen = (scene.image.height, scene.image.width)
    flags = ["resized"] if array.shape[:2] != seen else []
    return [*flags, "wrong_aspect"] if scene.geometry.has_other_shape(array.shape) else flags


def channel_range(picture: RGB) -> int:
    """Largest spread, over the three channels, between the darkest and the brightest pixel."""
    spreads = []
    for channel in cv2.split(picture):
        low, high, _, _ = cv2.minMaxLoc(channel)
        spreads.append(round(high - low))
    return max(spreads)


def is_copy(answer: RGB, picture: RGB) -> bool:
    """Is the answer the input picture again, give or take its compression?"""
    height, width = picture.shape[:2]
    same = resize(answer, height=height, width=width)
    return bool(cv2.norm(same, picture, cv2.NORM_L1) / picture.size < COPY_LEVELS)
