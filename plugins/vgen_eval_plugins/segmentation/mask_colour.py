"""The colour that a target is painted in, on black."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.colours import AnyColour, Paint, as_rgb

__all__ = ["cut_colour", "far_from_both"]

FAR_LEVELS = 32


def cut_colour(
    picture: NDArray[np.uint8], colour: AnyColour | Paint, max_distance: float | None
) -> NDArray[np.bool_]:
    """bool (H, W): nearer to the colour than to black, or within a distance of the colour.

    Euclidean in RGB (H, W, 3). As near to the one as to the other is target.
    """
    target = np.array(as_rgb(colour), np.float32)
    if max_distance is not None:
        apart = picture.astype(np.float32) - target
        return np.asarray(
            cv2.transform(apart * apart, np.ones((1, 3), np.float32)) <= max_distance**2
        )
    # |p - c| <= |p| is one side of a plane: 2 p.c >= c.c, whole numbers that float32 holds
    along = cv2.transform(picture.astype(np.float32), target[None])
    return np.asarray(2 * along >= float(target @ target))


def far_from_both(picture: NDArray[np.uint8], colour: AnyColour | Paint) -> int:
    """Pixels with a channel over 32 levels from black, and one over 32 from the colour."""
    low = tuple(max(0, level - FAR_LEVELS) for level in as_rgb(colour))
    high = tuple(min(255, level + FAR_LEVELS) for level in as_rgb(colour))
    black = cv2.inRange(picture, (0, 0, 0), (FAR_LEVELS,) * 3)
    near = cv2.bitwise_or(black, cv2.inRange(picture, low, high))
    return int(near.size - cv2.countNonZero(near))
