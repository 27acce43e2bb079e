"""Where a picture is cut in two, target and rest: four ways."""

from __future__ import annotations

from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_adaptive", "cut_fixed", "cut_otsu", "cut_two_means"]

Grey = NDArray[np.uint8]
Mask = NDArray[np.bool_]
RGB = NDArray[np.uint8]

SAMPLED = 1 << 16
"""Pixels, evenly spaced, on which two means are sought."""
ROUNDS = 100


def cut_fixed(grey: Grey, threshold: int) -> Mask:
    """bool (H, W): above the threshold."""
    return np.asarray(cv2.threshold(grey, threshold, 1, cv2.THRESH_BINARY)[1]).view(np.bool_)


def cut_otsu(grey: Grey) -> tuple[Mask, int]:
    """Above Otsu's threshold, and the threshold."""
    threshold, ones = cv2.threshold(grey, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    return np.asarray(ones).view(np.bool_), round(threshold)


def cut_adaptive(
    grey: Grey, *, kernel: Literal["mean", "gaussian"], block: int, offset: float, min_range: int
) -> tuple[Mask, int]:
    """Above the mean of the `block` x `block` pixels around, less `offset`; and Otsu's threshold.

    The border is repeated outwards. A neighbourhood that spans under `min_range` levels shows no
    edge, and its mean says nothing: there Otsu's threshold of the whole picture decides, as
    Bernsen's method falls back on a threshold of the whole (ICPR 1986). Without that the inside of
    every thing larger than a block would be lost.
    """
    if kernel == "mean":
        local = cv2.boxFilter(grey, cv2.CV_32F, (block, block), borderType=cv2.BORDER_REPLICATE)
    else:
        local = cv2.GaussianBlur(
            grey.astype(np.float32), (block, block), 0, borderType=cv2.BORDER_REPLICATE
        )
    mask, threshold = cut_otsu(grey)
    square = np.ones((block, block), np.uint8)
    span = cv2.subtract(_extreme(cv2.dilate, grey, square), _extreme(cv2.erode, grey, square))
    return np.where(span < min_range, mask, grey > local - offset), threshold


def _extreme(which: Any, grey: Grey, square: NDArray[np.uint8]) -> Any:
    return which(grey, square, borderType=cv2.BORDER_REPLICATE)


def cut_two_means(picture: RGB, weights: NDArray[np.float64]) -> Mask:
    """The brighter of two clusters of colours, RGB (H, W, 3) -> bool (H, W).

    Lloyd's iterations on evenly spaced pixels, from the colour farthest from the mean and the one
    farthest from that: no chance in it. `weights`: (3,), R, G, B of brightness; of two clusters of
    one brightness the smaller is taken.
    """
    step = max(1, int(np.sqrt(picture.shape[0] * picture.shape[1] / SAMPLED)))
    colours = picture[::step, ::step].reshape(-1, 3).astype(np.float64)
    first = colours[_farthest(colours, colours.mean(axis=0))]
    second = colours[_farthest(colours, first)]
    is_first = _nearer(colours, first, second)
    for _ in range(ROUNDS):
        if is_first.all() or not is_first.any():
            break
        first, second = colours[is_first].mean(axis=0), colours[~is_first].mean(axis=0)
        before, is_first = is_first, _nearer(colours, first, second)
        if np.array_equal(before, is_first):
            break
    gap = float(weights @ (first - second))
    is_brighter = gap > 0 if gap else 2 * np.count_nonzero(is_first) <= is_first.size
    bright, dark = (first, second) if is_brighter else (second, first)
    return _nearer(picture, bright, dark)


def _farthest(colours: NDArray[np.float64], place: NDArray[np.float64]) -> int:
    return int(np.argmax(((colours - place) ** 2).sum(axis=1)))


def _nearer(colours: NDArray[Any], a: NDArray[np.float64], b: NDArray[np.float64]) -> Mask:
    """Which colours (..., 3) lie nearer to a than to b: one side of the plane between them."""
    side = a - b
    along = colours.astype(np.float32) @ side.astype(np.float32)
    return np.asarray(along > np.float32(side @ (a + b) / 2))
