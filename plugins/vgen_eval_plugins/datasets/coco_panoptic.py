"""COCO panoptic as semantic labels: 133 categories and "other", the 5,000 validation pictures."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_image, resize
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.celebamask_hq import Draw
from vgen_eval_plugins.datasets.coco_classes import CLASSES
from vgen_eval_plugins.datasets.release import Release
from vgen_eval_plugins.semantic.labels import LabelMap, present_fields

__all__ = ["OTHER", "CocoPanoptic"]

ANNOTATIONS = "annotations/panoptic_val2017.json"
OTHER = "other"
"""Pixels of no segment: id 0."""

NAMES = (OTHER, *(entry.name for entry in CLASSES))
LABEL_OF = {entry.number: at for at, entry in enumerate(CLASSES, 1)}


class CocoPanoptic:
    """`val2017/*.jpg` with `annotations/panoptic_val2017.json` and the folder of that name.

    A segment's id is R + 256 G + 65536 B. PixelArena (arXiv 2512.16303) takes the square in the
    middle of the picture and brings both to 1024 x 1024 by the nearest pixel.
    """

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which pictures, and how much of them."""

        area: Annotated[
            Literal["square", "whole"],
            msgspec.Meta(description="The middle square at `side`, or the picture as it is."),
        ] = "square"
        side: Annotated[int, msgspec.Meta(description="Of the square, in pixels.", ge=16)] = 1024
        draw: Annotated[
            Draw | None,
            msgspec.Meta(
                description="A seeded subset of the sorted file names, as random.sample takes it; "
                "null: all."
            ),
        ] = None

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="COCO panoptic")

    def index(self) -> Sequence[Item]:
        """The pictures that are annotated, by name, or those of them that are drawn."""
        return [Item(id=name, group=name) for name in self._names]

    def load(self, item: Item) -> Sample:
        """The picture and its labels; BadSample, naming the file, when one is faulty."""
        if item.id not in self._segments:
            raise BadSample(f"{ANNOTATIONS}: no picture '{item.id}'")
        picture_file, label_file = self._files(item.id)
        try:
            picture = decode_image(self._release.read(picture_file), what=picture_file)
            painted = decode_image(self._release.read(label_file), what=label_file)
        except Undecodable as exc:
            raise BadSample(f"{self._release.root}: {exc.what}") from exc
        if painted.shape != picture.shape:
            raise BadSample(
                f"{label_file} is {painted.shape[1]}x{painted.shape[0]}, the picture "
                f"{picture.shape[1]}x{picture.shape[0]}"
            )
        labels = self._read_segments(painted, item.id)
        if self.options.area == "square":
            picture, labels = (self._square(array) for array in (picture, labels))
        target = LabelMap(labels, NAMES)
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(picture),),
            target=target,
            fields=present_fields(target),
        )

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        return self._release.look({item.id: self._files(item.id) for item in items})

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the annotations and what marks the label files."""
        digest = hashlib.sha256(self._data)
        labels = (self._files(name)[1] for name in self._names)
        digest.update(self._release.fingerprint(labels).encode())
        return digest.hexdigest()

    def _read_segments(self, painted: NDArray[np.uint8], name: str) -> NDArray[np.int32]:
        ids = painted[..., 0] + 256 * painted[..., 1].astype(np.int32)
        ids += 65536 * painted[..., 2].astype(np.int32)
        present, index = np.unique(ids, return_inverse=True)
        known = {0: 0, **self._segments[name]}
        lost = [int(value) for value in present if int(value) not in known]
        if lost:
            raise BadSample(f"{self._files(name)[1]}: segment {lost[0]} is not in {ANNOTATIONS}")
        table = np.array([known[int(value)] for value in present], np.int32)
        return np.asarray(table[index.reshape(ids.shape)])

    def _square(self, array: NDArray[Any]) -> NDArray[Any]:
        """The middle square at the side asked for, by the nearest pixel."""
        height, width = array.shape[:2]
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        part = array[top : top + side, left : left + side]
        return resize(part, height=self.options.side, width=self.options.side, kind="labels")

    def _files(self, name: str) -> tuple[str, str]:
        return f"val2017/{name}.jpg", f"annotations/panoptic_val2017/{name}.png"

    @cached_property
    def _data(self) -> bytes:
        return self._release.read_index(
            ANNOTATIONS, cure="vgen-eval data list says where the files come from and how they lie"
        )

    @cached_property
    def _segments(self) -> dict[str, dict[int, int]]:
        """Picture -> segment id -> label."""
        try:
            found = json.loads(self._data)
            return {
                Path(entry["file_name"]).stem: {
                    int(segment["id"]): LABEL_OF[segment["category_id"]]
                    for segment in entry["segments_info"]
                }
                for entry in found["annotations"]
            }
        except (ValueError, KeyError, TypeError) as exc:
            raise MissingData(
                f"COCO panoptic: {ANNOTATIONS} is cut off or another file: "
                f"{type(exc).__name__}: {exc}"
            ) from exc

    @cached_property
    def _names(self) -> list[str]:
        names = sorted(self._segments)
        if self.options.draw is None:
            return names
        draw = self.options.draw
        if draw.count > len(names):
            raise MissingData(
                f"COCO panoptic: {draw.count} pictures wanted, {len(names)} annotated"
            )
        return sorted(random.Random(draw.seed).sample(names, draw.count))
