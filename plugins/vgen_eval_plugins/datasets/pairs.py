"""Pictures and 16-bit depth that a list of the release pairs: what KITTI and ScanNet share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.types import Sample

from vgen_eval_plugins.datasets.depth_png import read_depth_png
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample

__all__ = ["PairedDepth"]


class PairedDepth(ReleaseReader[Entry]):
    """Reader of such a list; subclasses read its lines and say how depth is stored."""

    metres: float
    """In one unit of the depth files; 0 stands for no reading."""

    def read_line(self, words: list[str]) -> Entry | None:
        """What a line names, None for one without depth; ValueError for no such line."""
        raise NotImplementedError

    def prepare_pair(
        self, picture: NDArray[np.uint8], depth: NDArray[np.float32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Picture and depth at one size; ValueError when they cannot be brought there."""
        raise NotImplementedError

    def find_entries(self) -> Sequence[Entry]:
        """Every pair of the list, in its order; MissingData, with its line, for what is none."""
        entries = []
        for number, line in enumerate(self._data.decode("utf-8", "replace").splitlines(), 1):
            if not line.strip():
                continue
            try:
                entry = self.read_line(line.split())
            except ValueError as exc:
                raise MissingData(f"{self._release.root / self._list}:{number}: {exc}") from exc
            if entry is not None:
                entries.append(entry)
        if not entries:
            raise MissingData(f"{self._release.root / self._list}: names no picture with a depth")
        return entries

    def read_entry(self, entry: Entry) -> Sample:
        """The picture and metres, NaN where there is no reading."""
        picture_file, depth_file = entry.files
        picture = self._release.picture(picture_file)
        depth = self._release.decode(depth_file, read_depth_png, metres=self.metres)
        try:
            picture, depth = self.prepare_pair(picture, depth)
        except ValueError as exc:
            raise BadSample(f"{depth_file}: {exc}") from exc
        valid = depth > 0
        truth = np.where(valid, depth, np.float32(np.nan))
        return make_sample(entry.item, picture, truth, valid=valid)

    def fingerprint(self) -> str:
        """sha256 over the list and what marks the depth files."""
        return hashlib.sha256(self._data + self.mark_truth().encode()).hexdigest()

    @property
    def _list(self) -> str:
        return str(self.options.list)

    @cached_property
    def _data(self) -> bytes:
        return self._release.read_index(
            self._list, cure="the list lies beside the data: vgen-eval data list says whose it is"
        )
