"""Least-squares line from predicted to true numbers, in one pass over the pixels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "Line", "blocks", "fit_line", "flat_line", "sum_of_squares"]

BLOCK = 1 << 15
"""Pixels worked on in one go: their float64 copies stay in the cache."""

FLAT = 1e-9
"""Deviation, relative to the size of the numbers, at which they are constant but for rounding."""

Floats = NDArray[np.float64]
Numbers = NDArray[Any]


class Line(msgspec.Struct, frozen=True):
    """y = slope (x - centre_x) + centre_y; a flat one is the mean of the y."""

    slope: float
    centre_x: float
    centre_y: float
    degenerate: bool
    """The x are constant, or there are none: every slope fits, 0 is taken."""

    @property
    def shift(self) -> float:
        """What y is at x = 0."""
        return self.centre_y - self.slope * self.centre_x


def blocks(count: int) -> Iterator[slice]:
    """Slices of BLOCK that cover `count` pixels."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def sum_of_squares(u: Floats) -> float:
    """Sum of u * u, by OpenCV.

    Not `u @ u`: BLAS shares long products among threads, which costs thirtyfold on busy cores.
    """
    return float(cv2.norm(u, cv2.NORM_L2SQR))


def flat_line(y: Numbers, *, inverse: bool) -> Line:
    """The mean of y, or of 1 / y, whatever x is."""
    wide = y.astype(np.float64)
    return Line(0.0, 0.0, float((1 / wide if inverse else wide).mean()), degenerate=True)


def fit_line(x: Numbers, y: Numbers, *, inverse: bool) -> Line:
    """The line with the least sum of squares to y (N,), or to 1 / y, over x (N,).

    Sums in float64 about a point near the means, which are then taken exactly, so that nothing
    cancels: it agrees with an orthogonal solver to the last digits. Where x is constant a solver
    of least norm gives the mean of y, and so does this.
    """
    count = len(x)
    if not count:
        return Line(0.0, 0.0, 0.0, degenerate=True)
    near_x, near_y = _middle(x), _middle(y)
    near_y = 1 / near_y if inverse else near_y
    sum_x = sum_y = sum_xx = sum_xy = 0.0
    room_x, room_y = np.empty(min(BLOCK, count)), np.empty(min(BLOCK, count))
    for part in blocks(count):
        u, v = room_x[: part.stop - part.start], room_y[: part.stop - part.start]
        u[:] = x[part]
        v[:] = y[part]
        if inverse:
            np.reciprocal(v, out=v)
        u -= near_x
        v -= near_y
        sum_x += float(u.sum())
        sum_y += float(v.sum())
        sum_xx += sum_of_squares(u)
        sum_xy += float(np.einsum("i,i->", u, v))  # no BLAS here either
    mean_x, mean_y = sum_x / count, sum_y / count
    square = max(sum_xx - sum_x * mean_x, 0.0)
    centre_x, centre_y = near_x + mean_x, near_y + mean_y
    if math.sqrt(square / count) <= FLAT * abs(centre_x):
        return Line(0.0, centre_x, centre_y, degenerate=True)
    return Line((sum_xy - sum_x * mean_y) / square, centre_x, centre_y, degenerate=False)


def _middle(numbers: Numbers) -> float:
    """About the mean: of some hundred numbers, evenly spread."""
    return float(numbers[:: max(1, len(numbers) // 256)].mean(dtype=np.float64))
