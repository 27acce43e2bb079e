"""A scene's picture and its truth at every pixel centre: depth, normals, objects, labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.raycast.intersect import Triple, dot, enter, normal_at
from vgen_eval_plugins.raycast.scenes import Camera, Scene
from vgen_eval_plugins.raycast.shading import Hits, shade, sky_colours, to_bytes

__all__ = ["Rendering", "render"]

Floats = NDArray[np.float64]

_BAND = 16_384
"""Pixels cast together: their arrays stay in the cache."""


class Rendering(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A picture, and what is known of each of its pixels."""

    scene: Scene
    rgb: NDArray[np.uint8]
    """(H, W, 3)."""
    depth: Floats
    """(H, W) metres along the optical axis; NaN: sky."""
    normals: Floats
    """(H, W, 3) unit vectors, x right, y up, z towards the camera, facing it; NaN: sky."""
    objects: NDArray[np.int32]
    """(H, W) places in `scene.objects`; -1: sky."""

    @property
    def distance(self) -> Floats:
        """(H, W) metres from the pinhole along the ray; NaN: sky."""
        x, y = _plane_coordinates(self.scene.camera)
        return np.asarray(self.depth * np.sqrt(x * x + y * y + 1.0))

    def labels(
        self, classes: tuple[str, ...], *, names: Mapping[str, str | None] | None = None
    ) -> NDArray[np.int32]:
        """(H, W) places in `classes`; -1 where the scene's label is none of them.

        `names`: labels of the scene that go by another name.
        """
        other = names or {}
        own = (*(shape.label for shape in self.scene.objects), self.scene.sky.label)
        named = [other.get(label, label) if label is not None else None for label in own]
        table = [classes.index(label) if label in classes else -1 for label in named]
        return np.array(table, np.int32)[self.objects]  # -1, the sky, is the last

    def mask(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """(H, W) the visible pixels of the objects of these names."""
        wanted = set(names)
        table = [shape.name in wanted for shape in self.scene.objects]
        return np.array([*table, False])[self.objects]

    def points(self, label: str) -> Floats:
        """(N, 2) x, y of a pixel of each object of the label that is seen at all.

        It is the centroid of the visible pixels, or of these the nearest to it where another
        object hides it.
        """
        found = []
        for place, shape in enumerate(self.scene.objects):
            rows, columns = np.nonzero(self.objects == place)
            if shape.label != label or not len(rows):
                continue
            x, y = int(columns.sum()) / len(rows), int(rows.sum()) / len(rows)
            if self.objects[math.floor(y + 0.5), math.floor(x + 0.5)] != place:
                at = np.argmin((columns - x) ** 2 + (rows - y) ** 2)
                x, y = float(columns[at]), float(rows[at])
            found.append((x, y))
        return np.array(found, np.float64).reshape(-1, 2)


def render(scene: Scene) -> Rendering:
    """The scene seen through its camera. The same bits on every machine: see `intersect`."""
    camera = scene.camera
    direction = _directions(camera)
    origin = (0.0, camera.eye_m, 0.0)
    depth, objects = _cast(scene, origin, direction)
    rgb = np.empty((camera.height, camera.width, 3), np.uint8)
    normals = np.full((camera.height, camera.width, 3), np.nan)
    for place, shape in enumerate(scene.objects):
        seen = objects == place
        if not seen.any():
            continue
        ray = _pick(direction, seen)
        t = depth[seen]
        normal = normal_at(shape, origin, ray, t)
        normal = tuple(np.broadcast_to(n, t.shape) for n in normal)  # type: ignore[assignment]
        point = tuple(o + t * d for o, d in zip(origin, ray, strict=True))
        steps = _steps(camera, ray, t, normal)
        rgb[seen] = to_bytes(shade(scene, Hits(shape, point, normal, steps)))
        normals[seen] = np.stack(_to_camera(camera, normal), axis=1)
    sky = objects < 0
    rgb[sky] = to_bytes(sky_colours(scene, _pick(direction, sky)))
    return Rendering(scene=scene, rgb=rgb, depth=depth, normals=normals, objects=objects)


def _cast(scene: Scene, origin: Triple, direction: Triple) -> tuple[Floats, NDArray[np.int32]]:
    """Depth, NaN where there is nothing, and the place of the nearest object."""
    camera = scene.camera
    depth = np.full((camera.height, camera.width), np.inf)
    objects = np.full((camera.height, camera.width), -1, np.int32)
    rows = max(1, _BAND // camera.width)
    for top in range(0, camera.height, rows):
        band = slice(top, top + rows)
        x, y, z = direction
        for place, shape in enumerate(scene.objects):
            t = enter(shape, origin, (x, y[band], z[band]))
            nearer = t < depth[band]
            np.copyto(depth[band], t, where=nearer)
            objects[band][nearer] = place
    depth[objects < 0] = np.nan
    return depth, objects


def _plane_coordinates(camera: Camera) -> tuple[Floats, Floats]:
    """(1, W) x and (H, 1) y, upwards, of the pixel centres on the plane one metre ahead."""
    x = (np.arange(camera.width, dtype=np.float64) - camera.principal_px[0]) / camera.focal_px
    y = (camera.principal_px[1] - np.arange(camera.height, dtype=np.float64)) / camera.focal_px
    return x[None, :], y[:, None]


def _tilt(camera: Camera) -> tuple[float, float]:
    """Cosine and sine of the angle by which the camera looks down."""
    length = math.sqrt(1.0 + camera.down * camera.down)
    return 1.0 / length, camera.down / length


def _directions(camera: Camera) -> Triple:
    """Rays of the pixel centres in the world, as long as makes t the depth along the axis."""
    x, y = _plane_coordinates(camera)
    cos, sin = _tilt(camera)
    return x, cos * y - sin, -sin * y - cos


def _to_camera(camera: Camera, v: Triple) -> Triple:
    """Directions of the world in the camera's axes: right, up, towards it."""
    cos, sin = _tilt(camera)
    return v[0], cos * v[1] - sin * v[2], sin * v[1] + cos * v[2]


def _pick(direction: Triple, where: NDArray[np.bool_]) -> Triple:
    x, y, z = (np.broadcast_to(d, where.shape)[where] for d in direction)
    return x, y, z


def _steps(camera: Camera, ray: Triple, t: Floats, normal: Triple) -> tuple[Triple, Triple]:
    """How far the point on the tangent plane moves from column to column and row to row."""
    cos, sin = _tilt(camera)
    along = np.minimum(dot(normal, ray), -1e-12)  # along the surface: as good as endless
    pixel = 1.0 / camera.focal_px
    steps = []
    for change in ((pixel, 0.0, 0.0), (0.0, -cos * pixel, sin * pixel)):
        slip = dot(normal, change) / along
        steps.append(tuple(t * (c - slip * d) for c, d in zip(change, ray, strict=True)))
    return steps[0], steps[1]
