"""FSC-147: everyday things in large numbers, a point on each, 147 kinds of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, CardError, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.datasets.pixmo import count_range
from vgen_eval_plugins.datasets.release import Release

__all__ = ["FSC147"]

IMAGES = "images_384_VarV2"
ANNOTATIONS = "annotation_FSC147_384.json"
SPLITS = "Train_Test_Val_FSC_147.json"
CLASSES = "ImageClasses_FSC147.txt"
CURE = "vgen-eval data list says where the files come from and how they lie"
LARGEST_INDEX = 1 << 28

MARGIN = 0.02
"""Part of a side by which points may lie outside: some do by a pixel or so, and count."""


class _Annotation(msgspec.Struct, frozen=True):
    """What the release says of a picture, beside what is not read here."""

    points: tuple[tuple[float, float], ...]


class FSC147:
    """`images_384_VarV2/N.jpg`, with the points in one JSON file, the splits in another.

    The truth is the number of points; they are pixels of the pictures whose height is 384.
    """

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which pictures."""

        split: Annotated[
            Literal["train", "val", "test", "val_coco", "test_coco"],
            msgspec.Meta(description="Which split: 3,659, 1,286, 1,190, 277 and 282 pictures."),
        ] = "test"

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="FSC-147")

    def index(self) -> Sequence[Item]:
        """Every picture of the split, in the list's order.

        MissingData for a list that is not there or is none; CardError with every picture of the
        split that has no points or no class.
        """
        return list(self._items.values())

    def load(self, item: Item) -> Sample:
        """The picture, how many there are and where; BadSample for faulty files."""
        if item.id not in self._items:
            raise BadSample(f"{self._release.root}: no sample '{item.id}'")
        name = self._image(item)
        try:
            picture = decode_image(self._release.read(name), what=name)
        except Undecodable as exc:
            raise BadSample(f"{self._release.root}: {exc.what}") from exc
        points = self._place(name, item, picture.shape[:2])
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(picture),),
            target=CountTarget(len(points), points),
            fields={"query": item.tags["class"]},
            tags=item.tags,
        )

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Pictures of these samples that are missing or empty."""
        return self._release.look({item.id: (self._image(item),) for item in items})

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the three lists."""
        digest = hashlib.sha256(self.options.split.encode())
        for name in (ANNOTATIONS, SPLITS, CLASSES):
            digest.update(hashlib.sha256(self._list(name)).digest())
        return digest.hexdigest()

    def _image(self, item: Item) -> str:
        return f"{IMAGES}/{item.group}"

    def _place(self, name: str, item: Item, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """(N, 2) the points, those a little outside brought to the border."""
        points = np.array(self._annotations[item.group].points, np.float64).reshape(-1, 2)
        limit = np.array([shape[1], shape[0]])
        far = (points < -MARGIN * limit) | (points > (1 + MARGIN) * limit)
        if far.any() or not np.isfinite(points).all():
            x, y = points[far.any(axis=1) | ~np.isfinite(points).all(axis=1)][0]
            raise BadSample(
                f"{self._release.root / name}: point ({x:g}, {y:g}) lies outside the picture, "
                f"{limit[0]}x{limit[1]}: is it of {IMAGES}?"
            )
        return np.clip(points, 0, limit)

    def _list(self, name: str) -> bytes:
        return self._release.read_index(name, cure=CURE, limit=LARGEST_INDEX)

    def _decode(self, name: str, kind: Any) -> Any:
        try:
            return msgspec.json.decode(self._list(name), type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise MissingData(f"FSC-147: {self._release.root / name}: {exc}", cure=CURE) from exc

    @cached_property
    def _annotations(self) -> Mapping[str, _Annotation]:
        return dict(self._decode(ANNOTATIONS, dict[str, _Annotation]))

    @cached_property
    def _classes(self) -> Mapping[str, str]:
        lines = self._list(CLASSES).decode("utf-8", "replace").splitlines()
        pairs = (line.partition("\t") for line in lines)
        return {name.strip(): label.strip() for name, _, label in pairs if label.strip()}

    @cached_property
    def _items(self) -> dict[str, Item]:
        split = self.options.split
        names = self._decode(SPLITS, dict[str, list[str]]).get(split, [])
        if not names:
            raise MissingData(
                f"FSC-147: {self._release.root / SPLITS} names no picture of '{split}'", cure=CURE
            )
        problems: list[Problem] = []
        items: dict[str, Item] = {}
        for name in names:
            file, stem = str(self._release.root / ANNOTATIONS), name.rpartition(".")[0] or name
            if name not in self._annotations:
                problems.append(Problem("has no points", file=file, path=name))
            elif name not in self._classes:
                file = str(self._release.root / CLASSES)
                problems.append(Problem("has no class", file=file, path=name))
            elif stem in items:
                file = str(self._release.root / SPLITS)
                problems.append(Problem(f"stands twice in '{split}'", file=file, path=name))
            else:
                count = len(self._annotations[name].points)
                tags = {"class": self._classes[name], "count": count_range(count)}
                items[stem] = Item(id=stem, group=name, tags=tags)
        if problems:
            raise CardError(problems)
        return items
