"""By how much a frame is shifted: from what stays in it, whatever else moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from vgen_eval_plugins.video.puzzles.comparing import fit_tone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Plane = NDArray[np.float32]

__all__ = ["find_shift"]

_MOST = 20.0
"""Grey levels of a difference that counts: what moved by itself counts no more than that."""
_LIKELY = 2
"""Shifts of the halved pictures from which is looked on at full size."""
_BETTER = 0.97
"""Part of the difference unshifted to which a shift must bring it down."""
_MIDDLE = 16
"""Pixels that must be left of a picture to find it by."""
_EVERY = 7


def find_shift(now: Plane, first: Plane, *, reach: int) -> tuple[float, float]:
    """Pixels, `reach` at most, by which `now` lies to the right and below of `first`, both (H, W).

    The shift of the least difference, each pixel's cut off at a small one, and between pixels where
    it would be least. 0, 0 to a pixel where no shift is better than none.
    """
    if min(first.shape) - 2 * reach < _MIDDLE:
        return 0.0, 0.0
    x, y = now.reshape(-1)[::_EVERY].astype(float), first.reshape(-1)[::_EVERY].astype(float)
    gain, lift = fit_tone(x, y)
    now = np.asarray(now * np.float32(gain) + np.float32(lift), np.float32)
    half = (first.shape[1] // 2, first.shape[0] // 2)
    coarse = [
        np.asarray(cv2.resize(p, half, interpolation=cv2.INTER_AREA), np.float32)
        for p in (now, first)
    ]
    far = (reach + 1) // 2
    around = range(-far, far + 1)
    found = sorted((_unlike(coarse[0], coarse[1], x, y, far), x, y) for x in around for y in around)
    starts = [(2 * dx, 2 * dy) for _, dx, dy in found[:_LIKELY]]
    least, dx, dy = min(_descend(now, first, start, reach) for start in starts)
    if least > _BETTER * _unlike(now, first, 0, 0, reach):
        dx, dy = 0, 0
    more = _finer(now, first, dx, dy, reach)
    return dx + more[0], dy + more[1]


def _cut(now: Plane, first: Plane, dx: int, dy: int, reach: int) -> tuple[Plane, Plane]:
    """The middle of the first picture, and what lies there in a frame shifted so."""
    height, width = first.shape
    return (
        now[reach + dy : height - reach + dy, reach + dx : width - reach + dx],
        first[reach : height - reach, reach : width - reach],
    )


def _unlike(now: Plane, first: Plane, dx: int, dy: int, reach: int) -> float:
    a, b = _cut(now, first, dx, dy, reach)
    _, off = cv2.threshold(cv2.absdiff(a, b), _MOST, 0, cv2.THRESH_TRUNC)
    return float(cv2.mean(off)[0])


def _descend(
    now: Plane, first: Plane, start: tuple[int, int], reach: int
) -> tuple[float, int, int]:
    """The least difference to be reached from a shift by steps that each lessen it."""
    x, y = (min(max(n, -reach), reach) for n in start)
    best = (_unlike(now, first, x, y, reach), x, y)
    while True:
        near = [
            (_unlike(now, first, u, v, reach), u, v)
            for u in range(max(-reach, best[1] - 1), min(reach, best[1] + 1) + 1)
            for v in range(max(-reach, best[2] - 1), min(reach, best[2] + 1) + 1)
        ]
        if min(near) >= best:
            return best
        best = min(near)


def _finer(now: Plane, first: Plane, dx: int, dy: int, reach: int) -> tuple[float, float]:
    """Parts of a pixel, half of one at most, that the frame is shifted further."""

    def at(x: int, y: int) -> float:
        inside = min(max(x, -reach), reach), min(max(y, -reach), reach)
        return _unlike(now, first, *inside, reach)

    here = at(dx, dy)
    return (
        _lowest(at(dx - 1, dy), here, at(dx + 1, dy)),
        _lowest(at(dx, dy - 1), here, at(dx, dy + 1)),
    )


def _lowest(before: float, here: float, after: float) -> float:
    """-0.5 to 0.5: where two lines of one slope meet that go through three values."""
    rise = max(before, after) - here
    return 0.5 * (before - after) / rise if rise > 0 else 0.0
