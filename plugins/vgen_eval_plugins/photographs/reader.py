"""Reads photographs out of an installed package, without importing it, and their annotations."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Undecodable, UsageError
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.photographs.annotations import (
    CountingLine,
    Line,
    ReferringLine,
    read_lines,
)

__all__ = ["Photographs", "draw_mask"]


class Photographs:
    """Photographs of a package and the JSON lines beside a card that annotate them."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which annotations, of which package's pictures."""

        annotations: Annotated[
            str, msgspec.Meta(description="JSONL file, by its path below the card's folder.")
        ]
        kind: Annotated[
            Literal["counting", "referring"], msgspec.Meta(description="What a line annotates.")
        ]
        package: Annotated[
            str,
            msgspec.Meta(
                description="Installed top-level package that ships the photographs.",
                pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
            ),
        ] = "skimage"
        subfolder: Annotated[
            str,
            msgspec.Meta(
                description="Folder of the package in which they lie.",
                pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$",
            ),
        ] = "data"

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        """`folder`: where the card lies; `root` is not used, the package is the data."""
        self.options = options
        self.folder = folder

    def index(self) -> Sequence[Item]:
        """Every annotated sample, in the file's order.

        CardError with all faulty lines; MissingData when a photograph is not installed.
        """
        photos = self._photo_folder
        for line in self._lines.values():
            self._find(photos, line.image)
        return [
            Item(id=line.name, group=line.group, tags=line.tags) for line in self._lines.values()
        ]

    def load(self, item: Item) -> Sample:
        """The photograph and its truth; BadSample when the file is not the one annotated."""
        line = self._lines.get(item.id)
        if line is None:
            raise BadSample(f"{self._path}: no sample '{item.id}'")
        image = self._read_photo(line)
        return Sample(
            id=line.name,
            group=line.group,
            images=(image,),
            target=self._truth(line, image),
            fields={"query": line.query},
            tags=line.tags,
        )

    def fingerprint(self) -> str:
        """sha256 of the annotation file, which pins every photograph by its own sha256."""
        return hashlib.sha256(self._data).hexdigest()

    @cached_property
    def _path(self) -> Path:
        folder = self.folder.resolve()
        path = (folder / self.options.annotations).resolve()
        if not path.is_relative_to(folder) or ".." in Path(self.options.annotations).parts:
            raise UsageError(
                f"annotations '{self.options.annotations}' leads out of the card's folder {folder}",
                cure="name a file that lies beside the card or below it",
            )
        return path

    @cached_property
    def _data(self) -> bytes:
        try:
            return self._path.read_bytes()
        except OSError as exc:
            raise MissingData(f"annotations {self._path}: {exc.strerror}") from exc

    @cached_property
    def _lines(self) -> dict[str, Line]:
        lines = read_lines(self._path, self._data, self.options.kind)
        return {line.name: line for line in lines}

    @cached_property
    def _photo_folder(self) -> Path:
        spec = importlib.util.find_spec(self.options.package)  # finds it, imports nothing
        places = spec.submodule_search_locations if spec is not None else None
        if not places:
            raise MissingData(
                f"package '{self.options.package}', which ships the photographs, is not installed",
                cure="pip install scikit-image" if self.options.package == "skimage" else None,
            )
        return Path(next(iter(places))) / self.options.subfolder

    @staticmethod
    def _find(photos: Path, name: str) -> Path:
        path = photos / name
        if not path.is_file():
            raise MissingData(f"photograph {path} is not there")
        return path

    def _read_photo(self, line: Line) -> Image:
        path = self._find(self._photo_folder, line.image)
        try:
            data = path.read_bytes()
            seen = hashlib.sha256(data).hexdigest()
            if seen != line.sha256:
                raise BadSample(
                    f"{path}: its sha256 is {seen}, {self._path.name} annotates {line.sha256}"
                )
            return Image(decode_image(data, what=line.image))
        except (OSError, Undecodable) as exc:
            raise BadSample(f"{path}: {exc}") from exc

    def _truth(self, line: Line, image: Image) -> Any:
        if isinstance(line, CountingLine):
            if line.points is None:
                return CountTarget(line.count)
            points = np.array(line.points, dtype=np.float64).reshape(-1, 2)
            self._check_inside(points, line, image)
            return CountTarget(line.count, points)
        if isinstance(line, ReferringLine):
            for polygon in (*line.polygons, *line.holes):
                self._check_inside(np.array(polygon, dtype=np.float64), line, image)
            return draw_mask(line, height=image.height, width=image.width)
        raise TypeError(f"no truth is known for {type(line).__name__}")

    def _check_inside(self, points: NDArray[np.float64], line: Line, image: Image) -> None:
        outside = ~((points >= 0) & (points <= [image.width, image.height])).all(axis=1)
        if outside.any():
            raise BadSample(
                f"{self._path}: sample '{line.name}': point {points[outside][0].tolist()} lies "
                f"outside {line.image}, {image.width}x{image.height}"
            )


def draw_mask(line: ReferringLine, *, height: int, width: int) -> NDArray[np.bool_]:
    """bool (height, width): the union of the filled polygons, borders included, less the holes."""
    planes = []
    for polygons in (line.polygons, line.holes):
        plane = np.zeros((height, width), np.uint8)
        for polygon in polygons:  # one by one: together, overlaps would be filled by parity
            cv2.fillPoly(plane, [np.array(polygon, np.int32)], 1)
        planes.append(plane.view(np.bool_))
    return planes[0] & ~planes[1]
