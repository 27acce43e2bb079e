"""Pictures and 16-bit depth that a list of the release pairs: what KITTI and ScanNet share."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.depth_png import read_depth_png
from vgen_eval_plugins.datasets.release import Release

__all__ = ["Pair", "PairedDepth"]


class Pair(msgspec.Struct, frozen=True):
    """One line of the list."""

    item: Item
    picture: str
    depth: str


class PairedDepth:
    """Reader of such a list; subclasses read its lines and say how depth is stored."""

    version: ClassVar[int] = 1
    title: ClassVar[str]
    metres: ClassVar[float]
    """In one unit of the depth files; 0 stands for no reading."""

    def __init__(self, options: Any, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title=self.title)

    def read_line(self, words: list[str]) -> Pair | None:
        """The pair that a line names, None for one without depth; ValueError for no such line."""
        raise NotImplementedError

    def prepare_pair(
        self, picture: NDArray[np.uint8], depth: NDArray[np.float32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Picture and depth at one size; ValueError when they cannot be brought there."""
        raise NotImplementedError

    def index(self) -> Sequence[Item]:
        """Every pair of the list, in its order."""
        return [pair.item for pair in self._pairs.values()]

    def load(self, item: Item) -> Sample:
        """The picture and metres, NaN where there is no reading; BadSample for faulty files."""
        pair = self._pairs.get(item.id)
        if pair is None:
            raise BadSample(f"{self._list}: no sample '{item.id}'")
        try:
            picture = decode_image(self._release.read(pair.picture), what=pair.picture)
            data = self._release.read(pair.depth)
            depth = read_depth_png(data, what=pair.depth, metres=self.metres)
            picture, depth = self.prepare_pair(picture, depth)
        except Undecodable as exc:
            raise BadSample(f"{self._release.root}: {exc.what}") from exc
        except ValueError as exc:
            raise BadSample(f"{pair.depth}: {exc}") from exc
        valid = depth > 0
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(picture),),
            target=np.where(valid, depth, np.float32(np.nan)),
            valid=valid,
            tags=item.tags,
        )

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        pairs = (self._pairs[item.id] for item in items)
        return self._release.look({p.item.id: (p.picture, p.depth) for p in pairs})

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the list and what marks the depth files."""
        digest = hashlib.sha256(self._data)
        digest.update(self._release.fingerprint(p.depth for p in self._pairs.values()).encode())
        return digest.hexdigest()

    @property
    def _list(self) -> str:
        return str(self.options.list)

    @cached_property
    def _data(self) -> bytes:
        return self._release.read_index(
            self._list, cure="the list lies beside the data: vgen-eval data list says whose it is"
        )

    @cached_property
    def _pairs(self) -> dict[str, Pair]:
        pairs: dict[str, Pair] = {}
        for number, line in enumerate(self._data.decode("utf-8", "replace").splitlines(), 1):
            if not line.strip():
                continue
            try:
                pair = self.read_line(line.split())
            except ValueError as exc:
                raise MissingData(f"{self._release.root / self._list}:{number}: {exc}") from exc
            if pair is not None:
                pairs[pair.item.id] = pair
        if not pairs:
            raise MissingData(f"{self._release.root / self._list}: names no picture with a depth")
        return pairs
