"""Where a ray enters a body, and the body's normal there: closed forms in float64.

A ray is origin + t * direction. Origin and direction are x, y, z, each a number or an array; arrays
broadcast. Only + - * / and square roots are used, one NumPy call each, so that every machine with
IEEE arithmetic gives the same bits; a matrix product or a sine would not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.raycast.scenes import Box, Cylinder, Plane, Shape, Sphere

__all__ = ["Triple", "dot", "enter", "normal_at", "to_local", "unit"]

Triple = tuple[Any, Any, Any]
"""x, y, z: numbers or arrays that broadcast."""
Floats = NDArray[np.float64]


def dot(a: Triple, b: Triple) -> Any:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def unit(vector: Sequence[float]) -> tuple[float, float, float]:
    """The vector at length 1."""
    x, y, z = vector
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


def enter(shape: Shape, origin: Triple, direction: Triple) -> Any:
    """t at which the rays come upon the body from outside; inf where they miss or start inside."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if isinstance(shape, Plane):
            normal = unit(shape.normal)
            t = dot(normal, _minus(shape.point, origin)) / dot(normal, direction)
            return np.where(np.isfinite(t) & (t > 0), t, np.inf)
        first, last = _span(shape, _to_body(shape, origin), _rotate(shape, direction))
        return np.where((first <= last) & (first > 0), first, np.inf)


def normal_at(shape: Shape, origin: Triple, direction: Triple, t: Floats) -> Triple:
    """The world's unit normal, on the side of the ray's origin, where rays enter the body."""
    if isinstance(shape, Plane):
        normal = unit(shape.normal)
        side = np.where(dot(normal, direction) > 0, -1.0, 1.0)
        return normal[0] * side, normal[1] * side, normal[2] * side
    start, along = _to_body(shape, origin), _rotate(shape, direction)
    x, y, z = (s + t * a for s, a in zip(start, along, strict=True))
    zero = np.zeros_like(t)
    if isinstance(shape, Sphere):
        return x / shape.radius, y / shape.radius, z / shape.radius
    if isinstance(shape, Cylinder):
        with np.errstate(divide="ignore", invalid="ignore"):
            low, _ = _slab(start[1], along[1], 0.0, shape.height)
        end = low == t  # it came in through the top or the bottom
        return (
            np.where(end, 0.0, x / shape.radius),
            np.where(end, -np.sign(along[1]), 0.0),
            np.where(end, 0.0, z / shape.radius),
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        lows = [
            _slab(s, a, -side / 2, side / 2)[0]
            for s, a, side in zip(start, along, shape.size, strict=True)
        ]
    on_x = lows[0] == t
    on_y = (lows[1] == t) & ~on_x
    local = (
        np.where(on_x, -np.sign(along[0]), zero),
        np.where(on_y, -np.sign(along[1]), zero),
        np.where(on_x | on_y, zero, -np.sign(along[2])),
    )
    return _rotate_back(shape, local)


def to_local(shape: Shape, point: Triple) -> Triple:
    """Points of the world in the body's own axes; those of a plane are the world's."""
    return point if isinstance(shape, Plane) else _to_body(shape, point)


def _minus(a: Triple, b: Triple) -> Triple:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _to_body(shape: Sphere | Box | Cylinder, point: Triple) -> Triple:
    home = shape.base if isinstance(shape, Cylinder) else shape.centre
    return _rotate(shape, _minus(point, home))


def _turn(shape: Shape) -> tuple[float, float]:
    """Cosine and sine of a box's turn."""
    if not isinstance(shape, Box) or shape.turn == 0.0:
        return 1.0, 0.0
    length = math.sqrt(1.0 + shape.turn * shape.turn)
    return 1.0 / length, shape.turn / length


def _rotate(shape: Shape, v: Triple) -> Triple:
    """A direction of the world in the body's own axes."""
    cos, sin = _turn(shape)
    return v if sin == 0.0 else (cos * v[0] - sin * v[2], v[1], sin * v[0] + cos * v[2])


def _rotate_back(shape: Shape, v: Triple) -> Triple:
    cos, sin = _turn(shape)
    return v if sin == 0.0 else (cos * v[0] + sin * v[2], v[1], cos * v[2] - sin * v[0])


def _span(shape: Sphere | Box | Cylinder, start: Triple, along: Triple) -> tuple[Any, Any]:
    """t where rays in the body's own axes go in and come out; NaN or first > last: a miss."""
    if isinstance(shape, Sphere):
        return _round(start, along, shape.radius)
    if isinstance(shape, Cylinder):
        sides = _round((start[0], 0.0, start[2]), (along[0], 0.0, along[2]), shape.radius)
        ends = _slab(start[1], along[1], 0.0, shape.height)
        return np.maximum(sides[0], ends[0]), np.minimum(sides[1], ends[1])
    spans = [
        _slab(s, a, -side / 2, side / 2)
        for s, a, side in zip(start, along, shape.size, strict=True)
    ]
    (x, y, z) = spans
    first = np.maximum(np.maximum(x[0], y[0]), z[0])
    return first, np.minimum(np.minimum(x[1], y[1]), z[1])


def _slab(start: Any, along: Any, low: float, high: float) -> tuple[Any, Any]:
    """t between two parallel faces; a ray along them gets -inf, inf within and inf, inf without."""
    a, b = np.divide(low - start, along), np.divide(high - start, along)
    return np.minimum(a, b), np.maximum(a, b)


def _round(start: Triple, along: Triple, radius: float) -> tuple[Any, Any]:
    """t in a sphere, or in an endless cylinder whose axis is left out of `start` and `along`.

    By the distance of the ray from the centre: b * b - a * c of the schoolbook loses half of the
    digits for small things far away.
    """
    a = dot(along, along)
    middle = np.divide(-dot(start, along), a)  # t nearest to the centre
    off = tuple(s + middle * d for s, d in zip(start, along, strict=True))
    half = np.sqrt((radius * radius - dot(off, off)) / a)  # NaN: past it
    first, last = middle - half, middle + half
    if np.all(a > 0):
        return first, last
    inside = dot(start, start) < radius * radius  # a ray along the axis
    free = np.where(inside, -np.inf, np.inf)
    return np.where(a > 0, first, free), np.where(a > 0, last, np.inf)
