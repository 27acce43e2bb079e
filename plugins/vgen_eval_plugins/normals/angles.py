"""Angles between two maps of vectors, and what is counted of them, in few passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["BINS", "EXACT", "Angles", "angle_map", "compare", "lengths", "median_of_bins"]

Plane = NDArray[np.float32]

BINS = 1800
"""Of the histogram: 0.1 degree each, 0 to 180."""
_PER_DEGREE = BINS // 180

EXACT = 1e-3
"""Degrees below which an angle is 0: single precision tells no more."""

SHORT = 0.5
"""A target vector shorter than this is none: published files mark the unknown with zeros."""

RIGHT_ANGLE = 2.0
"""Squared distance of unit vectors at 90 degrees, whose dot product is 0."""

MOST = 4.0 + 1e-3
"""Squared distance of opposite unit vectors, and room for rounding."""

_ONES = np.ones((1, 3), np.float32)

_BLOCK = 1 << 15
"""Pixels at a time: few enough that all planes of a block stay in the cache."""


class Angles(msgspec.Struct, frozen=True, eq=False):
    """What the valid pixels of one picture come to; degrees."""

    pixels: int
    opened: int
    """Pixels that the prediction leaves open: 90 degrees each, or dropped."""
    total: float
    squares: float
    median: float
    within: tuple[int, ...]
    """Pixels of an angle below each limit."""
    exact: int
    """Pixels of an angle below EXACT."""
    bins: NDArray[np.int64]


def compare(
    pred: NDArray[Any],
    target: NDArray[Any],
    valid: Any,
    *,
    limits: Sequence[float],
    drop: bool = False,
) -> Angles:
    """Angles of `pred` to `target`, both (H, W, 3), where the target is known.

    `drop`: pixels that the prediction leaves open are counted in `opened` and in nothing else.

    The angle of unit vectors p, t is 2 asin(|p - t| / 2): the arc cosine of their dot product
    without its loss of digits near 0 and without its NaN just above 1. Limits are compared with
    |p - t| itself. Single precision, sums in double: within 1e-3 degrees for vectors of length 1
    (1e-2 near 180), 0.1 for lengths up to 10.
    """
    height, width = target.shape[:2]
    rows = max(1, _BLOCK // width)
    chords = [4 * math.sin(math.radians(limit) / 2) ** 2 for limit in (*limits, EXACT)]
    angles = np.empty(height * width, np.float32)
    bins = np.zeros(BINS + 1, np.int64)
    within = [0] * len(chords)
    pixels = opened = 0
    total = squares = 0.0
    for top in range(0, height, rows):
        part = slice(top, top + rows)
        known = None if valid is None else valid[part]
        square, loose = _squared_distances(pred[part], target[part], known, drop=drop)
        opened += loose
        if not square.size:
            continue
        for at, chord in enumerate(chords):
            within[at] += int(np.count_nonzero(square < chord))
        found = angles[pixels : pixels + square.size]
        _to_degrees(square, found)
        # none is negative; cv2.sumElems would hang on where in memory they lie
        total += cv2.norm(found, cv2.NORM_L1)
        squares += cv2.norm(found, cv2.NORM_L2SQR)
        bins += np.bincount((found * _PER_DEGREE).astype(np.intp), minlength=BINS + 1)
        pixels += square.size
    bins[BINS - 1] += bins[BINS]  # 180 degrees itself belongs to the last
    return Angles(
        pixels=pixels,
        opened=opened,
        total=total,
        squares=squares,
        median=_median(angles[:pixels]),
        within=tuple(within[:-1]),
        exact=within[-1],
        bins=bins[:BINS],
    )


def _squared_distances(
    pred: NDArray[Any], target: NDArray[Any], valid: Any, *, drop: bool
) -> tuple[Plane, int]:
    """|p - t|^2 at length 1, of the valid pixels (n,), and how many of them `pred` leaves open."""
    square, known = _squares(pred, target, valid)
    square = square.ravel() if known.all() else square[known]
    closed = square <= MOST
    loose = square.size - int(np.count_nonzero(closed))
    if loose and drop:
        square = square[closed]
    elif loose:
        square[~closed] = RIGHT_ANGLE
    return square, loose


def _squares(
    pred: NDArray[Any], target: NDArray[Any], valid: Any
) -> tuple[Plane, NDArray[np.bool_]]:
    """|p - t|^2 at length 1 of all pixels, beyond MOST where `pred` is open; where t is known.

    From the vectors as they are: (|p - t|^2 - (|p| - |t|)^2) / (|p| |t|), 0 for equal ones.
    """
    found, truth = (np.ascontiguousarray(part, np.float32) for part in (pred, target))
    with np.errstate(all="ignore"):  # NaN and infinity mark the unknown, and are told apart below
        room = np.asarray(cv2.subtract(found, truth), np.float32)
        square = _sum_of_squares(room, room)
        lengths, reach = _sum_of_squares(found, room), _sum_of_squares(truth, room)
        np.sqrt(lengths, out=lengths)
        np.sqrt(reach, out=reach)
        known = (reach >= SHORT) & (reach < np.inf)  # NaN is neither
        if valid is not None:
            known &= np.asarray(valid, bool)
        product = lengths * reach
        lengths -= reach
        lengths *= lengths
        square -= lengths
        square /= product
        np.maximum(square, 0, out=square)  # rounding may go below; NaN stays
    return square, known


def angle_map(pred: NDArray[Any], target: NDArray[Any], valid: Any, *, drop: bool = False) -> Plane:
    """Degrees, float32 (H, W), of the angles that `compare` counts; NaN where it counts none."""
    square, known = _squares(pred, target, valid)
    with np.errstate(invalid="ignore"):
        closed = square <= MOST
    square[~closed] = RIGHT_ANGLE
    angles = np.empty_like(square)
    _to_degrees(square, angles)
    angles[~known if not drop else ~(known & closed)] = np.nan
    return angles


def _sum_of_squares(vectors: NDArray[np.float32], room: NDArray[np.float32]) -> Plane:
    # several times faster than a sum over the last axis
    return np.asarray(cv2.transform(cv2.multiply(vectors, vectors, room), _ONES), np.float32)


def lengths(vectors: NDArray[np.float32]) -> Plane:
    """float32 (H, W): how long vectors (H, W, 3) are; NaN where a component is."""
    return np.sqrt(_sum_of_squares(vectors, np.empty_like(vectors)))


def _to_degrees(square: Plane, out: Plane) -> None:
    """The angle of unit vectors at this squared distance; exactly 90 at RIGHT_ANGLE."""
    np.sqrt(square, out=out)
    out *= np.float32(0.5)
    np.minimum(out, np.float32(1), out=out)
    np.arcsin(out, out=out)
    out *= np.float32(360 / math.pi)
    out[square == np.float32(RIGHT_ANGLE)] = 90


def _median(values: Plane) -> float:
    """The middle value, or the mean of the two; one partition and a maximum."""
    if not values.size:
        return math.nan
    middle = values.size // 2
    parted = np.partition(values, middle)
    upper = float(parted[middle])
    return upper if values.size % 2 else (float(parted[:middle].max()) + upper) / 2


def median_of_bins(bins: NDArray[Any], *, exact: float = 0) -> float:
    """The median from a histogram of angles, in degrees: within a bin, 0.1, of the exact one.

    The values of a bin are taken to be spread evenly in it. `exact`: how many are below EXACT,
    which is 0 here: what is perfect must not read 0.05.
    """
    below = np.cumsum(bins, dtype=np.float64)
    middle = 0.0
    for rank in ((below[-1] - 1) // 2, below[-1] // 2):
        if rank < exact:
            continue
        at = int(np.searchsorted(below, rank, side="right"))
        before = below[at] - bins[at]
        middle += float(at + (rank - before + 0.5) / bins[at]) / _PER_DEGREE / 2
    return middle
