"""What a card says of a manifest: which field is the truth, how its files are read."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import numpy as np

from vgen_eval_plugins.colours import AnyColour
from vgen_eval_plugins.normals.frames import parse_frame
from vgen_eval_plugins.semantic.labels import LabelClass, Value, to_labels

__all__ = ["DepthFiles", "LabelFiles", "NormalFiles", "Options", "Scores", "Target"]

Target = Literal[
    "depth", "normals", "mask", "labels", "count", "points", "choice", "answer", "score"
]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e6)]
Level = Annotated[int, msgspec.Meta(ge=0, le=255)]


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How one kind of file is read."""


class DepthFiles(Part, frozen=True, kw_only=True):
    """Depth: what a step is, and which readings are none."""

    scale: Annotated[
        Positive | None, _doc("Metres that a 1 in the file stands for: 0.001 for millimetres.")
    ] = None
    key: Annotated[str | None, _doc("Array of an .npz file, where it holds several.")] = None
    invalid: Annotated[
        tuple[float, ...], _doc("Values of the file, before `scale`, that stand for no reading.")
    ] = ()
    min_depth: Annotated[Positive | None, _doc("Metres; what is nearer is no reading.")] = None
    max_depth: Annotated[Positive | None, _doc("Metres; what is farther is no reading.")] = None


class NormalFiles(Part, frozen=True, kw_only=True):
    """Normals: which way the three numbers point."""

    frame: Annotated[str, _doc("opengl, opencv, or the three axes in words: right up toward.")] = (
        "opengl"
    )

    def __post_init__(self) -> None:
        parse_frame(self.frame)


class LabelFiles(Part, frozen=True, kw_only=True):
    """Labels: the table of classes."""

    classes: Annotated[
        tuple[LabelClass | str, ...],
        _doc("Names in the order of their values from 0, or {name, value, colour} each."),
    ] = ()
    offset: Annotated[Value, _doc("Added to the files' values before they are looked up.")] = 0
    ignore: Annotated[tuple[Value, ...], _doc("Values of the files that have no truth.")] = ()
    ignore_colours: Annotated[
        tuple[AnyColour, ...], _doc("For `colour`: colours that have no truth.")
    ] = ()
    encoding: Annotated[
        Literal["index", "colour"], _doc("Files of class values, or painted in exact colours.")
    ] = "index"

    def __post_init__(self) -> None:
        names = [entry.name for entry in self.table]
        if not all(name.strip() for name in names):
            raise ValueError("a class has no name")
        if self.encoding == "colour" and any(entry.colour is None for entry in self.table):
            raise ValueError("encoding: colour needs the colour of every class")
        if self.classes and self.encoding == "index":
            # told once here, and not again by every file: a value of two classes
            to_labels(np.zeros((0, 0), np.int32), self.table, offset=self.offset)

    @property
    def table(self) -> tuple[LabelClass, ...]:
        """The classes, each as its record."""
        return tuple(LabelClass(name=c) if isinstance(c, str) else c for c in self.classes)


class Scores(Part, frozen=True, kw_only=True):
    """Scores: which scale they are on."""

    low: Annotated[float | None, _doc("Least of the scale; null: of the manifest's scores.")] = None
    high: Annotated[float | None, _doc("Most of the scale; null: of the manifest's scores.")] = None
    better: Annotated[
        Literal["high", "low"],
        _doc("Which end of the scale is the better one: low for scores of how bad it looks."),
    ] = "high"

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"a scale goes up: low {self.low:g}, high {self.high:g}")


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which lines, which of their fields is the truth, and how its files are read."""

    manifest: Annotated[
        str, _doc("JSONL file, one sample a line, below the data's folder or the card's.")
    ] = "manifest.jsonl"
    target: Annotated[Target, _doc("Field of the lines that is the truth.")]
    depth: Annotated[DepthFiles, _doc("How depth files are read.")] = DepthFiles()
    normals: Annotated[NormalFiles, _doc("How normal files are read.")] = NormalFiles()
    labels: Annotated[LabelFiles, _doc("How label files are read.")] = LabelFiles()
    score: Annotated[Scores, _doc("The scale of the scores.")] = Scores()
    background: Annotated[
        tuple[Level, Level, Level], _doc("R, G, B that transparent pixels of pictures lie on.")
    ] = (255, 255, 255)

    def __post_init__(self) -> None:
        if self.target == "labels" and not self.labels.classes:
            raise ValueError("target: labels needs labels.classes")
