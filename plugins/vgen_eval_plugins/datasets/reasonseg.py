"""ReasonSeg: pictures with questions whose answer is a region, drawn as polygons."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.mask_lines import masked_sample, read_picture
from vgen_eval_plugins.datasets.release import Release

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


class ReasonSeg:
    """`ReasonSeg/<split>/<name>.jpg` with `<name>.json`; LISA (arXiv 2308.00692) and its code.

    The truth: shapes called flag left out, the others painted from the largest to the smallest,
    outline and inside, ignored ones as unknown. A picture without a shape has an empty truth.
    """

    version: ClassVar[int] = 1

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

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="ReasonSeg")
        self._place = f"ReasonSeg/{options.split}"

    def index(self) -> Sequence[Item]:
        """The split's pictures by name; their annotations are opened only where options ask it."""
        return [item for item, _, _ in self._samples.values()]

    def load(self, item: Item) -> Sample:
        """The picture, its region and the text; BadSample when one of its files is faulty."""
        known = self._samples.get(item.id)
        if known is None:
            raise BadSample(f"{self._release.root / self._place}: no sample '{item.id}'")
        item, name, number = known
        annotation = self._annotation(name)
        if number >= len(annotation.text):
            raise BadSample(f"{self._file(name, 'json')}: there is no text {number}")
        file = f"{self._place}/{name}.jpg"
        picture = read_picture(self._release, file)
        try:
            painted = paint_shapes(annotation.shapes, (picture.shape[0], picture.shape[1]))
        except ValueError as exc:
            raise BadSample(f"{self._file(name, 'json')}: {exc}") from exc
        text = annotation.text[number]
        valid = painted != IGNORED
        return masked_sample(item, picture, painted == 1, what=file, query=text, valid=valid)

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        names = {item.id: self._samples[item.id][1] for item in items}
        return self._release.look(
            {
                i: tuple(f"{self._place}/{n}.{end}" for end in ("jpg", "json"))
                for i, n in names.items()
            }
        )

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and what marks the annotations."""
        names = dict.fromkeys(f"{self._place}/{n}.json" for _, n, _ in self._samples.values())
        told = "\n".join([*self._samples, self._release.fingerprint(names)])
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def _samples(self) -> dict[str, tuple[Item, str, int]]:
        folder = self._release.root / self._place
        names = sorted(path.stem for path in folder.glob("*.jpg"))
        if not names:
            raise MissingData(
                f"ReasonSeg: no *.jpg in {folder}",
                cure="vgen-eval data list says where the files come from and how they lie",
            )
        samples: dict[str, tuple[Item, str, int]] = {}
        opens = self.options.texts == "all" or self.options.no_polygon == "skip"
        for name in names:
            annotation = self._try_annotation(name) if opens else None
            skips = annotation is not None and self.options.no_polygon == "skip"
            if annotation is not None and skips and not _has_shape(annotation):
                continue
            tags = {"split": self.options.split}
            several = annotation is not None and self.options.texts == "all"
            for number in range(len(annotation.text) if several and annotation else 1):
                item = Item(id=f"{name}-{number}" if several else name, group=name, tags=tags)
                samples[item.id] = (item, name, number)
        return samples

    def _try_annotation(self, name: str) -> Annotation | None:
        """None for a faulty file: `load` tells of it, for that picture alone."""
        try:
            return self._annotation(name)
        except BadSample:
            return None

    def _annotation(self, name: str) -> Annotation:
        data = self._release.read(f"{self._place}/{name}.json", limit=LARGEST)
        try:
            try:
                text = data.decode("utf-8-sig")
            except UnicodeDecodeError:  # some files of the release
                text = data.decode("cp1252")
            annotation = msgspec.json.decode(text, type=Annotation)
            if not annotation.text:
                raise ValueError("it holds no text")
        except ValueError as exc:
            raise BadSample(f"{self._file(name, 'json')}: {exc}") from exc
        return annotation

    def _file(self, name: str, end: str) -> Path:
        return self._release.root / self._place / f"{name}.{end}"


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
