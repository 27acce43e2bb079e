"""Reads photographs out of an installed package, without importing it, and renders scenes."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Undecodable, UsageError
from vgen_eval.imaging import Image, decode_depth, decode_image
from vgen_eval.paths import confined
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.raycast.render import render
from vgen_eval_plugins.samples.annotations import (
    DepthPhoto,
    DistortedPhoto,
    Kind,
    Line,
    PerceptionPhoto,
    PhotoLine,
    SceneLine,
)
from vgen_eval_plugins.samples.distortions import distort
from vgen_eval_plugins.samples.lines import Annotated as Annotations
from vgen_eval_plugins.samples.lines import read_annotations
from vgen_eval_plugins.samples.truths import measured_truth, photo_truth, points_of, scene_truth
from vgen_eval_plugins.semantic.labels import present_fields

__all__ = ["Samples"]


_MEASURES: Mapping[Kind, str] = {
    "counting": "count", "referring": "mask", "depth": "depth", "normals": "normals",
    "semantic": "labels", "quality": "quality", "perception": "option",
    "answers": "answer", "description": "description",
}  # fmt: skip


class Samples:
    """JSON lines beside a card that annotate a package's photographs or name rendered scenes."""

    version: ClassVar[int] = 2

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which annotations, of which package's pictures and which scenes."""

        annotations: Annotated[
            str, msgspec.Meta(description="JSONL file, by its path below the card's folder.")
        ]
        kind: Annotated[Kind, msgspec.Meta(description="What a line annotates.")]
        scenes: Annotated[
            str | None,
            msgspec.Meta(description="JSON file of the scenes that lines name, below the folder."),
        ] = None
        classes: Annotated[
            tuple[str, ...],
            msgspec.Meta(description="Names of the classes in their order, for kind semantic."),
        ] = ()
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

        show_original: Annotated[
            bool,
            msgspec.Meta(
                description="For kind quality: is the undistorted photograph a second picture?"
            ),
        ] = False

        def __post_init__(self) -> None:
            if self.show_original and self.kind != "quality":
                raise ValueError("`show_original` is for kind quality alone")
            if (self.kind == "semantic") != bool(self.classes):
                raise ValueError("`classes` are named for kind semantic, and for no other")
            if len(set(self.classes)) != len(self.classes) or "" in self.classes:
                raise ValueError("a name in `classes` is empty or stands twice")

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        """`folder`: where the card lies; `root` is not used, the package is the data."""
        self.options = options
        self.folder = folder

    @property
    def measures(self) -> str:
        """What the truth is, as the metrics name it."""
        return _MEASURES[self.options.kind]

    def index(self) -> Sequence[Item]:
        """Every annotated sample, in the file's order.

        CardError with all faulty lines and scenes; MissingData when a photograph is not installed.
        """
        lines = self._annotations.lines.values()
        for line in lines:
            if isinstance(line, PhotoLine):
                for name in line.files:
                    self._find(name)
        return [Item(id=line.name, group=line.group, tags=line.tags) for line in lines]

    def load(self, item: Item) -> Sample:
        """The picture and its truth; BadSample when a file is not the one annotated.

        `valid` is the map of the pixels that have a truth, for depth and normals that lack some.
        """
        line = self._annotations.lines.get(item.id)
        if line is None:
            raise BadSample(f"{self._path}: no sample '{item.id}'")
        if isinstance(line, PhotoLine):
            images, target = self._photo(line)
        else:
            images, target = self._scene(line)
        return Sample(
            id=line.name,
            group=line.group,
            images=images,
            target=target,
            valid=_known(target),
            fields={**present_fields(target), **line.fields},
            choices=line.options if isinstance(line, PerceptionPhoto) else (),
            tags=line.tags,
        )

    def fingerprint(self) -> str:
        """sha256 of the annotations, which pin each photograph by its own, and of the scenes."""
        digest = hashlib.sha256(self._data)
        if self._scenes is not None:
            digest.update(hashlib.sha256(self._scenes[1]).digest())
        return digest.hexdigest()

    @cached_property
    def _path(self) -> Path:
        return self._beside("annotations", self.options.annotations)

    def _beside(self, option: str, name: str) -> Path:
        try:
            return confined(self.folder, name)
        except ValueError as exc:
            raise UsageError(
                f"{option} {exc}", cure="name a file that lies beside the card or below it"
            ) from None

    @staticmethod
    def _read(option: str, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as exc:
            raise MissingData(f"{option} {path}: {exc.strerror}") from exc

    @cached_property
    def _data(self) -> bytes:
        return self._read("annotations", self._path)

    @cached_property
    def _scenes(self) -> tuple[Path, bytes] | None:
        if self.options.scenes is None:
            return None
        path = self._beside("scenes", self.options.scenes)
        return path, self._read("scenes", path)

    @cached_property
    def _annotations(self) -> Annotations:
        return read_annotations(
            self._path,
            self._data,
            kind=self.options.kind,
            scenes=self._scenes,
            classes=self.options.classes,
        )

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

    def _find(self, name: str) -> Path:
        path = self._photo_folder / name
        if not path.is_file():
            raise MissingData(f"photograph {path} is not there")
        return path

    def _pinned(self, name: str, sha256: str) -> bytes:
        """What a file of the package holds; BadSample when it is another than the one annotated."""
        path = self._find(name)
        try:
            data = path.read_bytes()
        except OSError as exc:
            raise BadSample(f"{path}: {exc}") from exc
        seen = hashlib.sha256(data).hexdigest()
        if seen != sha256:
            raise BadSample(f"{path}: its sha256 is {seen}, {self._path.name} annotates {sha256}")
        return data

    def _photo(self, line: PhotoLine) -> tuple[tuple[Image, ...], Any]:
        try:
            pixels = decode_image(self._pinned(line.image, line.sha256), what=line.image)
            disparity = None
            if isinstance(line, DepthPhoto):
                data = self._pinned(line.disparity.file, line.disparity.sha256)
                disparity = decode_depth(data, what=line.disparity.file)
        except Undecodable as exc:
            raise BadSample(f"{self._path}: sample '{line.name}': {exc}") from exc
        self._check_places(line, pixels, disparity)
        height, width = pixels.shape[:2]
        if isinstance(line, DepthPhoto) and disparity is not None:
            target: Any = measured_truth(line, disparity)
        else:
            target = photo_truth(line, height=height, width=width, classes=self.options.classes)
        if line.crop is not None:
            top, left, height, width = line.crop
            # a copy: the whole photograph need not outlive its part
            pixels = pixels[top : top + height, left : left + width].copy()
        if not isinstance(line, DistortedPhoto):
            return (Image(pixels),), target
        shown = Image(distort(pixels, line.distortions))
        return (shown, Image(pixels)) if self.options.show_original else (shown,), target

    def _check_places(
        self, line: PhotoLine, pixels: NDArray[np.uint8], disparity: NDArray[np.float32] | None
    ) -> None:
        """BadSample for a point, a crop or a disparity that does not fit the photograph."""
        height, width = pixels.shape[:2]
        here = f"{self._path}: sample '{line.name}'"
        if disparity is not None and disparity.shape != (height, width):
            raise BadSample(
                f"{here}: the disparity is {disparity.shape[1]}x{disparity.shape[0]}, "
                f"{line.image} {width}x{height}"
            )
        if line.crop is not None:
            top, left, rows, columns = line.crop
            if top + rows > height or left + columns > width:
                raise BadSample(
                    f"{here}: crop {list(line.crop)} (top, left, height, width) leads out of "
                    f"{line.image}, {width}x{height}"
                )
        for points in points_of(line):
            outside = ~((points >= 0) & (points <= [width, height])).all(axis=1)
            if outside.any():
                raise BadSample(
                    f"{here}: point {points[outside][0].tolist()} lies outside {line.image}, "
                    f"{width}x{height}"
                )

    def _scene(self, line: Line) -> tuple[tuple[Image, ...], Any]:
        if not isinstance(line, SceneLine):
            raise TypeError(f"no picture is known for {type(line).__name__}")
        rendering = render(self._annotations.scenes[line.scene])
        target = scene_truth(line, rendering, classes=self.options.classes)
        return (Image(rendering.rgb),), target


def _known(target: Any) -> NDArray[np.bool_] | None:
    """(H, W) where a map of numbers has a reading; None: everywhere, or it is no such map."""
    if not isinstance(target, np.ndarray) or target.dtype.kind != "f":
        return None
    known = np.isfinite(target if target.ndim == 2 else target.sum(axis=2))
    return None if known.all() else known
