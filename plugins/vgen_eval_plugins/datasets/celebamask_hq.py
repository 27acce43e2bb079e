"""CelebAMask-HQ: parts of faces, 19 classes, from part files or from PixelArena's export."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_image, decode_labels, decode_mask, resize
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release import Release
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


class Draw(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A seeded subset of the sorted pictures, as `random.sample` takes it."""

    seed: int
    count: Annotated[int, msgspec.Meta(ge=1)]


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
            raise ValueError(f"{part} is {mask.shape[1]}x{mask.shape[0]}, not {size}x{size}")
        labels[mask] = label
    return labels


class CelebAMaskHQ:
    """Photos of 1024 x 1024 with part masks of 512 x 512, or an export of both.

    - official: `CelebA-HQ-img/N.jpg`, `CelebAMask-HQ-mask-anno/{N // 2000}/NNNNN_PART.png`; a
      part that is not there is absent.
    - export: `eval-set/celeb/id-150.json`, `images/HEX.jpg`, `masks-512/HEX.png` or `masks-1024/`;
      PixelArena's own names, of which no map to the official numbers is public.

    Photo and labels are brought to `score_size`, labels by the nearest pixel.
    """

    version: ClassVar[int] = 1

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

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="CelebAMask-HQ")

    def index(self) -> Sequence[Item]:
        """The list of ids if it is there, else the official numbers, all or drawn."""
        return [Item(id=name, group=name) for name in self._names]

    def load(self, item: Item) -> Sample:
        """The photo and its labels; BadSample, naming the file, when one is faulty."""
        if item.id not in self._known:
            raise BadSample(f"{self._release.root}: no sample '{item.id}'")
        side = self.options.score_size
        try:
            file = self._picture(item.id)
            picture = decode_image(self._release.read(file), what=file)
            labels = self._labels(item.id)
        except (Undecodable, ValueError) as exc:
            raise BadSample(
                f"{self._release.root}: {item.id}: {getattr(exc, 'what', exc)}"
            ) from exc
        if picture.shape[0] != picture.shape[1]:
            raise BadSample(f"{file} is {picture.shape[1]}x{picture.shape[0]}, no square")
        target = LabelMap(resize(labels, height=side, width=side, kind="labels"), CLASSES)
        # grown by whole pixels, so that the protocol's own size gets the picture back as it was
        kind: Literal["labels", "photo"] = "labels" if picture.shape[0] < side else "photo"
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(resize(picture, height=side, width=side, kind=kind)),),
            target=target,
            fields=present_fields(target),
        )

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty; a part may be absent, all may not."""
        if self._is_export:
            files = {i.id: (self._picture(i.id), self._export_mask(i.id)) for i in items}
            return self._release.look(files)
        problems = self._release.look({item.id: (self._picture(item.id),) for item in items})
        for item in items:
            if not any(self._release.has(name) for name in self._part_files(item.id).values()):
                folder = str(self._release.root / "CelebAMask-HQ-mask-anno")
                problems.append(Problem("no part file", file=folder, path=item.id))
        return problems

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and what marks the masks, of evenly spaced samples."""
        some = self._names[:: max(1, len(self._names) // 500)]
        if self._is_export:
            masks = [self._export_mask(name) for name in some]
        else:
            masks = [file for name in some for file in self._part_files(name).values()]
        told = "\n".join([*self._names, self._release.fingerprint(masks)])
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def _is_export(self) -> bool:
        return HEX.fullmatch(self._names[0]) is not None

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._names)

    @cached_property
    def _names(self) -> list[str]:
        if self._release.has(self.options.ids):
            return self._read_list()
        if not self._release.has("CelebA-HQ-img"):
            raise MissingData(
                f"CelebAMask-HQ: {self._release.root} holds neither CelebA-HQ-img nor "
                f"{self.options.ids}",
                cure="vgen-eval data list says where the files come from and how they lie",
            )
        numbers: Sequence[int] = range(PICTURES)
        if self.options.draw is not None:
            draw = self.options.draw
            numbers = sorted(random.Random(draw.seed).sample(range(PICTURES), draw.count))
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
        return [str(int(name)) for name in told] if numbers else told

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
            labels = decode_labels(self._release.read(file), what=file)
            side = int(file.removeprefix("masks-").partition("/")[0])
            if labels.shape != (side, side):
                raise ValueError(
                    f"{file} is {labels.shape[1]}x{labels.shape[0]}, not {side}x{side}"
                )
            if labels.max(initial=0) >= len(CLASSES):
                raise ValueError(f"{file}: label {labels.max()} of {len(CLASSES)} classes")
            return labels
        masks = [
            (part, decode_mask(self._release.read(file), what=file))
            for part, file in self._part_files(name).items()
            if self._release.has(file)
        ]
        if not masks:
            raise ValueError("no part file is there")
        return merge_parts(masks, PART_SIDE)
