"""The colours of a picture: two-colour textures, one light with hard shadows, ambient light."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.raycast.intersect import Triple, dot, enter, to_local, unit
from vgen_eval_plugins.raycast.scenes import Box, Checker, Colour, Plane, Scene, Shape, Stripes

__all__ = ["Hits", "shade", "sky_colours", "to_bytes"]

Floats = NDArray[np.float64]

_GAP_M = 1e-6
"""Metres nearer than which nothing throws a shadow: bodies may touch."""
_AXES = ("x", "y", "z")


class Hits:
    """Where the rays of N pixels come upon one body."""

    def __init__(
        self, shape: Shape, point: Triple, normal: Triple, widths: tuple[Triple, Triple]
    ) -> None:
        """`widths`: how far the point moves on the body's surface from column to column, row to
        row."""
        self.shape = shape
        self.point = point
        self.normal = normal
        self.widths = widths


def to_bytes(linear: Floats) -> NDArray[np.uint8]:
    """Levels 0-255 of linear light 0-1: a gamma of 2, for a square root is exact everywhere."""
    return np.floor(255.0 * np.sqrt(np.minimum(linear, 1.0)) + 0.5).astype(np.uint8)


def shade(scene: Scene, hits: Hits) -> Floats:
    """(N, 3) linear light from a body."""
    light = scene.light
    toward = unit(light.toward)
    facing = np.maximum(dot(hits.normal, toward), 0.0)
    lit = facing > 0
    facing[_in_shadow(scene, hits, toward, lit)] = 0.0
    # a little more from above than from below, so that an edge shows in the shade too
    strength = light.ambient * (0.85 + 0.15 * hits.normal[1]) + light.diffuse * facing
    return np.asarray(_albedo(hits) * strength[:, None])


def sky_colours(scene: Scene, direction: Triple) -> Floats:
    """(N, 3) linear light of the sky along rays."""
    low = _linear(scene.sky.colour)
    high = _linear(scene.sky.zenith) if scene.sky.zenith is not None else low
    rise = np.maximum(direction[1] / np.sqrt(dot(direction, direction)), 0.0)
    return np.asarray(low + (high - low) * rise[:, None])


def _in_shadow(
    scene: Scene, hits: Hits, toward: tuple[float, float, float], lit: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Places, among the lit, where another body hides the light; bodies are convex."""
    places = np.flatnonzero(lit)
    dark = np.zeros(len(places), np.bool_)
    start: Triple = tuple(np.broadcast_to(c, lit.shape)[places] for c in hits.point)  # type: ignore[assignment]
    for other in scene.objects:
        if other.shadow and other is not hits.shape:
            t = enter(other, start, toward)
            dark |= (t > _GAP_M) & (t < np.inf)
    return places[dark]


def _linear(colour: Colour) -> Floats:
    levels = np.array(colour, np.float64) / 255.0
    return levels * levels


def _albedo(hits: Hits) -> Any:
    texture = hits.shape.texture
    first = _linear(hits.shape.colour)
    if texture is None:
        return first
    share = _pattern(hits, texture)
    return first + (_linear(texture.other) - first) * share[:, None]


def _pattern(hits: Hits, texture: Checker | Stripes) -> Floats:
    """(N,) the share of the second colour, averaged over each pixel's part of the surface.

    Averaged, because a far floor sampled at pixel centres is noise.
    """
    local = to_local(hits.shape, hits.point)
    zero = to_local(hits.shape, (0.0, 0.0, 0.0))
    steps = [to_local(hits.shape, step) for step in hits.widths]
    waves = []
    for axis in range(3):
        wide = sum(np.abs(step[axis] - zero[axis]) for step in steps)
        waves.append(_wave(local[axis] / texture.size_m, wide / texture.size_m))
    if isinstance(texture, Stripes):
        return np.asarray(0.5 - 0.5 * waves[_AXES.index(texture.axis)])
    normal = to_local(hits.shape, hits.normal)
    flat = [np.abs(n - z) for n, z in zip(normal, zero, strict=True)]
    product = np.ones_like(waves[0])
    for axis in range(3):
        # across a flat face the pattern is constant: that axis has no part in it
        others = [flat[a] for a in range(3) if a != axis]
        across = _is_flat(hits.shape) & (flat[axis] >= others[0]) & (flat[axis] >= others[1])
        product *= np.where(across, 1.0, waves[axis])
    return np.asarray(0.5 - 0.5 * product)


def _is_flat(shape: Shape) -> bool:
    return isinstance(shape, (Plane, Box))


def _wave(x: Any, wide: Any) -> Any:
    """The mean over a stretch of that width, about x, of 1 on [0, 1), -1 on [1, 2), and so on."""
    wide = np.maximum(wide, 0.01)
    return (_area(x + 0.5 * wide) - _area(x - 0.5 * wide)) / wide


def _area(x: Any) -> Any:
    """The wave's integral from 0."""
    return 1.0 - np.abs(x - 2.0 * np.floor(0.5 * x) - 1.0)
