"""Reader of a release: what every one does alike, once it said which samples there are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, Problem
from vgen_eval.imaging import Image
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release import Release

__all__ = ["Entry", "ReleaseReader", "check_size", "make_sample", "size_of"]


class Entry(msgspec.Struct, frozen=True):
    """What the index knows of a sample; readers add fields of their own."""

    item: Item
    files: tuple[str, ...] = ()
    """Below the root: the picture, then what its truth is read from."""


E = TypeVar("E", bound=Entry)


class ReleaseReader(Generic[E]):
    """A data set in its makers' layout.

    A subclass has a `title`, Options, and says two things: `find_entries`, which samples there are,
    and `read_entry`, how one is read. `files_of` and `mark_truth` are for one whose files or whose
    truth are not those that its entries name.
    """

    version: ClassVar[int] = 1
    title: str
    """What people call the data set."""
    options: Any

    def __init__(self, options: Any, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title=self.title)

    def find_entries(self) -> Iterable[E]:
        """Every sample, in the data set's order; MissingData when what says so is not there."""
        raise NotImplementedError

    def read_entry(self, entry: E) -> Sample:
        """The sample with its pixels and truth; BadSample, naming the file, when one is faulty."""
        raise NotImplementedError

    def files_of(self, entry: E) -> Sequence[str]:
        """Its files, the picture first."""
        return entry.files

    def mark_truth(self) -> str:
        """A digest that changes with the truths."""
        return self._release.fingerprint(
            name for entry in self._entries.values() for name in self.files_of(entry)[1:]
        )

    def index(self) -> Sequence[Item]:
        """Every sample; no picture is opened."""
        return [entry.item for entry in self._entries.values()]

    def load(self, item: Item) -> Sample:
        """The sample of that id; BadSample when there is none, or when its files are faulty."""
        entry = self._entries.get(item.id)
        if entry is None:
            raise BadSample(f"{self._release.root}: no sample '{item.id}'")
        return self.read_entry(entry)

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        return self._release.look(
            {item.id: self.files_of(self._entries[item.id]) for item in items}
        )

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and what marks the truths."""
        told = "\n".join([*self._entries, self.mark_truth()])
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def _entries(self) -> Mapping[str, E]:
        return {entry.item.id: entry for entry in self.find_entries()}


def make_sample(
    item: Item,
    picture: NDArray[np.uint8],
    target: Any,
    *,
    valid: NDArray[np.bool_] | None = None,
    fields: Mapping[str, str] = {},
) -> Sample:
    """The sample of one picture. `valid`: left out where the truth of all pixels is known."""
    return Sample(
        id=item.id,
        group=item.group,
        images=(Image(picture),),
        target=target,
        valid=None if valid is None or valid.all() else valid,
        fields=fields,
        tags=item.tags,
    )


def size_of(array: NDArray[Any]) -> str:
    """WxH of a picture or a map."""
    return f"{array.shape[1]}x{array.shape[0]}"


def check_size(truth: NDArray[Any], picture: NDArray[np.uint8], *, what: str) -> None:
    """BadSample, naming the truth's file, unless it is of the picture's size."""
    if truth.shape[:2] != picture.shape[:2]:
        raise BadSample(f"{what} is {size_of(truth)}, the picture {size_of(picture)}")
