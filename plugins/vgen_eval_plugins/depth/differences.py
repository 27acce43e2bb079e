"""How far aligned depth lies from the truth: the field's six numbers, in one pass."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.depth.fits import BLOCK, FitSpace, Line, blocks, sum_of_squares

__all__ = ["Aligner", "compare"]

DELTAS = (1.25, 1.25**2, 1.25**3)

LOG_MOST = 700.0
"""What exp can be taken of."""

GROUP = 32
"""Ratios multiplied before one logarithm is taken: log a + log b = log ab."""

PRODUCT_SAFE = 1e9
"""Ratios up to this can be multiplied GROUP times within float64."""

Floats = NDArray[np.float64]
Numbers = NDArray[Any]


class Aligner:
    """From predicted numbers to metres, in place."""

    def __init__(
        self,
        x: Numbers,
        line: Line | None,
        *,
        space: FitSpace,
        floor: float,
        low: float,
        high: float,
    ) -> None:
        """x goes through `line`, to numbers of a space; None: it is metres already.

        1 / metre is not less than `floor` before it is inverted. Metres are kept within low..high.
        """
        self.line, self.space, self.floor, self.low, self.high = line, space, floor, low, high
        # every step is monotone, rounding included: the ends tell which bounds are ever passed
        self.passes_floor = self.passes_low = self.passes_high = True
        ends = np.array([x.min(), x.max()], np.float64)
        self._straighten(ends)
        self.passes_floor = space == "disparity" and bool(ends.min() < floor)
        self._invert(ends)
        self.passes_low, self.passes_high = bool(ends.min() < low), bool(ends.max() > high)

    def __call__(self, numbers: Floats) -> None:
        """Align a block of x."""
        self._straighten(numbers)
        self._invert(numbers)
        if self.passes_low:
            np.maximum(numbers, self.low, out=numbers)
        if self.passes_high:
            np.minimum(numbers, self.high, out=numbers)

    def _straighten(self, numbers: Floats) -> None:
        if self.line is not None:
            numbers *= self.line.slope
            numbers += self.line.shift

    def _invert(self, numbers: Floats) -> None:
        if self.space == "disparity":
            if self.passes_floor:
                np.maximum(numbers, self.floor, out=numbers)
            np.reciprocal(numbers, out=numbers)
        elif self.space == "log":
            np.minimum(numbers, LOG_MOST, out=numbers)
            np.exp(numbers, out=numbers)


def compare(x: Numbers, depth: Numbers, align: Aligner) -> dict[str, float]:
    """delta1-3, absrel, rmse (metres) and log10 of pixels x (N,) against depth (N,), metres.

    Computed in float64; thresholds are strict.
    """
    count = len(x)
    room = [np.empty(min(BLOCK, count)) for _ in range(4)]
    close = [0, 0, 0]
    relative = squares = logs = 0.0
    for part in blocks(count):
        found, truth, larger, ratio = (r[: part.stop - part.start] for r in room)
        found[:] = x[part]
        truth[:] = depth[part]
        align(found)
        np.maximum(found, truth, out=larger)
        np.minimum(found, truth, out=found)
        np.divide(larger, found, out=ratio)  # the larger of found / truth and truth / found
        worst = float(ratio.max())
        for place, bound in enumerate(DELTAS):
            within = len(ratio) if worst < bound else int(np.count_nonzero(ratio < bound))
            close[place] += within
        logs += _sum_log10(ratio, worst)
        larger -= found  # |found - truth|
        squares += sum_of_squares(larger)
        larger /= truth
        relative += float(cv2.norm(larger, cv2.NORM_L1))  # none is negative
    return {
        "delta1": close[0] / count,
        "delta2": close[1] / count,
        "delta3": close[2] / count,
        "absrel": relative / count,
        "rmse": math.sqrt(squares / count),
        "log10": logs / count,
    }


def _sum_log10(ratios: Floats, largest: float) -> float:
    """Sum of the logarithms of ratios, all 1 or above."""
    if largest > PRODUCT_SAFE:
        return float(np.log10(ratios).sum())
    whole = len(ratios) // GROUP * GROUP
    products = np.multiply.reduce(ratios[:whole].reshape(GROUP, -1), axis=0)
    return float(np.log10(products).sum()) + float(np.log10(ratios[whole:]).sum())
