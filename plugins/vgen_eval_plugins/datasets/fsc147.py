"""FSC-147: everyday things in large numbers, a point on each, 147 kinds of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, CardError, MissingData, Problem
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.counting.targets import CountTarget
from vgen_eval_plugins.datasets.pixmo import count_range
from vgen_eval_plugins.datasets.release import WHERE
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample, size_of

__all__ = ["FSC147"]

IMAGES = "images_384_VarV2"
ANNOTATIONS = "annotation_FSC147_384.json"
SPLITS = "Train_Test_Val_FSC_147.json"
CLASSES = "ImageClasses_FSC147.txt"
LARGEST_INDEX = 1 << 28

MARGIN = 0.02
"""Part of a side by which points may lie outside: some do by a pixel or so, and count."""

Found = TypeVar("Found")


class _Annotation(msgspec.Struct, frozen=True):
    """What the release says of a picture, beside what is not read here."""

    points: tuple[tuple[float, float], ...]


class _Entry(Entry, frozen=True, kw_only=True):
    points: tuple[tuple[float, float], ...]


class FSC147(ReleaseReader[_Entry]):
    """`images_384_VarV2/N.jpg`, with the points in one JSON file, the splits in another.

    The truth is the number of points; they are pixels of the pictures whose height is 384.
    """

    title = "FSC-147"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which pictures."""

        split: Annotated[
            Literal["train", "val", "test", "val_coco", "test_coco"],
            msgspec.Meta(description="Which split: 3,659, 1,286, 1,190, 277 and 282 pictures."),
        ] = "test"

    options: Options

    def find_entries(self) -> Sequence[_Entry]:
        """Every picture of the split, in the list's order.

        MissingData for a list that is not there or is none; CardError with every picture of the
        split that has no points or no class.
        """
        names, split = self._names(), self.options.split
        annotations = self._parse(ANNOTATIONS, dict[str, _Annotation])
        classes = self._classes()
        entries: dict[str, _Entry] = {}
        problems: list[Problem] = []
        for name in names:
            stem, fault = name.rpartition(".")[0] or name, None
            if name not in annotations:
                fault = (ANNOTATIONS, "has no points")
            elif name not in classes:
                fault = (CLASSES, "has no class")
            elif stem in entries:
                fault = (SPLITS, f"stands twice in '{split}'")
            if fault is not None:
                file, message = fault
                problems.append(Problem(message, file=str(self._release.root / file), path=name))
                continue
            points = annotations[name].points
            tags = {"class": classes[name], "count": count_range(len(points))}
            item = Item(id=stem, group=name, tags=tags)
            entries[stem] = _Entry(item, (f"{IMAGES}/{name}",), points=points)
        if problems:
            raise CardError(problems)
        return list(entries.values())

    def read_entry(self, entry: _Entry) -> Sample:
        """The picture, how many there are and where."""
        picture = self._release.picture(entry.files[0])
        points = self._place(entry, picture)
        target = CountTarget(len(points), points)
        fields = {"query": entry.item.tags["class"]}
        return make_sample(entry.item, picture, target, fields=fields)

    def fingerprint(self) -> str:
        """sha256 over the three lists."""
        digest = hashlib.sha256(self.options.split.encode())
        for name in (ANNOTATIONS, SPLITS, CLASSES):
            digest.update(hashlib.sha256(self._list(name)).digest())
        return digest.hexdigest()

    def _place(self, entry: _Entry, picture: NDArray[np.uint8]) -> NDArray[np.float64]:
        """(N, 2) the points, those a little outside brought to the border."""
        points = np.array(entry.points, np.float64).reshape(-1, 2)
        limit = np.array([picture.shape[1], picture.shape[0]])
        far = (points < -MARGIN * limit) | (points > (1 + MARGIN) * limit)
        odd = far.any(axis=1) | ~np.isfinite(points).all(axis=1)
        if odd.any():
            x, y = points[odd][0]
            raise BadSample(
                f"{self._release.root / entry.files[0]}: point ({x:g}, {y:g}) lies outside the "
                f"picture, {size_of(picture)}: is it of {IMAGES}?"
            )
        return np.clip(points, 0, limit)

    def _list(self, name: str) -> bytes:
        return self._release.read_index(name, cure=WHERE, limit=LARGEST_INDEX)

    def _parse(self, name: str, kind: type[Found]) -> Found:
        parse = msgspec.json.Decoder(kind).decode
        return self._release.parse_index(name, parse, limit=LARGEST_INDEX)

    def _names(self) -> list[str]:
        """The split's files, at least one."""
        names = self._parse(SPLITS, dict[str, list[str]]).get(self.options.split)
        if not names:
            raise MissingData(
                f"FSC-147: {self._release.root / SPLITS} names no picture of "
                f"'{self.options.split}'",
                cure=WHERE,
            )
        return names

    def _classes(self) -> Mapping[str, str]:
        lines = self._list(CLASSES).decode("utf-8", "replace").splitlines()
        pairs = (line.partition("\t") for line in lines)
        return {name.strip(): label.strip() for name, _, label in pairs if label.strip()}
