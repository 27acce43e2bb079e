"""Reader of pictures with a mask on each: the prepared masks, and the sample that a mask makes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.mask_lines import Head, PreparedMasks
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample, size_of

__all__ = ["MaskEntry", "MaskReader", "masked_sample"]


class MaskEntry(Entry, frozen=True, kw_only=True):
    """A sample whose truth is a prepared line."""

    head: Any
    """Head or a subclass."""
    place: tuple[int, int]
    """(offset, bytes) of its line."""
    query: str


class MaskReader(ReleaseReader[MaskEntry]):
    """Reader of pictures and of the file of masks that its `prepare` wrote, which is the truth."""

    head: ClassVar[type[Head]]
    cure: ClassVar[str]
    """What writes the file."""

    @property
    def mask_file(self) -> str:
        """Where its `prepare` writes them, below the root."""
        raise NotImplementedError

    def read_entry(self, entry: MaskEntry) -> Sample:
        """The picture and the mask."""
        (file,) = entry.files
        picture = self._release.picture(file)
        mask = self._masks.mask(entry.head, entry.place)
        return masked_sample(entry.item, picture, mask, what=file, query=entry.query)

    def mark_truth(self) -> str:
        """What marks the lines of the samples."""
        return self._masks.fingerprint()

    @cached_property
    def _masks(self) -> PreparedMasks:
        return PreparedMasks(self._release, self.mask_file, self.head, cure=self.cure)


def masked_sample(
    item: Item,
    picture: NDArray[np.uint8],
    mask: NDArray[np.bool_],
    *,
    what: str,
    query: str,
    valid: NDArray[np.bool_] | None = None,
) -> Sample:
    """The sample of a picture and a mask on it; BadSample, naming `what`, when sizes differ.

    `valid`: the pixels whose truth is known; one that holds all of them is left out.
    """
    if picture.shape[:2] != mask.shape:
        raise BadSample(f"{what}: the picture is {size_of(picture)}, its mask {size_of(mask)}")
    return make_sample(item, picture, mask, valid=valid, fields={"query": query})
