"""Cityscapes: urban scenes, 19 classes or 7 categories, the 500 validation pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from vgen_eval.errors import BadSample
from vgen_eval.imaging import decode_labels
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, check_size, make_sample
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


class Cityscapes(ReleaseReader[Entry]):
    """`leftImg8bit/SPLIT/CITY/*_leftImg8bit.png` and `gtFine/SPLIT/CITY/*_gtFine_labelIds.png`.

    Files hold label ids; what is none of the 19 classes is ignored, in the categories too.
    """

    title = "Cityscapes"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which classes, of which pictures."""

        scheme: Annotated[
            Literal["classes", "categories"],
            msgspec.Meta(description="The 19 classes, or the 7 categories that they fall in."),
        ] = "classes"
        split: Annotated[
            Literal["val", "train"], msgspec.Meta(description="Folder of the pictures.")
        ] = "val"

    options: Options

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:
        super().__init__(options, root=root, folder=folder)
        names = tuple(CLASSES) if options.scheme == "classes" else tuple(CATEGORIES)
        self._names = names
        self._table = np.full(256, OPEN, np.int32)
        for name, number in CLASSES.items():
            group = next(g for g, members in CATEGORIES.items() if name in members)
            self._table[number] = names.index(name if options.scheme == "classes" else group)

    def find_entries(self) -> Iterator[Entry]:
        """Every picture of the split, by city and frame; MissingData when there is none."""
        split = self.options.split
        for path in self._release.scan(
            f"leftImg8bit/{split}", "*/*_leftImg8bit.png", told="CITY/*_leftImg8bit.png"
        ):
            name, city = path.name.removesuffix("_leftImg8bit.png"), path.parent.name
            place = f"{split}/{city}/{name}"
            yield Entry(
                Item(id=name, group=name, tags={"city": city}),
                (f"leftImg8bit/{place}_leftImg8bit.png", f"gtFine/{place}_gtFine_labelIds.png"),
            )

    def read_entry(self, entry: Entry) -> Sample:
        """The picture and its labels."""
        picture_file, label_file = entry.files
        picture = self._release.picture(picture_file)
        ids = self._release.decode(label_file, decode_labels)
        check_size(ids, picture, what=label_file)
        odd = (ids >= IDS) & (ids != 255)
        if ids.min(initial=0) < 0 or odd.any():
            raise BadSample(
                f"{label_file}: {int(ids[odd][0] if odd.any() else ids.min())} is no label id: are "
                "these trainIds or instance ids?"
            )
        target = LabelMap(self._table[ids], self._names)
        return make_sample(entry.item, picture, target, fields=present_fields(target))
