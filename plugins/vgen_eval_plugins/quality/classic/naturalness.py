"""Statistics of natural scenes: normalised luminance, and the distributions fitted to it."""

from __future__ import annotations

import functools
import math

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["SHIFTS", "fit_asymmetric", "neighbours", "normalise"]

Plane = NDArray[np.float64]

SHIFTS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""(rows, columns) to the neighbour: across, down, along the main and the other diagonal."""

_SIDE, _SIGMA = 7, 7 / 6


def normalise(levels: Plane) -> tuple[Plane, Plane]:
    """MSCN coefficients and local deviation, each (H, W), of levels 0..255.

    (I - mu) / (sigma + 1) with mu and sigma under a 7 x 7 Gaussian window, borders replicated
    (Mittal, Moorthy, Bovik 2012, equations 1 to 3).
    """
    mean = _blur(levels)
    deviation = np.sqrt(np.abs(_blur(levels * levels) - mean * mean))
    return (levels - mean) / (deviation + 1), deviation


def _blur(plane: Plane) -> Plane:
    blurred = cv2.GaussianBlur(plane, (_SIDE, _SIDE), _SIGMA, borderType=cv2.BORDER_REPLICATE)
    return np.asarray(blurred)


def neighbours(blocks: Plane) -> tuple[Plane, ...]:
    """Products of (N, h, w) coefficients with their neighbours, one array a shift, edges wrapped.

    The wrap is that of both papers' programs; it touches one row or column in a block.
    """
    return tuple(blocks * np.roll(blocks, shift, axis=(1, 2)) for shift in SHIFTS)


@functools.cache
def _grid() -> tuple[Plane, Plane, Plane, Plane]:
    """Shapes 0.2..10 in steps of 0.001, their ratio (rising), scale and mean factors."""
    shapes = np.arange(200, 10001) / 1000.0
    one, two, three = (
        np.array([math.lgamma(times / shape) for shape in shapes]) for times in (1, 2, 3)
    )
    return shapes, np.exp(2 * two - one - three), np.exp((one - three) / 2), np.exp(two - one)


def fit_asymmetric(values: Plane) -> tuple[Plane, Plane, Plane, Plane, Plane]:
    """Asymmetric generalised Gaussians of (N, M) values, by moments: five arrays (N,).

    Shape, the left and right standard deviation, the left and right scale (Lasmar, Stitou,
    Berthoumieu 2009; Mittal et al. 2013, equations 7 to 11). NaN where a side has no value: no
    distribution is fitted to a flat block.
    """
    squares = values * values
    left, right = (np.where(side, squares, 0.0).sum(axis=1) for side in (values < 0, values > 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation_left = np.sqrt(left / (values < 0).sum(axis=1))
        deviation_right = np.sqrt(right / (values > 0).sum(axis=1))
        skew = deviation_left / deviation_right
        ratio = np.abs(values).mean(axis=1) ** 2 / squares.mean(axis=1)
        ratio = ratio * (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2
    shapes, ratios, scales, _ = _grid()
    known = np.isfinite(ratio)
    nearest = _nearest(ratios, np.where(known, ratio, 0.0))
    shape = np.where(known, shapes[nearest], np.nan)
    scale = np.where(known, scales[nearest], np.nan)
    return shape, deviation_left, deviation_right, deviation_left * scale, deviation_right * scale


def mean_factor(shape: Plane) -> Plane:
    """Gamma(2 / shape) / Gamma(1 / shape) of shapes of the grid; NaN for NaN."""
    shapes, _, _, factors = _grid()
    return np.asarray(np.interp(shape, shapes, factors))


def _nearest(rising: Plane, wanted: Plane) -> NDArray[np.intp]:
    right = np.clip(np.searchsorted(rising, wanted), 1, len(rising) - 1)
    nearer_left = wanted - rising[right - 1] <= rising[right] - wanted
    return np.asarray(right - nearer_left)
