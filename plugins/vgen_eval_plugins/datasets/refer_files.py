"""The files of a RefCOCO release: who is meant by which phrase, and the outlines of COCO."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.datasets.plain_pickle import load_plain
from vgen_eval_plugins.datasets.release import Release

__all__ = ["SPLITS", "Annotations", "Category", "Picture", "Ref", "read_annotations", "read_refs"]

_UNC = ("train", "val", "testA", "testB")
SPLITS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "refcoco": {"unc": _UNC, "google": ("train", "val", "test")},
    "refcoco+": {"unc": _UNC},
    "refcocog": {"umd": ("train", "val", "test"), "google": ("train", "val")},
}
"""Data set -> whose splits -> their names."""

Side = Annotated[int, msgspec.Meta(ge=1, le=1 << 16)]


class Sentence(msgspec.Struct, frozen=True):
    """A phrase as it was lower-cased and cleaned by the release."""

    sent_id: int
    sent: str


class Ref(msgspec.Struct, frozen=True):
    """A thing of a photograph and its phrases."""

    ref_id: int
    ann_id: int | list[int]
    image_id: int
    category_id: int
    split: str
    sentences: list[Sentence]

    @property
    def parts(self) -> list[int]:
        """The annotations that make the thing up."""
        return [self.ann_id] if isinstance(self.ann_id, int) else self.ann_id


class Picture(msgspec.Struct, frozen=True):
    """A picture as annotations in COCO's format have it."""

    id: int
    file_name: str
    height: Side
    width: Side


class Category(msgspec.Struct, frozen=True):
    """A class and its number."""

    id: int
    name: str


class _Annotation(msgspec.Struct, frozen=True):
    id: int
    image_id: int
    segmentation: msgspec.Raw = msgspec.Raw(b"[]")
    """Read for the annotations that are wanted alone."""


class _Instances(msgspec.Struct, frozen=True):
    images: list[Picture]
    annotations: list[_Annotation]
    categories: list[Category] = []


class Annotations(msgspec.Struct, frozen=True):
    """What the references are about."""

    images: Mapping[int, Picture]
    categories: Mapping[int, str]
    segments: Mapping[int, tuple[int, Any]]
    """Annotation -> its photograph and its segmentation."""

    def mask(
        self, ref: Ref, draw: Callable[[Any, tuple[int, int]], NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        """bool (H, W) of all of a reference's parts; KeyError or ValueError when one is wrong."""
        if ref.image_id not in self.images:
            raise ValueError(f"there is no image {ref.image_id}")
        picture = self.images[ref.image_id]
        mask = np.zeros((picture.height, picture.width), bool)
        for part in ref.parts:
            if part not in self.segments:
                raise ValueError(f"there is no annotation {part}")
            image_id, segmentation = self.segments[part]
            if image_id != ref.image_id:
                raise ValueError(f"annotation {part} is of image {image_id}, not {ref.image_id}")
            mask |= draw(segmentation, mask.shape)
        return mask


def read_refs(release: Release, name: str) -> list[Ref]:
    """The references of a pickle, of which only plain data is read; MissingData otherwise."""
    return release.parse_index(name, lambda data: msgspec.convert(load_plain(data), list[Ref]))


def read_annotations(release: Release, name: str, refs: Sequence[Ref]) -> Annotations:
    """What of an instances.json the references need; MissingData when it is none."""
    wanted = {part for ref in refs for part in ref.parts}

    def parse(data: bytes) -> Annotations:
        found = msgspec.json.decode(data, type=_Instances)
        return Annotations(
            images={picture.id: picture for picture in found.images},
            categories={entry.id: entry.name for entry in found.categories},
            segments={
                entry.id: (entry.image_id, msgspec.json.decode(entry.segmentation))
                for entry in found.annotations
                if entry.id in wanted
            },
        )

    return release.parse_index(name, parse)
