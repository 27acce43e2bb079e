"""COCO panoptic as semantic labels: 133 categories and "other", the 5,000 validation pictures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.imaging import resize
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.coco_classes import CLASSES
from vgen_eval_plugins.datasets.draw import Draw
from vgen_eval_plugins.datasets.release import WHERE
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, check_size, make_sample
from vgen_eval_plugins.semantic.labels import LabelMap, present_fields

__all__ = ["OTHER", "CocoPanoptic"]

ANNOTATIONS = "annotations/panoptic_val2017.json"
OTHER = "other"
"""Pixels of no segment: id 0."""

NAMES = (OTHER, *(entry.name for entry in CLASSES))
LABEL_OF = {entry.number: at for at, entry in enumerate(CLASSES, 1)}


class CocoPanoptic(ReleaseReader[Entry]):
    """`val2017/*.jpg` with `annotations/panoptic_val2017.json` and the folder of that name.

    A segment's id is R + 256 G + 65536 B. PixelArena (arXiv 2512.16303) takes the square in the
    middle of the picture and brings both to 1024 x 1024 by the nearest pixel.
    """

    title = "COCO panoptic"

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

    options: Options

    def find_entries(self) -> Iterator[Entry]:
        """The pictures that are annotated, by name, or those of them that are drawn."""
        names = sorted(self._segments)
        draw = self.options.draw
        if draw is not None:
            if draw.count > len(names):
                raise MissingData(
                    f"COCO panoptic: {draw.count} pictures wanted, {len(names)} annotated"
                )
            names = draw.take(names)
        for name in names:
            files = (f"val2017/{name}.jpg", f"annotations/panoptic_val2017/{name}.png")
            yield Entry(Item(id=name, group=name), files)

    def read_entry(self, entry: Entry) -> Sample:
        """The picture and its labels."""
        picture_file, label_file = entry.files
        picture, painted = self._release.picture(picture_file), self._release.picture(label_file)
        check_size(painted, picture, what=label_file)
        labels = self._read_segments(painted, entry)
        if self.options.area == "square":
            picture, labels = (self._square(array) for array in (picture, labels))
        target = LabelMap(labels, NAMES)
        return make_sample(entry.item, picture, target, fields=present_fields(target))

    def fingerprint(self) -> str:
        """sha256 over the annotations and what marks the label files."""
        return hashlib.sha256(self._data + self.mark_truth().encode()).hexdigest()

    def _read_segments(self, painted: NDArray[np.uint8], entry: Entry) -> NDArray[np.int32]:
        ids = painted[..., 0] + 256 * painted[..., 1].astype(np.int32)
        ids += 65536 * painted[..., 2].astype(np.int32)
        present, index = np.unique(ids, return_inverse=True)
        known = {0: 0, **self._segments[entry.item.id]}
        lost = [int(value) for value in present if int(value) not in known]
        if lost:
            raise BadSample(f"{entry.files[1]}: segment {lost[0]} is not in {ANNOTATIONS}")
        table = np.array([known[int(value)] for value in present], np.int32)
        return np.asarray(table[index.reshape(ids.shape)])

    def _square(self, array: NDArray[Any]) -> NDArray[Any]:
        """The middle square at the side asked for, by the nearest pixel."""
        height, width = array.shape[:2]
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        part = array[top : top + side, left : left + side]
        return resize(part, height=self.options.side, width=self.options.side, kind="labels")

    @cached_property
    def _data(self) -> bytes:
        return self._release.read_index(ANNOTATIONS, cure=WHERE)

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
