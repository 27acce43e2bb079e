"""Which of 48 frames fits the normals of a few pictures best, without 48 passes over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import Example, Prediction, Scene

from vgen_eval_plugins.normals.frames import CONVENTIONS, PROPER, Frame, from_house, parse_frame

__all__ = ["Choice", "Conventions", "calibrate_frame", "choose_frame", "known_pairs"]

Decode = Callable[[Any, Scene], Prediction]
Conventions = Literal["all", "proper"]

CHOICES = {"all": CONVENTIONS, "proper": PROPER}

SHORT = 0.5
"""A vector shorter than this, true or predicted, has no direction."""

ROUNDING = 1e-5
"""Radians that a bound may be off by: products are summed in single precision."""

_TOUCH = 2.331122370414423
"""Radians: where the line from (1, 0) touches arccos, phi = tan(phi / 2)."""

Vectors = NDArray[np.float32]


class Choice(msgspec.Struct, frozen=True):
    """The frame with the least mean angle: the mean over pictures of each picture's mean."""

    frame: str
    mean_deg: float | None
    """None: there was no picture, and the frame is the one that was declared."""
    images: int
    pixels: int
    checked: int
    """Frames whose mean angle had to be computed; the others could not win."""


def calibrate_frame(
    decode: Decode, examples: Sequence[Example], *, frame: str, conventions: Conventions
) -> Mapping[str, Any]:
    """The record of a decoder that declares `frame`: the frame which fits the examples best."""

    def pairs() -> Iterator[tuple[Vectors, Vectors]]:
        for example in examples:
            try:
                found = decode(example.answer, example.scene).value
            except Undecodable:
                continue
            yield known_pairs(from_house(found, frame), example.target, example.valid)

    choice = choose_frame(pairs(), names=CHOICES[conventions], declared=frame)
    return {
        **msgspec.to_builtins(choice),
        "declared": str(parse_frame(frame)),
        "proper": parse_frame(choice.frame).is_proper,
        "conventions": len(CHOICES[conventions]),
    }


def known_pairs(pred: NDArray[Any], target: NDArray[Any], valid: Any) -> tuple[Vectors, Vectors]:
    """Predicted and true vectors (N, 3) of the pixels where both are known."""
    with np.errstate(invalid="ignore"):
        known = np.linalg.norm(target, axis=2) > SHORT
        known &= np.linalg.norm(pred, axis=2) > SHORT
    if valid is not None:
        known &= np.asarray(valid, bool)
    return (
        np.ascontiguousarray(pred[known], np.float32),
        np.ascontiguousarray(target[known], np.float32),
    )


def choose_frame(
    pairs: Iterable[tuple[Vectors, Vectors]], *, names: Sequence[str], declared: str
) -> Choice:
    """The best of `names` for vectors (N, 3) as they are painted beside true ones in the house's.

    The choice of 48 full passes (arXiv 2605.04566, its public code), the earlier name on ties. A
    frame only permutes components and turns signs, so one 3x3 matrix of products gives the mean
    cosine of each. By Jensen's inequality no mean angle lies below the convex hull of arccos at
    that cosine: frames are tried in the order of this bound, until it passes the best angle found.
    """
    some = [pair for pair in pairs if len(pair[0])]
    if not some:
        return Choice(str(parse_frame(declared)), None, 0, 0, 0)
    moments = [
        (pred.T @ target).astype(np.float64) / len(pred) for pred, target in some
    ]  # mean products, [component, axis]
    frames = [parse_frame(name) for name in names]
    bounds = np.array([[_least_angle(_mean_cosine(m, f)) for m in moments] for f in frames])
    best, place, checked = math.inf, -1, 0
    floor = bounds.mean(axis=1) - ROUNDING
    for at in np.argsort(floor, kind="stable").tolist():
        if floor[at] > best:
            break
        checked += 1
        found = _mean_of_means(some, frames[at], bounds[at], best=best)
        if found < best or (found == best and at < place):
            best, place = found, at
    return Choice(
        frame=str(frames[place]),
        mean_deg=math.degrees(best),
        images=len(some),
        pixels=sum(len(pred) for pred, _ in some),
        checked=checked,
    )


def _mean_cosine(moments: NDArray[np.float64], frame: Frame) -> float:
    parts = (frame.component(axis) for axis in range(3))
    return float(sum(sign * moments[at, axis] for axis, (at, sign) in enumerate(parts)))


def _least_angle(cosine: float) -> float:
    """The convex hull of arccos from below: a chord to (1, 0), and arccos itself left of it."""
    cosine = min(max(cosine, -1.0), 1.0)
    if cosine < math.cos(_TOUCH):
        return math.acos(cosine)
    return (1 - cosine) / math.sin(_TOUCH)


def _mean_of_means(
    pairs: Sequence[tuple[Vectors, Vectors]],
    frame: Frame,
    bounds: NDArray[np.float64],
    *,
    best: float,
) -> float:
    """The mean over pictures of their mean angles; infinite once it can no longer be the best."""
    angles = bounds.copy()  # each picture's least angle, until its own is known
    for at, (pred, target) in enumerate(pairs):
        angles[at] = _mean_angle(pred, target, frame)
        if float(angles.mean()) - ROUNDING > best:
            return math.inf
    return float(angles.mean())


def _mean_angle(pred: Vectors, target: Vectors, frame: Frame) -> float:
    """Radians."""
    dot: Any = 0
    for axis in range(3):
        at, sign = frame.component(axis)
        product = pred[:, at] * target[:, axis]
        dot = dot + product if sign > 0 else dot - product
    np.clip(dot, -1, 1, out=dot)
    return float(np.arccos(dot).mean(dtype=np.float64))
