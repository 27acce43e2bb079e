"""ReasonSeg: pictures with questions whose answer is a region, drawn as polygons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.mask_reader import masked_sample
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader

__all__ = ["IGNORED", "ReasonSeg", "paint_shapes"]

IGNORED = 255
FARTHEST = 1 << 15
"""Pixels from the corner beyond which a point is no point of a picture."""
LARGEST = 1 << 26
"""Bytes of one annotation."""

Point = tuple[float, float]


class Shape(msgspec.Struct, frozen=True):
    """A polygon and what it is about: `target`, `ignore...` or `flag`."""

    label: str
    points: list[Point]


class Annotation(msgspec.Struct, frozen=True):
    """What a picture's JSON file says."""

    text: list[str]
    shapes: list[Shape] = []
    is_sentence: bool = False


class _Entry(Entry, frozen=True, kw_only=True):
    number: int
    """Of its text."""


class ReasonSeg(ReleaseReader[_Entry]):
    """`ReasonSeg/<split>/<name>.jpg` with `<name>.json`; LISA (arXiv 2308.00692) and its code.

    The truth: shapes called flag left out, the others painted from the largest to the smallest,
    outline and inside, ignored ones as unknown. A picture without a shape has an empty truth.
    """

    title = "ReasonSeg"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which pictures, and which of their texts."""

        split: Annotated[
            Literal["train", "val", "test"], msgspec.Meta(description="Which split.")
        ] = "test"
        texts: Annotated[
            Literal["first", "all"],
            msgspec.Meta(description="The first text of a picture, as LISA, or each of them."),
        ] = "first"
        no_polygon: Annotated[
            Literal["keep", "skip"],
            msgspec.Meta(description="Pictures in which nothing is drawn: two of the test split."),
        ] = "keep"

    options: Options

    def find_entries(self) -> Iterator[_Entry]:
        """The split's pictures by name; their annotations are opened only where options ask it."""
        place, options = f"ReasonSeg/{self.options.split}", self.options
        for name in sorted(path.stem for path in self._release.scan(place, "*.jpg")):
            files = (f"{place}/{name}.jpg", f"{place}/{name}.json")
            opens = options.texts == "all" or options.no_polygon == "skip"
            annotation = self._try_annotation(files[1]) if opens else None
            if annotation and options.no_polygon == "skip" and not _has_shape(annotation):
                continue
            several = annotation is not None and options.texts == "all"
            for number in range(len(annotation.text) if annotation and several else 1):
                made = f"{name}-{number}" if several else name
                item = Item(id=made, group=name, tags={"split": options.split})
                yield _Entry(item, files, number=number)

    def read_entry(self, entry: _Entry) -> Sample:
        """The picture, its region and the text."""
        picture_file, file = entry.files
        annotation = self._annotation(file)
        if entry.number >= len(annotation.text):
            raise BadSample(f"{self._release.root / file}: there is no text {entry.number}")
        picture = self._release.picture(picture_file)
        try:
            painted = paint_shapes(annotation.shapes, (picture.shape[0], picture.shape[1]))
        except ValueError as exc:
            raise BadSample(f"{self._release.root / file}: {exc}") from exc
        text = annotation.text[entry.number]
        valid = painted != IGNORED
        return masked_sample(
            entry.item, picture, painted == 1, what=picture_file, query=text, valid=valid
        )

    def _try_annotation(self, file: str) -> Annotation | None:
        """None for a faulty file: `load` tells of it, for that picture alone."""
        try:
            return self._annotation(file)
        except BadSample:
            return None

    def _annotation(self, file: str) -> Annotation:
        data = self._release.read(file, limit=LARGEST)
        try:
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError:  # some files of the release
                text = data.decode("cp1252")
            annotation = msgspec.json.decode(text, type=Annotation)
            if not annotation.text:
                raise ValueError("it holds no text")
        except ValueError as exc:
            raise BadSample(f"{self._release.root / file}: {exc}") from exc
        return annotation


def _has_shape(annotation: Annotation) -> bool:
    return any(shape.label.lower() != "flag" for shape in annotation.shapes)


def paint_shapes(shapes: Sequence[Shape], size: tuple[int, int]) -> NDArray[np.uint8]:
    """uint8 (H, W): 1 target, 255 ignored, 0 neither; smaller shapes lie on larger ones.

    Of two of one area the later is painted first. ValueError for a shape that has no point, or
    none within a picture of this size.
    """
    planes: list[tuple[NDArray[Any], int]] = []
    for number, shape in enumerate(shapes):
        if shape.label.lower() == "flag":
            continue
        points = np.array(shape.points, np.float64).reshape(-1, 2)
        if not len(points) or not (np.abs(points) < FARTHEST).all():
            raise ValueError(f"shapes[{number}] has no points within a picture")
        value = IGNORED if "ignore" in shape.label.lower() else 1
        corners = points.astype(np.int32)  # towards zero, as LISA does
        plane = _paint(np.zeros(size, np.uint8), corners, 1)
        if not cv2.countNonZero(plane):
            raise ValueError(
                f"shapes[{number}] lies outside of the picture, which is {size[1]}x{size[0]}"
            )
        planes.append((plane, value))
    areas = [cv2.countNonZero(plane) for plane, _ in planes]
    painted = np.zeros(size, np.uint8)
    for at in np.argsort(areas, kind="stable")[::-1]:
        plane, value = planes[at]
        painted[plane.view(np.bool_)] = value
    return painted


def _paint(plane: NDArray[np.uint8], corners: NDArray[np.int32], value: int) -> NDArray[np.uint8]:
    """The outline and the inside of a polygon."""
    cv2.polylines(plane, [corners], True, value, 1)
    return np.asarray(cv2.fillPoly(plane, [corners], value), np.uint8)
