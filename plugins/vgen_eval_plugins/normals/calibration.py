"""Which of 48 frames fits the normals of a few pictures best, without 48 passes over them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import Example, Prediction, Scene

from vgen_eval_plugins.normals.angles import lengths
from vgen_eval_plugins.normals.frames import CONVENTIONS, PROPER, Frame, parse_frame

__all__ = ["Choice", "Conventions", "calibrate_frame", "choose_frame", "known_pairs"]

Decode = Callable[[Any, Scene], Prediction]
Conventions = Literal["all", "proper"]

THREADS = min(4, os.cpu_count() or 1)

CHOICES = {"all": CONVENTIONS, "proper": PROPER}

SHORT = 0.5
"""A true vector shorter than this has no direction."""

BLOCK = 1 << 12
"""Products summed in single precision before the sums are added in double."""

PIXELS = 1 << 15
"""Pixels at a time: few enough that all planes of a block stay in the cache."""

COSINE_ERROR = 3e-4
"""What a mean cosine may be off by, most of all: BLOCK products and sums of 6e-8 each, and lengths
that are 1 but for rounding."""

ANGLE_ERROR = 1e-3
"""Radians that a mean angle in single precision may be off by, most of all: a cosine is within
4e-7, and the arc cosine turns that into sqrt(2 * 4e-7) = 9e-4 where vectors coincide."""

EXACT = 0.02
"""Radians below which single precision would show in the record."""

TIE = 1e-12
"""Radians that the rounding of a sum in double may make of a tie."""

SAMPLE = 2048
"""Pixels of a picture that tell which frame is next after the best."""

_TOUCH = 2.331122370414423
"""Radians: where the line from (1, 0) touches arccos, phi = tan(phi / 2)."""

Vectors = NDArray[np.float32]
Pair = tuple[Vectors, Vectors]
"""Vectors (3, N) as they are painted, and the true ones."""


class Choice(msgspec.Struct, frozen=True):
    """The frame with the least mean angle: the mean over pictures of each picture's mean."""

    frame: str
    mean_deg: float | None
    """None: there was no picture, and the frame is the one that was declared."""
    runner_up: str | None
    """The frame that is next, by SAMPLE pixels of each picture."""
    runner_up_deg: float | None
    images: int
    pixels: int
    checked: int
    """Frames whose mean angle had to be computed; the others could not win."""


def calibrate_frame(
    decode: Decode, examples: Sequence[Example], *, frame: str, conventions: Conventions
) -> Mapping[str, Any]:
    """The record of a decoder that declares `frame`: the frame which fits the examples best.

    `decode`: that of the same decoder under the house's frame, which takes components as they are.
    `permutation` and `signs`: of right, up, toward, the painted component that it is read from, and
    which way.
    """

    def pair(example: Example) -> Pair | None:
        try:
            found = decode(example.answer, example.scene).value
        except Undecodable:
            return None
        return known_pairs(found, example.target, example.valid)

    with ThreadPoolExecutor(THREADS) as pool:
        pairs = [found for found in pool.map(pair, examples) if found is not None]
    choice = choose_frame(pairs, names=CHOICES[conventions], declared=frame)
    chosen = parse_frame(choice.frame)
    permutation, signs = zip(*map(chosen.component, range(3)), strict=True)
    return {
        **msgspec.to_builtins(choice),
        "declared": str(parse_frame(frame)),
        "permutation": list(permutation),
        "signs": list(signs),
        "proper": chosen.is_proper,
        "conventions": len(CHOICES[conventions]),
    }


def known_pairs(pred: NDArray[Any], target: NDArray[Any], valid: Any) -> tuple[Vectors, Vectors]:
    """Predicted and true unit vectors (N, 3) of the pixels where both are known.

    `pred` is NaN where it is open; a target may also be (0, 0, 0) where it is unknown.
    """
    found, truth = (np.ascontiguousarray(part, np.float32) for part in (pred, target))
    with np.errstate(invalid="ignore"):  # NaN marks the unknown, and is above nothing
        known = lengths(truth) > SHORT
    known &= ~np.isnan(found[..., 0])
    if valid is not None:
        known &= np.asarray(valid, bool)
    if known.all():
        return found.reshape(-1, 3), truth.reshape(-1, 3)
    at = np.flatnonzero(known)
    return found.reshape(-1, 3)[at], truth.reshape(-1, 3)[at]


def choose_frame(
    pairs: Iterable[tuple[Vectors, Vectors]], *, names: Sequence[str], declared: str
) -> Choice:
    """The best of `names` for unit vectors (N, 3) as they are painted beside true ones in the
    house's frame.

    The choice of 48 full passes in double precision (arXiv 2605.04566, its public code), the
    earlier name on ties. A frame only permutes components and turns signs, so one 3x3 matrix of
    products gives the mean cosine of each. By Jensen's inequality no mean angle lies below the
    convex hull of arccos at that cosine: frames are tried in the order of this bound, until it
    passes the best angle found. Those too close to be told apart are compared in double.
    """
    some = [(_planes(pred), _planes(target)) for pred, target in pairs if len(pred)]
    if not some:
        return Choice(str(parse_frame(declared)), None, None, None, 0, 0, 0)
    frames = [parse_frame(name) for name in names]
    bounds = _bounds([_moments(pred, target) for pred, target in some], frames)
    angles = _try_in_order(some, frames, bounds)
    least = min(angles.values())
    near = [at for at, angle in angles.items() if angle <= least + 2 * ANGLE_ERROR]
    exact = {at: angles[at] for at in near}
    if len(near) > 1 or least < EXACT:
        exact = {at: _mean_of_means(some, frames[at], np.float64) for at in near}
    first = min(at for at in near if exact[at] <= min(exact.values()) + TIE)
    second = _runner_up(some, frames, first)
    return Choice(
        frame=str(frames[first]),
        mean_deg=math.degrees(exact[first]),
        runner_up=None if second is None else str(frames[second]),
        runner_up_deg=None
        if second is None
        else math.degrees(_mean_of_means(some, frames[second], np.float32)),
        images=len(some),
        pixels=sum(pred.shape[1] for pred, _ in some),
        checked=len(angles),
    )


def _planes(vectors: Vectors) -> Vectors:
    return np.asarray(cv2.transpose(np.ascontiguousarray(vectors, np.float32)), np.float32)


def _moments(pred: Vectors, target: Vectors) -> NDArray[np.float64]:
    """Mean products, (3, 3): painted component, axis of the house."""
    count = pred.shape[1]
    whole = count // BLOCK * BLOCK
    parts = (plane[:, :whole].reshape(3, -1, BLOCK).swapaxes(0, 1) for plane in (pred, target))
    found, truth = parts
    sums = np.matmul(found, truth.swapaxes(1, 2)).sum(axis=0, dtype=np.float64)
    return np.asarray((sums + pred[:, whole:] @ target[:, whole:].T) / count)


def _bounds(moments: Sequence[NDArray[np.float64]], frames: Sequence[Frame]) -> NDArray[np.float64]:
    """Radians, (frames, pictures): below no mean angle."""
    return np.array([[_least_angle(_mean_cosine(m, f)) for m in moments] for f in frames])


def _mean_cosine(moments: NDArray[np.float64], frame: Frame) -> float:
    parts = (frame.component(axis) for axis in range(3))
    return float(sum(sign * moments[at, axis] for axis, (at, sign) in enumerate(parts)))


def _least_angle(cosine: float) -> float:
    """The convex hull of arccos from below: a chord to (1, 0), and arccos itself left of it."""
    cosine = min(max(cosine + COSINE_ERROR, -1.0), 1.0)
    if cosine < math.cos(_TOUCH):
        return math.acos(cosine)
    return (1 - cosine) / math.sin(_TOUCH)


def _try_in_order(
    pairs: Sequence[Pair], frames: Sequence[Frame], bounds: NDArray[np.float64]
) -> dict[int, float]:
    """Mean angles in single precision, by place: the least, and all that is near it."""
    angles: dict[int, float] = {}
    least = math.inf
    floor = bounds.mean(axis=1)
    for at in np.argsort(floor, kind="stable").tolist():
        limit = least + 3 * ANGLE_ERROR
        if floor[at] > limit:
            break
        angles[at] = _mean_of_means(pairs, frames[at], np.float32, bounds=bounds[at], limit=limit)
        least = min(least, angles[at])
    return angles


def _runner_up(pairs: Sequence[Pair], frames: Sequence[Frame], first: int) -> int | None:
    """The place of the best frame but `first`; all of them on a few pixels."""
    turns = np.zeros((len(frames), 9), np.float32)
    for row, frame in zip(turns, frames, strict=True):
        for axis in range(3):
            at, sign = frame.component(axis)
            row[3 * at + axis] = sign
    angles = np.zeros(len(frames))
    for pred, target in pairs:
        step = -(-pred.shape[1] // SAMPLE)
        some, truth = pred[:, ::step], target[:, ::step]
        dots = turns @ (some[:, None] * truth[None]).reshape(9, -1)
        angles += np.arccos(np.clip(dots, -1, 1, out=dots), out=dots).mean(axis=1)
    angles[first] = math.inf
    return int(np.argmin(angles)) if len(frames) > 1 else None


def _mean_of_means(
    pairs: Sequence[Pair],
    frame: Frame,
    dtype: type[np.floating[Any]],
    *,
    bounds: NDArray[np.float64] | None = None,
    limit: float = math.inf,
) -> float:
    """The mean over pictures of their mean angles; infinite once it is known to pass `limit`."""
    # each picture's least angle, until its own is known
    angles = np.zeros(len(pairs)) if bounds is None else bounds.copy()
    for at, (pred, target) in enumerate(pairs):
        angles[at] = _mean_angle(pred, target, frame, dtype)
        if float(angles.mean()) - ANGLE_ERROR > limit:
            return math.inf
    return float(angles.mean())


def _mean_angle(
    pred: Vectors, target: Vectors, frame: Frame, dtype: type[np.floating[Any]]
) -> float:
    """Radians."""
    count = int(pred.shape[1])
    turned = [frame.component(axis) for axis in range(3)]
    room = np.empty((2, min(PIXELS, count)), dtype)
    total = 0.0
    for start in range(0, count, PIXELS):
        part = slice(start, min(start + PIXELS, count))
        dot, product = room[:, : part.stop - start]
        dot[:] = 0
        for axis, (at, sign) in enumerate(turned):
            np.multiply(pred[at, part], target[axis, part], out=product, dtype=dtype)
            (np.add if sign > 0 else np.subtract)(dot, product, out=dot)
        np.clip(dot, -1, 1, out=dot)
        total += cv2.norm(np.arccos(dot, out=dot), cv2.NORM_L1)  # none is negative
    return total / count
