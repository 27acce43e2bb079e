"""The records of a scene, and the strict reading of a file of scenes.

World frame: x right, y up, z towards the viewer, metres. The camera stands at (0, eye_m, 0), looks
along -z and never rolls; the house frame of depth and normals is this frame tilted with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from vgen_eval.errors import CardError, Problem

__all__ = [
    "Box",
    "Camera",
    "Checker",
    "Cylinder",
    "Light",
    "Plane",
    "Scene",
    "Shape",
    "Sky",
    "Sphere",
    "Stripes",
    "parse_scenes",
]

Place = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Vector = tuple[Place, Place, Place]
"""x, y, z in metres of the world."""
Level = Annotated[int, msgspec.Meta(ge=0, le=255)]
Colour = tuple[Level, Level, Level]
"""R, G, B of the surface in full light."""
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Length = Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]
Pixels = Annotated[int, msgspec.Meta(ge=8, le=2048)]
Name = Annotated[str, msgspec.Meta(min_length=1)]

_SHORTEST = 1e-6


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a scene: immutable, unknown keys refused."""


class Camera(Record, frozen=True, kw_only=True):
    """A pinhole; pixel (row v, column u) has its centre at x = u, y = v."""

    width: Pixels
    height: Pixels
    focal_px: Length
    principal_px: tuple[Place, Place]
    """x, y of the optical axis in the picture."""
    eye_m: Place = 0.0
    """Height of the pinhole above the plane y = 0."""
    down: Annotated[float, msgspec.Meta(ge=-10, le=10)] = 0.0
    """Tangent of the angle by which it looks down: a tangent, so that no sine need be computed."""


class Checker(Record, frozen=True, kw_only=True, tag_field="kind", tag="checker"):
    """Cells of two colours, `size_m` wide: squares on flat faces, cubes in round bodies."""

    other: Colour
    size_m: Length


class Stripes(Record, frozen=True, kw_only=True, tag_field="kind", tag="stripes"):
    """Bands of two colours, `size_m` wide, that follow each other along an axis of the body."""

    other: Colour
    size_m: Length
    axis: Literal["x", "y", "z"] = "y"


class Body(Record, frozen=True, kw_only=True, tag_field="shape"):
    """What every object holds."""

    name: Name
    label: Name
    colour: Colour
    texture: Checker | Stripes | None = None
    shadow: bool = True
    """Does it keep light from others? Walls and ceilings of a room must not."""


class Sphere(Body, frozen=True, kw_only=True, tag="sphere"):
    """A ball."""

    centre: Vector
    radius: Length

    def holds(self, point: Vector) -> bool:
        return math.dist(point, self.centre) <= self.radius


class Plane(Body, frozen=True, kw_only=True, tag="plane"):
    """All points around `point` square to `normal` (of any length): endless, with two sides."""

    point: Vector
    normal: Vector

    def __post_init__(self) -> None:
        if math.hypot(*self.normal) < _SHORTEST:
            raise ValueError("the normal of a plane has no length")

    def holds(self, point: Vector) -> bool:
        pairs = zip(self.normal, point, self.point, strict=True)
        return sum(n * (p - q) for n, p, q in pairs) == 0.0


class Box(Body, frozen=True, kw_only=True, tag="box"):
    """A block of the given sides, turned about the vertical."""

    centre: Vector
    size: tuple[Length, Length, Length]
    turn: Annotated[float, msgspec.Meta(ge=-1, le=1)] = 0.0
    """Tangent of the angle from x towards -z: up to 45 degrees either way, which is every box."""

    def holds(self, point: Vector) -> bool:
        x, y, z = (p - c for p, c in zip(point, self.centre, strict=True))
        scale = math.sqrt(1.0 + self.turn * self.turn)
        along = ((x - self.turn * z) / scale, y, (z + self.turn * x) / scale)
        return all(abs(a) <= side / 2 for a, side in zip(along, self.size, strict=True))


class Cylinder(Body, frozen=True, kw_only=True, tag="cylinder"):
    """An upright cylinder with both its ends, standing on `base`; a disc when it is low."""

    base: Vector
    radius: Length
    height: Length

    def holds(self, point: Vector) -> bool:
        x, y, z = (p - c for p, c in zip(point, self.base, strict=True))
        return 0.0 <= y <= self.height and math.hypot(x, z) <= self.radius


Shape = Sphere | Plane | Box | Cylinder


class Light(Record, frozen=True, kw_only=True):
    """A light at infinity, and what comes from everywhere."""

    toward: Vector
    """Direction to the light, of any length."""
    diffuse: Share = 0.75
    ambient: Share = 0.35

    def __post_init__(self) -> None:
        if math.hypot(*self.toward) < _SHORTEST:
            raise ValueError("the direction of a light has no length")


class Sky(Record, frozen=True, kw_only=True):
    """What is seen where there is no object."""

    colour: Colour = (200, 220, 240)
    zenith: Colour | None = None
    """The colour straight above; None: the same everywhere."""
    label: Name | None = None
    """Its class; None: no truth there."""


class Scene(Record, frozen=True, kw_only=True):
    """A camera, a light and objects; where two are equally near, the first one listed is seen."""

    name: Name
    camera: Camera
    light: Light
    sky: Sky = Sky()
    objects: Annotated[tuple[Shape, ...], msgspec.Meta(min_length=1, max_length=64)]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for shape in self.objects:
            if shape.name in seen:
                raise ValueError(f"two objects are called '{shape.name}'")
            if shape.holds((0.0, self.camera.eye_m, 0.0)):
                raise ValueError(f"the camera lies in the object '{shape.name}'")
            seen.add(shape.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The objects' names, in their order."""
        return tuple(shape.name for shape in self.objects)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of objects and sky, each once, in order of first use."""
        sky = (self.sky.label,) if self.sky.label is not None else ()
        return tuple(dict.fromkeys((*(shape.label for shape in self.objects), *sky)))


class _Named(msgspec.Struct):
    name: str = ""


def parse_scenes(data: bytes, *, file: str) -> Mapping[str, Scene]:
    """Name -> scene of a JSON list; CardError with the first fault of every faulty scene."""
    try:
        raws = msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise CardError([Problem(f"a list of scenes wanted: {exc}", file=file)]) from None
    scenes: dict[str, Scene] = {}
    problems: list[Problem] = []
    for number, raw in enumerate(raws, 1):
        where = f"scene {number}"
        try:
            where = f"scene '{msgspec.json.decode(raw, type=_Named).name or number}'"
            scene = msgspec.json.decode(raw, type=Scene)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            problems.append(Problem(str(exc), file=file, path=where))
            continue
        if scene.name in scenes:
            problems.append(Problem("this name stands twice", file=file, path=where))
        scenes[scene.name] = scene
    if not raws:
        problems.append(Problem("the file holds no scene", file=file))
    if problems:
        raise CardError(problems)
    return scenes
