"""A frame beside the first picture: what differs once its tone is taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Plane = NDArray[np.float32]
    Free = NDArray[np.bool_]

__all__ = ["box_mean", "difference", "fit_tone", "size_of", "soften"]

_STRANGE = 25.0
"""Levels from the fitted tone beyond which a pixel has another reason."""
_GAINS = tuple(0.5 + 0.1 * k for k in range(16))
_LEAST, _FLAT = 50, 4.0
"""Pixels to fit by, and their least standard deviation."""
_EVERY = 4
"""Every fourth pixel of every fourth row is enough."""


def soften(picture: RGB) -> Plane:
    """(H, W, 3) of 0 to 255, a little blurred: what the codec and the grain add is gone."""
    return np.asarray(cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 1.0), np.float32)


def difference(picture: RGB, first: Plane, free: Free) -> Plane:
    """(H, W, 3): the frame minus the softened first picture, in the first's tone.

    The tone is a gain and a lift of each channel, fitted where `free`, (H, W), is true, and
    again without what differs from it.
    """
    now = soften(picture)
    thin = free[::_EVERY, ::_EVERY]
    mapped = np.empty_like(now)
    x = now[::_EVERY, ::_EVERY][thin].astype(np.float64)
    y = first[::_EVERY, ::_EVERY][thin].astype(np.float64)
    for channel in range(3):
        gain, lift = fit_tone(x[:, channel], y[:, channel])
        mapped[..., channel] = now[..., channel] * gain + lift
    return np.asarray(mapped - first)


def fit_tone(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Gain and lift from x to y: of some gains the one that fits most pixels, then least squares.

    The lift that goes with a gain brings the medians together.
    """
    if len(x) < _LEAST or x.std() < _FLAT:
        return 1.0, float(np.median(y - x)) if len(x) else 0.0
    mid_x, mid_y = float(np.median(x)), float(np.median(y))

    def misfit(gain: float) -> float:
        return float(np.minimum(np.abs((x - mid_x) * gain - (y - mid_y)), _STRANGE).mean())

    gain = min(_GAINS, key=misfit)
    lift = mid_y - gain * mid_x
    for _ in range(2):
        like = np.abs(x * gain + lift - y) < _STRANGE
        if like.sum() < _LEAST or x[like].std() < _FLAT:
            break
        mx, my = x[like].mean(), y[like].mean()
        slope = ((x[like] - mx) * (y[like] - my)).sum() / ((x[like] - mx) ** 2).sum()
        gain = float(np.clip(slope, _GAINS[0], _GAINS[-1]))
        lift = float(my - gain * mx)
    return gain, lift


def size_of(off: NDArray[np.floating[Any]]) -> Plane:
    """(H, W, 3) -> (H, W): how long each pixel's difference is."""
    squared = np.asarray(off * off, np.float32)
    return np.asarray(cv2.sqrt(cv2.transform(squared, np.ones((1, 3), np.float32))), np.float32)


def box_mean(plane: Plane, side: int) -> Plane:
    """The mean over squares of that side, around each pixel."""
    return np.asarray(cv2.boxFilter(plane, cv2.CV_32F, (side, side)), np.float32)
