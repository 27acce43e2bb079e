"""Scenes with exact depth, normals and labels at any size, cast once and kept."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from vgen_eval_plugins.raycast.render import render
from vgen_eval_plugins.raycast.scenes import parse_scenes

__all__ = ["View", "crowd", "room", "street"]

ROOM: list[dict[str, Any]] = [
    {"shape": "sphere", "name": "red ball", "label": "ball", "colour": [196, 52, 44],
     "centre": [-0.7, 0.4, -3.1], "radius": 0.4},
    {"shape": "sphere", "name": "green ball", "label": "ball", "colour": [60, 150, 84],
     "centre": [1.2, 0.22, -3.2], "radius": 0.22},
    {"shape": "box", "name": "cabinet", "label": "cabinet", "colour": [150, 104, 62],
     "centre": [0.55, 0.55, -3.6], "size": [0.9, 1.1, 0.5], "turn": 0.3},
    {"shape": "plane", "name": "floor", "label": "floor", "colour": [172, 150, 122],
     "texture": {"kind": "checker", "other": [142, 120, 96], "size_m": 0.4},
     "point": [0, 0, 0], "normal": [0, 1, 0]},
    {"shape": "plane", "name": "ceiling", "label": "ceiling", "colour": [240, 240, 236],
     "point": [0, 2.7, 0], "normal": [0, -1, 0]},
    {"shape": "plane", "name": "left wall", "label": "wall", "colour": [206, 214, 222],
     "point": [-2.0, 0, 0], "normal": [1, 0, 0]},
    {"shape": "plane", "name": "right wall", "label": "wall", "colour": [224, 212, 190],
     "point": [1.7, 0, 0], "normal": [-1, 0, 0]},
    {"shape": "plane", "name": "back wall", "label": "wall", "colour": [190, 200, 186],
     "point": [0, 0, -5.0], "normal": [0, 0, 1]},
]  # fmt: skip
"""Metres 1.5 to 5; a ball, a cabinet and five planes face every way."""

STREET: list[dict[str, Any]] = [
    {"shape": "box", "name": "car body", "label": "car", "colour": [40, 70, 150],
     "centre": [1.3, 0.75, -9.0], "size": [1.8, 1.3, 3.6]},
    {"shape": "cylinder", "name": "walker", "label": "person", "colour": [190, 60, 60],
     "base": [-2.9, 0.1, -8.0], "radius": 0.3, "height": 1.7},
    {"shape": "cylinder", "name": "lamp post", "label": "pole", "colour": [130, 130, 134],
     "base": [-2.3, 0.1, -11.0], "radius": 0.12, "height": 6.0},
    {"shape": "sphere", "name": "tree", "label": "vegetation", "colour": [70, 120, 56],
     "centre": [7.0, 2.6, -16.0], "radius": 2.4},
    {"shape": "box", "name": "house", "label": "building", "colour": [180, 150, 126],
     "texture": {"kind": "stripes", "other": [150, 122, 100], "size_m": 1.5},
     "centre": [-9.0, 3.0, -20.0], "size": [9.0, 6.0, 18.0]},
    {"shape": "box", "name": "far house", "label": "building", "colour": [160, 160, 156],
     "centre": [12.0, 4.0, -46.0], "size": [14.0, 8.0, 10.0]},
    {"shape": "box", "name": "pavement", "label": "sidewalk", "colour": [170, 166, 160],
     "centre": [-3.2, 0.05, -30.0], "size": [2.4, 0.1, 56.0]},
    {"shape": "box", "name": "verge", "label": "terrain", "colour": [120, 150, 80],
     "centre": [9.0, 0.02, -40.0], "size": [10.0, 0.04, 76.0]},
    {"shape": "plane", "name": "road", "label": "road", "colour": [96, 96, 100],
     "point": [0, 0, 0], "normal": [0, 1, 0]},
]  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """A picture and its truth; every array is its owner's alone to read."""

    rgb: NDArray[np.uint8]
    """(H, W, 3)."""
    depth: NDArray[np.float64]
    """(H, W) metres along the optical axis; NaN: sky."""
    normals: NDArray[np.float64]
    """(H, W, 3) right, up, towards the camera; NaN: sky."""
    places: NDArray[np.int32]
    """(H, W) the object's place; -1: sky."""
    names: tuple[str, ...]
    labels: tuple[str, ...]

    def mask(self, *names: str) -> NDArray[np.bool_]:
        """(H, W) pixels of the objects of these names."""
        return np.isin(self.places, [self.names.index(name) for name in names])

    def masks(self) -> Mapping[str, NDArray[np.bool_]]:
        """Label -> (H, W) of the labels with a pixel; the sky is `sky`."""
        table = {"sky": [-1]}
        for place, label in enumerate(self.labels):
            table.setdefault(label, []).append(place)
        found = {label: np.isin(self.places, places) for label, places in table.items()}
        return {label: mask for label, mask in found.items() if mask.any()}

    def turned(self, number: int) -> View:
        """Another exact view for each number: mirrored when odd, larger and darker from 2 on.

        A world seen in a mirror has its depth mirrored and x of its normals negated; one that is
        1.3 times as large in every direction looks the same and is 1.3 times as far.
        """
        view = self
        if number % 2:
            view = dataclasses.replace(
                view,
                rgb=np.ascontiguousarray(view.rgb[:, ::-1]),
                depth=np.ascontiguousarray(view.depth[:, ::-1]),
                normals=view.normals[:, ::-1] * (-1.0, 1.0, 1.0),
                places=np.ascontiguousarray(view.places[:, ::-1]),
            )
        if number >= 2:
            times = 1.0 + 0.3 * (number // 2)
            view = dataclasses.replace(
                view,
                rgb=(view.rgb * (1.0 / times)).astype(np.uint8),
                depth=view.depth * times,
            )
        return view


def _cast(objects: list[dict[str, Any]], eye_m: float, width: int, height: int) -> View:
    bare = [shape | {"shadow": False} for shape in objects]  # shadows take most of the time
    scene = {
        "name": "scene",
        "camera": {
            "width": width,
            "height": height,
            "focal_px": 0.9 * width,
            "principal_px": [(width - 1) / 2, (height - 1) / 2],
            "eye_m": eye_m,
        },
        "light": {"toward": [0.4, 1.0, 0.6], "diffuse": 0.65, "ambient": 0.4},
        "objects": bare,
    }
    made = render(parse_scenes(json.dumps([scene]).encode(), file="look-alike")["scene"])
    return View(
        rgb=made.rgb,
        depth=made.depth,
        normals=made.normals,
        places=made.objects,
        names=made.scene.names,
        labels=tuple(shape.label for shape in made.scene.objects),
    )


@functools.lru_cache(maxsize=32)
def room(number: int = 0, *, width: int = 640, height: int = 480) -> View:
    """A room, closed all around; another view for each number."""
    return (
        room(width=width, height=height).turned(number)
        if number
        else _cast(ROOM, 1.4, width, height)
    )


@functools.lru_cache(maxsize=32)
def street(number: int = 0, *, width: int = 640, height: int = 320) -> View:
    """A street below the sky; another view for each number."""
    return (
        street(width=width, height=height).turned(number)
        if number
        else _cast(STREET, 1.5, width, height)
    )


def crowd(
    number: int,
    count: int,
    *,
    width: int = 384,
    height: int = 256,
    colour: tuple[int, int, int] = (60, 110, 190),
    ground: Literal["light", "dark"] = "light",
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """A picture of `count` discs that do not touch, and their centres (count, 2) x, y in pixels."""
    rng = np.random.default_rng(1000 + number)
    level = 226 if ground == "light" else 40
    rgb = np.full((height, width, 3), level, np.uint8)
    rgb += rng.integers(0, 12, (height, width, 1), dtype=np.uint8)
    columns = max(1, int(np.ceil(np.sqrt(count * width / height))))
    rows = max(1, -(-count // columns))
    step = (width / columns, height / rows)
    radius = 0.3 * min(*step, 60.0)
    y, x = np.mgrid[:height, :width]
    centres = []
    for place in range(count):
        column, row = place % columns, place // columns
        slack = (step[0] / 2 - radius - 1, step[1] / 2 - radius - 1)
        at = (
            (column + 0.5) * step[0] + float(rng.uniform(-1, 1)) * slack[0],
            (row + 0.5) * step[1] + float(rng.uniform(-1, 1)) * slack[1],
        )
        rgb[(x - at[0]) ** 2 + (y - at[1]) ** 2 <= radius**2] = colour
        centres.append(at)
    return rgb, np.array(centres, np.float64).reshape(-1, 2)
