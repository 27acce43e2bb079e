"""The pixels of a picture that are scored: predicted numbers beside true metres."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget

from vgen_eval_plugins.depth.fits import blocks
from vgen_eval_plugins.depth.maps import DepthMap, Linear, Space

__all__ = ["Numbers", "convert", "is_answered", "known_pixels", "spread_pixels", "valid_pixels"]

Numbers = NDArray[Any]


def valid_pixels(
    pred: Any, target: Any, valid: Any, *, low: float, high: float, least: int
) -> tuple[Numbers, Numbers]:
    """Predicted numbers and metres, float (N,), of the pixels with a valid target.

    Valid: strictly between `low` and `high` metres, compared in float32 as public evaluation
    code does, and True in `valid` where that is given. NoValidTarget for fewer than `least`.
    """
    if not isinstance(pred, DepthMap):
        raise TypeError(f"a DepthMap was wanted, {type(pred).__name__} came")
    with np.errstate(over="ignore"):  # farther than float32 holds is no distance
        truth = np.asarray(target, np.float32)
        bounds = np.float32(low), np.float32(high)
    values = np.asarray(pred.values)
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    mask = None if valid is None else np.asarray(valid, bool)
    shapes = [plane.shape for plane in (values, truth, mask) if plane is not None]
    if truth.ndim != 2 or len(set(shapes)) > 1:
        raise ValueError(f"pred, target and valid differ in shape, or are no maps: {shapes}")
    values, truth = values.reshape(-1), truth.reshape(-1)
    if not truth.size:
        raise NoValidTarget("the target has no pixels")
    everywhere = mask is None or bool(mask.all())
    # NaN passes no comparison, so that this one look clears most synthetic truths
    if everywhere and truth.min() > bounds[0] and truth.max() < bounds[1] and truth.size >= least:
        return values, truth
    flat = None if mask is None else mask.reshape(-1)
    return _gather(known_pixels(truth, flat, low=low, high=high), values, truth, least=least)


def known_pixels(target: Any, valid: Any, *, low: float, high: float) -> NDArray[np.bool_]:
    """bool, as `target`: where it is a depth between the bounds, compared in float32."""
    with np.errstate(over="ignore"):
        truth = np.asarray(target, np.float32)
    known = np.asarray((truth > np.float32(low)) & (truth < np.float32(high)))
    if valid is not None:
        known &= np.asarray(valid, bool)
    return known


def spread_pixels(known: NDArray[np.bool_], side: int) -> NDArray[np.int64]:
    """Flat indices of known pixels (H, W), one a cell of side x side cells that has any.

    The one nearest to the cell's centre; of a map with fewer pixels than cells, every pixel.
    """
    height, width = known.shape
    rows, columns = min(side, height), min(side, width)
    middle_row = (2 * np.arange(rows)[:, None] + 1) * height // (2 * rows)
    middle_column = (2 * np.arange(columns)[None, :] + 1) * width // (2 * columns)
    found = np.full((rows, columns), -1, np.int64)
    down, across = height // rows // 2, width // columns // 2
    steps = [(d, a) for d in range(-down, down + 1) for a in range(-across, across + 1)]
    for d, a in sorted(steps, key=lambda step: (step[0] ** 2 + step[1] ** 2, step)):
        row = np.clip(middle_row + d, 0, height - 1)
        column = np.clip(middle_column + a, 0, width - 1)
        found = np.where((found < 0) & known[row, column], row * width + column, found)
        if (found >= 0).all():
            break
    return found[found >= 0]


def _gather(
    known: NDArray[np.bool_], values: Numbers, truth: Numbers, *, least: int
) -> tuple[Numbers, Numbers]:
    """The known ones of both; by blocks and by index, in half the time of `values[known]`."""
    count = int(np.count_nonzero(known))
    if count < least:
        raise NoValidTarget(f"{count} pixels have a valid depth, {least} are needed")
    numbers, depth = np.empty(count, values.dtype), np.empty(count, truth.dtype)
    done = 0
    for part in blocks(known.size):
        at = np.flatnonzero(known[part])
        stop = done + len(at)
        # "clip" writes straight into its place; no index is out of bounds
        values[part].take(at, out=numbers[done:stop], mode="clip")
        truth[part].take(at, out=depth[done:stop], mode="clip")
        done = stop
    return numbers, depth


def convert(numbers: Numbers, space: Space, *, to: Linear) -> Numbers:
    """The numbers as depth or as disparity: 1 / number where that differs, NaN for 0 and below.

    Relative ones are taken as they are.
    """
    if space in ("relative", to):
        return numbers
    inverted = np.full(len(numbers), np.nan)
    np.divide(1.0, numbers, out=inverted, where=numbers > 0)
    return inverted


def is_answered(numbers: Numbers) -> NDArray[np.bool_] | None:
    """bool (N,): where there is a number; None, for short, when there is one everywhere."""
    if np.isfinite(numbers.min()) and np.isfinite(numbers.max()):  # NaN is the least and largest
        return None
    return np.isfinite(numbers)
