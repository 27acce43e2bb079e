"""The lines of an annotation file: the record of every kind of line, of photographs and scenes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from vgen_eval_plugins.samples.distortions import Distortion

__all__ = [
    "LINES",
    "AnswersPhoto",
    "CountingPhoto",
    "CountingScene",
    "Crop",
    "DepthPhoto",
    "DepthScene",
    "DescriptionPhoto",
    "Disparity",
    "DistortedPhoto",
    "Kind",
    "Layer",
    "Line",
    "NormalsPhoto",
    "NormalsScene",
    "PerceptionPhoto",
    "PhotoLine",
    "Polygon",
    "QualityPhoto",
    "ReferringPhoto",
    "ReferringScene",
    "SceneLine",
    "SemanticPhoto",
    "SemanticScene",
]

Kind = Literal[
    "counting", "referring", "depth", "normals", "semantic", "quality", "perception", "answers",
    "description",
]  # fmt: skip

Name = Annotated[str, msgspec.Meta(min_length=1)]
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Polygon = Annotated[tuple[tuple[int, int], ...], msgspec.Meta(min_length=3)]
"""x, y in pixels of the whole photograph."""
Place = Annotated[int, msgspec.Meta(ge=0)]
Extent = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Crop = tuple[Place, Place, Extent, Extent]
"""top, left, height, width in pixels."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A line or a part of one: immutable, unknown keys refused."""


class Line(Record, frozen=True, kw_only=True):
    """What every line holds."""

    id: str | int
    group: Name
    tags: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """The id as a string: 7 and "7" are one id."""
        return str(self.id)

    @property
    def fields(self) -> Mapping[str, str]:
        """What a prompt may name."""
        return {}


class PhotoLine(Line, frozen=True, kw_only=True):
    """A line about a photograph, or about a part of it."""

    image: FileName
    sha256: Sha256
    crop: Crop | None = None
    """The part that is shown; all coordinates stay those of the whole photograph."""

    @property
    def files(self) -> tuple[str, ...]:
        """Files of the package that it needs."""
        return (self.image,)


class SceneLine(Line, frozen=True, kw_only=True):
    """A line about a rendered scene."""

    scene: Name


class CountingPhoto(PhotoLine, frozen=True, kw_only=True):
    """A query, its count, and a point on every object."""

    query: Name
    count: Annotated[int, msgspec.Meta(ge=0)]
    points: tuple[tuple[float, float], ...] | None = None

    def __post_init__(self) -> None:
        if self.points is not None and len(self.points) != self.count:
            raise ValueError(f"{len(self.points)} points for a count of {self.count}")
        if self.points is None and self.crop is not None:
            raise ValueError("`crop` wants `points`: the count follows from those within it")

    @property
    def fields(self) -> Mapping[str, str]:
        return {"query": self.query}


class ReferringPhoto(PhotoLine, frozen=True, kw_only=True):
    """A query and its mask: the union of polygons less the holes."""

    query: Name
    polygons: tuple[Polygon, ...]
    holes: tuple[Polygon, ...] = ()

    @property
    def fields(self) -> Mapping[str, str]:
        return {"query": self.query}


class Disparity(Record, frozen=True, kw_only=True):
    """The disparity of a stereo pair, and what makes depth of it (Middlebury 2014's words)."""

    file: FileName
    """NPZ file of the package that ships the photograph, with one array."""
    sha256: Sha256
    focal_px: Positive
    baseline_mm: Positive
    doffs: float = 0.0
    """x of the right picture's principal point less that of the left's, in pixels."""
    principal_px: tuple[float, float] | None = None
    """x, y of the optical axis in the photograph; needed for normals."""


class DepthPhoto(PhotoLine, frozen=True, kw_only=True):
    """A photograph whose depth follows from a disparity."""

    disparity: Disparity

    @property
    def files(self) -> tuple[str, ...]:
        return (self.image, self.disparity.file)


class NormalsPhoto(DepthPhoto, frozen=True, kw_only=True):
    """A photograph whose normals are derived from its depth."""

    def __post_init__(self) -> None:
        if self.disparity.principal_px is None:
            raise ValueError("normals want `principal_px` in `disparity`")


class Layer(Record, frozen=True, kw_only=True):
    """A class painted over what is there; null: nobody's, left out of every score."""

    label: Name | None
    polygons: Annotated[tuple[Polygon, ...], msgspec.Meta(min_length=1)]
    holes: tuple[Polygon, ...] = ()


class SemanticPhoto(PhotoLine, frozen=True, kw_only=True):
    """Layers of classes, painted in their order, over the rest."""

    layers: tuple[Layer, ...]
    rest: Name | None = None
    """The class of all other pixels; null: nobody's."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes it names."""
        named = (*(layer.label for layer in self.layers), self.rest)
        return tuple(dict.fromkeys(label for label in named if label is not None))


class DistortedPhoto(PhotoLine, frozen=True, kw_only=True):
    """A photograph that is shown distorted, each distortion after the other; none: as it is."""

    distortions: tuple[Distortion, ...] = ()


class QualityPhoto(DistortedPhoto, frozen=True, kw_only=True):
    """One of a series of one photograph at rising strengths of one distortion."""

    series: Name
    level: Annotated[int, msgspec.Meta(ge=0)]
    """0: as it is; more is worse."""
    levels: Annotated[int, msgspec.Meta(ge=1)]
    """The greatest level of the series."""

    def __post_init__(self) -> None:
        if (self.level == 0) != (not self.distortions):
            raise ValueError("level 0 is the photograph as it is, and no other level is")
        if self.level > self.levels:
            raise ValueError(f"level {self.level} of a series that ends at {self.levels}")


class PerceptionPhoto(DistortedPhoto, frozen=True, kw_only=True):
    """A question with options."""

    question: Name
    options: Annotated[tuple[Name, ...], msgspec.Meta(min_length=2, max_length=26)]
    answer: Name
    """The right option's words."""

    def __post_init__(self) -> None:
        if len(set(self.options)) != len(self.options):
            raise ValueError("an option stands twice")
        if self.answer not in self.options:
            raise ValueError(f"`answer` '{self.answer}' is none of the options")

    @property
    def fields(self) -> Mapping[str, str]:
        lettered = zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", self.options, strict=False)
        listed = "\n".join(f"{letter}. {text}" for letter, text in lettered)
        return {"question": self.question, "options": listed}


class AnswersPhoto(DistortedPhoto, frozen=True, kw_only=True):
    """A question without options, and the words that answer it."""

    question: Name
    answers: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1)]
    """All that are accepted."""

    @property
    def fields(self) -> Mapping[str, str]:
        return {"question": self.question}


class DescriptionPhoto(DistortedPhoto, frozen=True, kw_only=True):
    """A description of how it looks."""

    golden: Name


class CountingScene(SceneLine, frozen=True, kw_only=True):
    """A query, and the label of the objects that it means: those seen are counted."""

    query: Name
    label: Name

    @property
    def fields(self) -> Mapping[str, str]:
        return {"query": self.query}


class ReferringScene(SceneLine, frozen=True, kw_only=True):
    """A query, and the names of the objects that it means; none: an empty mask."""

    query: Name
    objects: tuple[Name, ...]

    @property
    def fields(self) -> Mapping[str, str]:
        return {"query": self.query}


class DepthScene(SceneLine, frozen=True, kw_only=True):
    """A scene's depth."""


class NormalsScene(SceneLine, frozen=True, kw_only=True):
    """A scene's normals."""


class SemanticScene(SceneLine, frozen=True, kw_only=True):
    """A scene's labels, as they are or as classes."""

    classes: Mapping[str, Name | None] = {}
    """Label of the scene -> class; null: nobody's. A label that is not named is its own class."""


LINES: Mapping[Kind, tuple[type[PhotoLine], type[SceneLine] | None]] = {
    "counting": (CountingPhoto, CountingScene),
    "referring": (ReferringPhoto, ReferringScene),
    "depth": (DepthPhoto, DepthScene),
    "normals": (NormalsPhoto, NormalsScene),
    "semantic": (SemanticPhoto, SemanticScene),
    "quality": (QualityPhoto, None),
    "perception": (PerceptionPhoto, None),
    "answers": (AnswersPhoto, None),
    "description": (DescriptionPhoto, None),
}
"""Kind -> the records of a line about a photograph and about a scene; None: there is no such line.
"""
