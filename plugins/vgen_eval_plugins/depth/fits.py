"""Least-squares line from predicted to true numbers, in one pass over the pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK",
    "FitSpace",
    "Line",
    "blocks",
    "fit_line",
    "fit_median",
    "fit_robust",
    "flat_line",
    "sum_of_squares",
]

FitSpace = Literal["depth", "disparity", "log"]
"""What a line is fitted to: metres, 1 / metre, or the logarithm of metres."""

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


def bring(depth: Floats, space: FitSpace) -> None:
    """Metres to the numbers that a line is fitted to, in place."""
    if space == "disparity":
        np.reciprocal(depth, out=depth)
    elif space == "log":
        np.log(depth, out=depth)


def flat_line(y: Numbers, *, space: FitSpace) -> Line:
    """The mean of y as the space has it, whatever x is."""
    wide = y.astype(np.float64)
    bring(wide, space)
    return Line(0.0, 0.0, float(wide.mean()), degenerate=True)


def fit_line(x: Numbers, y: Numbers, *, space: FitSpace) -> Line:
    """The line over x (N,) with the least sum of squares to y (N,), to 1 / y or to log y.

    Sums in float64 about a point near the means, which are then taken exactly, so that nothing
    cancels: it agrees with an orthogonal solver to the last digits. Where x is constant a solver
    of least norm gives the mean of y, and so does this.
    """
    count = len(x)
    if not count:
        return Line(0.0, 0.0, 0.0, degenerate=True)
    near_x, near_y = _middle(x), _middle(y)
    if space != "depth":
        near_y = 1 / near_y if space == "disparity" else math.log(near_y)
    sum_x = sum_y = sum_xx = sum_xy = 0.0
    room_x, room_y = np.empty(min(BLOCK, count)), np.empty(min(BLOCK, count))
    for part in blocks(count):
        u, v = room_x[: part.stop - part.start], room_y[: part.stop - part.start]
        u[:] = x[part]
        v[:] = y[part]
        bring(v, space)
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


def fit_median(x: Numbers, y: Numbers) -> Line:
    """The line through 0 that brings the median of x (N,) to that of y (N,)."""
    middle, wanted = float(np.median(x)), float(np.median(y))
    if middle == 0:
        return Line(0.0, 0.0, wanted, degenerate=True)
    return Line(wanted / middle, 0.0, 0.0, degenerate=False)


def fit_robust(x: Numbers, y: Numbers) -> Line:
    """The line with the least sum of |a x + b - y| / y over x (N,): least absolute AbsRel.

    For a given slope the best shift is a weighted median, and what is left is convex in the slope:
    it is bracketed from the line of least squares and then searched by golden section.
    """
    start = fit_line(x, y, space="depth")
    if start.degenerate:
        return start
    wide_x, wide_y = x.astype(np.float64) - start.centre_x, y.astype(np.float64)
    weights = 1 / wide_y

    def shift_at(slope: float) -> float:
        rest = wide_y - slope * wide_x
        order = np.argsort(rest, kind="stable")
        sums = np.cumsum(weights[order])
        return float(rest[order[np.searchsorted(sums, sums[-1] / 2)]])

    def cost_at(slope: float) -> float:
        return float((np.abs(slope * wide_x + shift_at(slope) - wide_y) * weights).sum())

    step = max(abs(start.slope), float(np.ptp(wide_y)) / float(np.ptp(wide_x)))
    low, high = start.slope - step, start.slope + step
    while cost_at(low) < cost_at(low + step):
        low -= step
        step *= 2
    step = high - start.slope
    while cost_at(high) < cost_at(high - step):
        high += step
        step *= 2
    slope = _golden(cost_at, low, high)
    return Line(slope, start.centre_x, shift_at(slope), degenerate=False)


def _golden(cost: Callable[[float], float], low: float, high: float) -> float:
    """Where a convex function of one number is least, to some 12 digits of the bracket."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(60):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = cost(right)
    return (low + high) / 2
