"""Where dots go so that they can be told apart, and how they are painted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["Dots", "lay_dots", "paint_red", "paint_white", "spread"]

Array = NDArray[np.float64]
RGB = NDArray[np.uint8]

REACH = 0.35
"""A dot's radius as a part of the distance to its nearest neighbour: below half, so none touch."""

GAP = 2.5
"""Pixels between two dots at least, or resizing would bridge them."""

# other reds for places that are pure red already, where a pure red dot would change nothing
_REDS = ((255, 0, 0), (150, 0, 0), (255, 75, 75), (90, 0, 0))
_CLEAR = 80
"""Difference to the background, in levels, at which pure red is clear enough."""


class Dots(msgspec.Struct, frozen=True, eq=False):
    """Discs: centres int (N, 2) x, y and radii int (N,), in pixels."""

    centres: NDArray[np.int64]
    radii: NDArray[np.int64]


def spread(count: int, *, height: int, width: int) -> Array:
    """(count, 2) x, y on a free grid that fills the picture evenly."""
    if count == 0:
        return np.zeros((0, 2))
    columns = max(1, math.ceil(math.sqrt(count * width / height)))
    rows = math.ceil(count / columns)
    at = np.arange(count)
    x = (at % columns + 0.5) * width / columns - 0.5
    y = (at // columns + 0.5) * height / rows - 0.5
    return np.stack([x, y], axis=1)


def lay_dots(
    points: Array, *, height: int, width: int, min_radius: float, max_radius: float
) -> Dots:
    """One disc a point, (N, 2) x, y: as large as its neighbours and the border allow.

    Points too near to another are moved to the nearest free place; in a picture too small for
    all, as many are laid as find room.
    """
    least = max(1, math.ceil(min_radius))
    pitch = max(least / REACH, 2 * least + GAP)
    low = np.minimum([least + 1, least + 1], [(width - 1) // 2, (height - 1) // 2])
    high = np.maximum([width - 2 - least, height - 2 - least], low)
    centres = _separate(np.clip(np.rint(points), low, high), pitch, low, high)
    if not len(centres):
        return Dots(np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    nearest = _nearest_distances(centres)
    border = np.minimum(centres, [width - 1, height - 1] - centres).min(axis=1) - 1
    room = np.minimum(np.minimum(REACH * nearest, (nearest - GAP) / 2), border)
    # in a small picture one pixel is much of a dot: count the half pixel around it
    largest = max(0.0, min(max_radius, 1.2 * max_radius - 0.5))
    radii = np.clip(np.floor(np.clip(room, min(least, largest), largest)), 0, None)
    return Dots(centres.astype(np.int64), radii.astype(np.int64))


def _separate(points: Array, pitch: float, low: Array, high: Array) -> Array:
    """The points with those nearer than `pitch` to an earlier one moved to free places."""
    free = _lattice(pitch, low, high)
    kept: list[Array] = []
    moved: list[Array] = []
    for point in points:
        if kept and _distances(np.array(kept), point).min() < pitch:
            moved.append(point)
        else:
            kept.append(point)
    if not moved:
        return points
    open_places = np.ones(len(free), bool)
    for point in kept:
        open_places &= _distances(free, point) >= pitch
    for point in moved:
        if not open_places.any():
            break
        places = np.flatnonzero(open_places)
        place = free[places[_distances(free[places], point).argmin()]]
        kept.append(place)
        open_places &= _distances(free, place) >= pitch
    return np.array(kept)


def _lattice(pitch: float, low: Array, high: Array) -> Array:
    step = math.ceil(pitch)
    xs = np.arange(low[0], high[0] + 1, step, dtype=np.float64)
    ys = np.arange(low[1], high[1] + 1, step, dtype=np.float64)
    return np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


def _distances(points: Array, point: Array) -> Array:
    return np.asarray(np.hypot(points[:, 0] - point[0], points[:, 1] - point[1]))


def _nearest_distances(points: Array) -> Array:
    """Distance from each point to its nearest other one; infinite for a single point."""
    nearest = np.full(len(points), np.inf)
    for at, point in enumerate(points):
        others = _distances(points, point)
        others[at] = np.inf
        nearest[at] = others.min()
    return nearest


@lru_cache(maxsize=256)
def _disc(radius: int) -> NDArray[np.bool_]:
    """bool (2r + 1, 2r + 1): pixels of a disc.

    OpenCV's circles of radius 1 and 2 are diamonds, which fail a test of circularity once
    enlarged; a little over the radius keeps the corners.
    """
    along = np.arange(-radius, radius + 1)
    return np.asarray(along[:, None] ** 2 + along[None, :] ** 2 <= (radius + 0.42) ** 2)


def paint_red(picture: RGB, dots: Dots) -> RGB:
    """A copy of the RGB picture with a red disc for every dot."""
    painted = np.array(picture)
    for x, y, radius in _each(dots):
        _paint(painted, x, y, radius, _pick_red(picture, x, y, radius))
    return painted


def paint_white(*, height: int, width: int, dots: Dots) -> RGB:
    """White discs on black, uint8 (height, width, 3)."""
    canvas = np.zeros((height, width, 3), np.uint8)
    for x, y, radius in _each(dots):
        _paint(canvas, x, y, radius, (255, 255, 255))
    return canvas


def _each(dots: Dots) -> Iterator[tuple[int, int, int]]:
    for (x, y), radius in zip(dots.centres.tolist(), dots.radii.tolist(), strict=True):
        yield x, y, radius


def _paint(canvas: RGB, x: int, y: int, radius: int, colour: tuple[int, int, int]) -> None:
    top, left = max(0, y - radius), max(0, x - radius)
    under = canvas[top : y + radius + 1, left : x + radius + 1]
    from_row, from_column = top - (y - radius), left - (x - radius)
    disc = _disc(radius)[from_row : from_row + under.shape[0]]
    under[disc[:, from_column : from_column + under.shape[1]]] = colour


def _pick_red(picture: RGB, x: int, y: int, radius: int) -> tuple[int, int, int]:
    """Pure red, unless the background is so near to it that another red is clearer."""
    top, left = max(0, y - radius), max(0, x - radius)
    under = picture[top : y + radius + 1, left : x + radius + 1].reshape(-1, 3).astype(np.int16)
    clear = [int(np.abs(under - np.array(red)).max(axis=1).min()) for red in _REDS]
    return _REDS[0] if clear[0] >= _CLEAR else _REDS[int(np.argmax(clear))]
