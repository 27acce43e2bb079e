"""CelebAMask-HQ: parts of faces, 19 classes, from part files or from PixelArena's export."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem
from vgen_eval.imaging import decode_labels, decode_mask, resize
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.draw import Draw
from vgen_eval_plugins.datasets.release import WHERE
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample, size_of
from vgen_eval_plugins.semantic.labels import LabelMap, present_fields

__all__ = ["CLASSES", "PARTS", "CelebAMaskHQ", "merge_parts"]

CLASSES = (
    "background", "skin", "nose", "eye_glass", "left_eye", "right_eye", "left_eyebrow",
    "right_eyebrow", "left_ear", "right_ear", "mouth", "upper_lip", "lower_lip", "hair", "hat",
    "ear_ring", "necklace", "neck", "cloth",
)  # fmt: skip
"""In the order of their labels. Left and right are the person's."""

PARTS = (
    "skin", "nose", "eye_g", "l_eye", "r_eye", "l_brow", "r_brow", "l_ear", "r_ear", "mouth",
    "u_lip", "l_lip", "hair", "hat", "ear_r", "neck_l", "neck", "cloth",
)  # fmt: skip
"""The part files in the order in which they are laid over one another: labels 1 to 18."""

IDS = "eval-set/celeb/id-150.json"
HEX = re.compile(r"[0-9a-f]{32}")
PICTURES = 30_000
PART_SIDE = 512
MOST_LIST = 1 << 20


def merge_parts(parts: Sequence[tuple[str, NDArray[np.bool_]]], size: int) -> NDArray[np.int32]:
    """Labels (size, size) of part masks: a later part of `PARTS` lies over an earlier one.

    ValueError for a mask of another size.
    """
    labels = np.zeros((size, size), np.int32)
    by_name = dict(parts)
    for label, part in enumerate(PARTS, 1):
        mask = by_name.get(part)
        if mask is None:
            continue
        if mask.shape != labels.shape:
            raise ValueError(f"{part} is {size_of(mask)}, not {size}x{size}")
        labels[mask] = label
    return labels


class CelebAMaskHQ(ReleaseReader[Entry]):
    """Photos of 1024 x 1024 with part masks of 512 x 512, or an export of both.

    - official: `CelebA-HQ-img/N.jpg`, `CelebAMask-HQ-mask-anno/{N // 2000}/NNNNN_PART.png`; a
      part that is not there is absent.
    - export: `eval-set/celeb/id-150.json`, `images/HEX.jpg`, `masks-512/HEX.png` or `masks-1024/`;
      PixelArena's own names, of which no map to the official numbers is public.

    Photo and labels are brought to `score_size`, labels by the nearest pixel.
    """

    title = "CelebAMask-HQ"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which faces, at which size."""

        score_size: Annotated[
            Literal[512, 1024], msgspec.Meta(description="Side at which answers are scored.")
        ] = 1024
        draw: Annotated[
            Draw | None,
            msgspec.Meta(description="Of the official pictures, a seeded subset; null: all."),
        ] = None
        ids: Annotated[
            str,
            msgspec.Meta(
                description="JSON list below the root, read before `draw`: the export's names, or "
                "official numbers."
            ),
        ] = IDS

    options: Options

    def find_entries(self) -> Iterator[Entry]:
        """The list of ids if it is there, else the official numbers, all or drawn."""
        return (Entry(Item(id=name, group=name)) for name in self._names)

    def read_entry(self, entry: Entry) -> Sample:
        """The photo and its labels."""
        name, side = entry.item.id, self.options.score_size
        file = self._picture(name)
        picture = self._release.picture(file)
        try:
            labels = self._labels(name)
        except ValueError as exc:
            raise BadSample(f"{self._release.root}: {name}: {exc}") from exc
        if picture.shape[0] != picture.shape[1]:
            raise BadSample(f"{file} is {size_of(picture)}, no square")
        target = LabelMap(resize(labels, height=side, width=side, kind="labels"), CLASSES)
        # grown by whole pixels, so that the protocol's own size gets the picture back as it was
        kind: Literal["labels", "photo"] = "labels" if picture.shape[0] < side else "photo"
        photo = resize(picture, height=side, width=side, kind=kind)
        return make_sample(entry.item, photo, target, fields=present_fields(target))

    def files_of(self, entry: Entry) -> list[str]:
        """Picture and mask; of the official files the picture alone: any part may be absent."""
        name = entry.item.id
        masks = [self._export_mask(name)] if self._is_export else []
        return [self._picture(name), *masks]

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty; a part may be absent, all may not."""
        problems = super().look(items)
        for item in () if self._is_export else items:
            if not any(self._release.has(name) for name in self._part_files(item.id).values()):
                folder = str(self._release.root / "CelebAMask-HQ-mask-anno")
                problems.append(Problem("no part file", file=folder, path=item.id))
        return problems

    def mark_truth(self) -> str:
        """What marks the masks of evenly spaced samples."""
        some = self._names[:: max(1, len(self._names) // 500)]
        if self._is_export:
            return self._release.fingerprint(self._export_mask(name) for name in some)
        return self._release.fingerprint(
            file for name in some for file in self._part_files(name).values()
        )

    @cached_property
    def _is_export(self) -> bool:
        return HEX.fullmatch(self._names[0]) is not None

    @cached_property
    def _names(self) -> list[str]:
        if self._release.has(self.options.ids):
            return self._read_list()
        if not self._release.has("CelebA-HQ-img"):
            raise MissingData(
                f"CelebAMask-HQ: {self._release.root} holds neither CelebA-HQ-img nor "
                f"{self.options.ids}",
                cure=WHERE,
            )
        numbers: Sequence[int] = range(PICTURES)
        if self.options.draw is not None:
            numbers = self.options.draw.take(numbers)
        return [str(number) for number in numbers]

    def _read_list(self) -> list[str]:
        data = self._release.read_index(self.options.ids, limit=MOST_LIST)
        try:
            names = json.loads(data)
        except ValueError as exc:
            raise MissingData(f"CelebAMask-HQ: {self.options.ids} is no JSON: {exc}") from exc
        told = [str(name) for name in names] if isinstance(names, list) else []
        numbers = all(name.isdecimal() and name.isascii() and int(name) < PICTURES for name in told)
        if not told or not (numbers or all(HEX.fullmatch(name) for name in told)):
            raise MissingData(
                f"CelebAMask-HQ: {self.options.ids} is no list of 32 hex digits each, nor of "
                "official numbers"
            )
        told = [str(int(name)) for name in told] if numbers else told
        if len(set(told)) < len(told):
            raise MissingData(f"CelebAMask-HQ: {self.options.ids} names a picture twice")
        return told

    def _picture(self, name: str) -> str:
        return f"images/{name}.jpg" if self._is_export else f"CelebA-HQ-img/{name}.jpg"

    def _export_mask(self, name: str) -> str:
        own = f"masks-{self.options.score_size}/{name}.png"
        return own if self._release.has(own) else f"masks-512/{name}.png"

    def _part_files(self, name: str) -> dict[str, str]:
        number = int(name)
        stem = f"CelebAMask-HQ-mask-anno/{number // 2000}/{number:05d}"
        return {part: f"{stem}_{part}.png" for part in PARTS}

    def _labels(self, name: str) -> NDArray[np.int32]:
        if self._is_export:
            file = self._export_mask(name)
            labels = self._release.decode(file, decode_labels)
            side = int(file.removeprefix("masks-").partition("/")[0])
            if labels.shape != (side, side):
                raise ValueError(f"{file} is {size_of(labels)}, not {side}x{side}")
            if labels.max(initial=0) >= len(CLASSES):
                raise ValueError(f"{file}: label {labels.max()} of {len(CLASSES)} classes")
            return labels
        masks = [
            (part, self._release.decode(file, decode_mask))
            for part, file in self._part_files(name).items()
            if self._release.has(file)
        ]
        if not masks:
            raise ValueError("no part file is there")
        return merge_parts(masks, PART_SIDE)
