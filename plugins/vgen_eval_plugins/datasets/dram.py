"""DRAM: paintings of several movements, with PASCAL's classes of things labelled in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import decode_labels
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.mask_lines import (
    PreparedMasks,
    masked_sample,
    read_picture,
    write_lines,
)
from vgen_eval_plugins.datasets.release import Release

__all__ = ["CLASSES", "Dram"]

CLASSES: Mapping[int, str] = {
    3: "bird", 4: "boat", 5: "bottle", 8: "cat", 9: "chair", 10: "cow", 12: "dog", 13: "horse",
    15: "person", 16: "potted plant", 17: "sheep",
}  # fmt: skip
"""PASCAL's numbers that are kept; 0 is background, and every other number is ignored."""

BACKGROUND = 0
FOLDERS = ("DRAM_processed", "DRAM_500")
PREPARED = "labels.jsonl"
SUFFIXES = (".jpg", ".jpeg", ".png")
CURE = "vgen-eval data prepare referring/dram reads every label once"
WHERE = "vgen-eval data list says where the files come from and how they lie"


class _Line(msgspec.Struct, frozen=True):
    """What a label file holds."""

    name: str
    pixels: dict[int, int]
    """Class -> how many."""


class Dram:
    """One sample a painting and class in it: all pixels of the class, ignored ones unknown.

    Files below `DRAM_processed/` (or `DRAM_500/`): `test/<list>.txt`, `test/<name>.jpg`,
    `labels/<name>.png`. `prepare` writes down which classes every label holds.
    """

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which paintings, and how much of a class has to be there."""

        list: Annotated[
            Literal[
                "dram", "dram_with_unseen", "realism", "impressionism", "post_impressionism",
                "expressionism", "unseen",
            ],
            msgspec.Meta(description="List of the release."),
        ] = "dram"  # fmt: skip
        min_area: Annotated[
            int, msgspec.Meta(description="Pixels of a class below which it is no sample.", ge=1)
        ] = 1

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="DRAM")

    def index(self) -> Sequence[Item]:
        """Paintings in the list's order, their classes by number; MissingData until `prepare`."""
        return [item for item, _, _ in self._samples.values()]

    def load(self, item: Item) -> Sample:
        """The painting and the mask; BadSample when a file is faulty or not the one prepared."""
        known = self._samples.get(item.id)
        if known is None:
            raise BadSample(f"{self._release.root / self._folder}: no sample '{item.id}'")
        item, line, label = known
        labels = self._labels(line.name)
        mask = labels == label
        if np.count_nonzero(mask) != line.pixels[label]:
            raise BadSample(f"{self._label_file(line.name)} changed since it was prepared: {CURE}")
        valid = np.isin(labels, [BACKGROUND, *CLASSES])
        name = self._picture(line.name)
        picture = read_picture(self._release, name)
        return masked_sample(item, picture, mask, what=name, query=CLASSES[label], valid=valid)

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        names = {item.id: self._samples[item.id][1].name for item in items}
        return self._release.look(
            {i: (self._picture(name), self._label_file(name)) for i, name in names.items()}
        )

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and what marks the labels."""
        names = dict.fromkeys(self._label_file(line.name) for _, line, _ in self._samples.values())
        told = "\n".join([*self._samples, self._release.fingerprint(names)])
        return hashlib.sha256(told.encode()).hexdigest()

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes `labels.jsonl`: the classes of every label that a list names."""
        folder = self._release.root / self._folder / "test"
        lists = sorted(path.stem for path in folder.glob("*.txt"))
        if not lists:
            raise MissingData(f"DRAM: no list in {folder}", cure=WHERE)
        names = dict.fromkeys(name for one in lists for name in self._names(one))
        say(f"DRAM: {len(names):,} labels to read")

        def lines() -> Iterator[Mapping[str, Any]]:
            for name in names:
                try:
                    labels = self._labels(name)
                except BadSample as exc:
                    raise MissingData(f"DRAM: {exc.what}", cure=WHERE) from exc
                values, counts = np.unique(labels, return_counts=True)
                found = zip(values.tolist(), counts.tolist(), strict=True)
                yield {"name": name, "pixels": {v: n for v, n in found if v in CLASSES}}

        count = write_lines(self._prepared.path, lines())
        say(f"DRAM: {count:,} labels written down in {self._prepared.path}")

    @cached_property
    def _folder(self) -> str:
        return next((name for name in FOLDERS if self._release.has(name)), FOLDERS[0])

    @cached_property
    def _prepared(self) -> PreparedMasks:
        return PreparedMasks(self._release, f"{self._folder}/{PREPARED}", _Line, cure=CURE)

    @cached_property
    def _samples(self) -> dict[str, tuple[Item, _Line, int]]:
        names = self._names(self.options.list)
        wanted = set(names)
        lines = {h.name: h for h, _ in self._prepared.heads(lambda head: head.name in wanted)}
        lost = next((name for name in names if name not in lines), None)
        if lost is not None:
            raise MissingData(f"DRAM: '{lost}' is in no line of {self._prepared.path}", cure=CURE)
        samples = {}
        for name in dict.fromkeys(names):
            movement = name.partition("/")[0]
            for label, pixels in sorted(lines[name].pixels.items()):
                if label in CLASSES and pixels >= self.options.min_area:
                    word = CLASSES[label]
                    item = Item(
                        id=f"{name}/{word.replace(' ', '_')}",
                        group=name,
                        tags={"class": word, "movement": movement},
                    )
                    samples[item.id] = (item, lines[name], label)
        return samples

    def _names(self, one: str) -> list[str]:
        """The paintings of a list, without their files' suffix."""
        place = f"{self._folder}/test/{one}.txt"
        text = self._release.read_index(place, cure=WHERE).decode("utf-8", "replace")
        names = [line.strip() for line in text.splitlines() if line.strip()]
        if not names:
            raise MissingData(f"DRAM: {self._release.root / place} names no painting", cure=WHERE)
        return [
            name[: -len(PurePosixPath(name).suffix)] if name.lower().endswith(SUFFIXES) else name
            for name in names
        ]

    def _picture(self, name: str) -> str:
        return f"{self._folder}/test/{name}.jpg"

    def _label_file(self, name: str) -> str:
        return f"{self._folder}/labels/{name}.png"

    def _labels(self, name: str) -> NDArray[np.int32]:
        place = self._label_file(name)
        try:
            return decode_labels(self._release.read(place), what=place)
        except Undecodable as exc:
            raise BadSample(f"{self._release.root}: {exc.what}") from exc
