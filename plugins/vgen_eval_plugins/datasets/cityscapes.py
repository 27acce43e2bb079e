"""Cityscapes: urban scenes, 19 classes or 7 categories, the 500 validation pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_image, decode_labels
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release import Release
from vgen_eval_plugins.semantic.labels import OPEN, LabelMap, present_fields

__all__ = ["CATEGORIES", "CLASSES", "Cityscapes"]

CLASSES: Mapping[str, int] = {
    "road": 7, "sidewalk": 8, "building": 11, "wall": 12, "fence": 13, "pole": 17,
    "traffic light": 19, "traffic sign": 20, "vegetation": 21, "terrain": 22, "sky": 23,
    "person": 24, "rider": 25, "car": 26, "truck": 27, "bus": 28, "train": 31, "motorcycle": 32,
    "bicycle": 33,
}  # fmt: skip
"""The 19 that are evaluated, in the order of their trainIds -> the id in the files."""

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "flat": ("road", "sidewalk"),
    "construction": ("building", "wall", "fence"),
    "object": ("pole", "traffic light", "traffic sign"),
    "nature": ("vegetation", "terrain"),
    "sky": ("sky",),
    "human": ("person", "rider"),
    "vehicle": ("car", "truck", "bus", "train", "motorcycle", "bicycle"),
}

IDS = 34
"""Ids in the files run from 0 to 33; -1 (licence plate) is 255 there."""


class Cityscapes:
    """`leftImg8bit/SPLIT/CITY/*_leftImg8bit.png` and `gtFine/SPLIT/CITY/*_gtFine_labelIds.png`.

    Files hold label ids; what is none of the 19 classes is ignored, in the categories too.
    """

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which classes, of which pictures."""

        scheme: Annotated[
            Literal["classes", "categories"],
            msgspec.Meta(description="The 19 classes, or the 7 categories that they fall in."),
        ] = "classes"
        split: Annotated[
            Literal["val", "train"], msgspec.Meta(description="Folder of the pictures.")
        ] = "val"

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="Cityscapes")
        names = tuple(CLASSES) if options.scheme == "classes" else tuple(CATEGORIES)
        self._names = names
        self._table = np.full(256, OPEN, np.int32)
        for name, number in CLASSES.items():
            group = next(g for g, members in CATEGORIES.items() if name in members)
            self._table[number] = names.index(name if options.scheme == "classes" else group)

    def index(self) -> Sequence[Item]:
        """Every picture of the split, by city and frame; MissingData when there is none."""
        return list(self._items.values())

    def load(self, item: Item) -> Sample:
        """The picture and its labels; BadSample, naming the file, when one is faulty."""
        if item.id not in self._items:
            raise BadSample(f"{self._release.root}: no sample '{item.id}'")
        picture_file, label_file = self._files(item)
        try:
            picture = decode_image(self._release.read(picture_file), what=picture_file)
            ids = decode_labels(self._release.read(label_file), what=label_file)
        except Undecodable as exc:
            raise BadSample(f"{self._release.root}: {exc.what}") from exc
        if ids.shape != picture.shape[:2]:
            raise BadSample(
                f"{label_file} is {ids.shape[1]}x{ids.shape[0]}, the picture "
                f"{picture.shape[1]}x{picture.shape[0]}"
            )
        odd = (ids >= IDS) & (ids != 255)
        if ids.min(initial=0) < 0 or odd.any():
            raise BadSample(
                f"{label_file}: {int(ids[odd][0] if odd.any() else ids.min())} is no label id: are "
                "these trainIds or instance ids?"
            )
        target = LabelMap(self._table[ids], self._names)
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(picture),),
            target=target,
            fields=present_fields(target),
            tags=item.tags,
        )

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        return self._release.look({item.id: self._files(item) for item in items})

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and what marks the labels."""
        labels = (self._files(item)[1] for item in self._items.values())
        told = "\n".join([*self._items, self._release.fingerprint(labels)])
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def _items(self) -> dict[str, Item]:
        folder = self._release.root / "leftImg8bit" / self.options.split
        found = sorted(folder.glob("*/*_leftImg8bit.png"))
        if not found:
            raise MissingData(
                f"Cityscapes: {folder} holds no CITY/*_leftImg8bit.png",
                cure="vgen-eval data list says where the files come from and how they lie",
            )
        names = [path.name.removesuffix("_leftImg8bit.png") for path in found]
        return {
            name: Item(id=name, group=name, tags={"city": path.parent.name})
            for name, path in zip(names, found, strict=True)
        }

    def _files(self, item: Item) -> tuple[str, str]:
        place = f"{self.options.split}/{item.tags['city']}/{item.id}"
        return f"leftImg8bit/{place}_leftImg8bit.png", f"gtFine/{place}_gtFine_labelIds.png"
