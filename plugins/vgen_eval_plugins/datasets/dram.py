"""DRAM: paintings of several movements, with PASCAL's classes of things labelled in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.imaging import decode_labels
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.mask_lines import PreparedMasks, write_lines
from vgen_eval_plugins.datasets.mask_reader import masked_sample
from vgen_eval_plugins.datasets.release import WHERE
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader

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


class _Line(msgspec.Struct, frozen=True):
    """What a label file holds."""

    name: str
    pixels: dict[int, int]
    """Class -> how many."""


class _Entry(Entry, frozen=True, kw_only=True):
    label: int
    pixels: int


class Dram(ReleaseReader[_Entry]):
    """One sample a painting and class in it: all pixels of the class, ignored ones unknown.

    Files below `DRAM_processed/` (or `DRAM_500/`): `test/<list>.txt`, `test/<name>.jpg`,
    `labels/<name>.png`. `prepare` writes down which classes every label holds.
    """

    title = "DRAM"

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

    options: Options

    def find_entries(self) -> Iterator[_Entry]:
        """Paintings in the list's order, their classes by number; MissingData until `prepare`."""
        names = self._names(self.options.list)
        wanted = set(names)
        lines = {h.name: h for h, _ in self._prepared.heads(lambda head: head.name in wanted)}
        lost = next((name for name in names if name not in lines), None)
        if lost is not None:
            raise MissingData(f"DRAM: '{lost}' is in no line of {self._prepared.path}", cure=CURE)
        for name in dict.fromkeys(names):
            files = (f"{self._folder}/test/{name}.jpg", self._label_file(name))
            for label, pixels in sorted(lines[name].pixels.items()):
                if label in CLASSES and pixels >= self.options.min_area:
                    word = CLASSES[label]
                    item = Item(
                        id=f"{name}/{word.replace(' ', '_')}",
                        group=name,
                        tags={"class": word, "movement": name.partition("/")[0]},
                    )
                    yield _Entry(item, files, label=label, pixels=pixels)

    def read_entry(self, entry: _Entry) -> Sample:
        """The painting and the mask; BadSample when the label is not the one prepared."""
        picture_file, label_file = entry.files
        labels = self._release.decode(label_file, decode_labels)
        mask = labels == entry.label
        if np.count_nonzero(mask) != entry.pixels:
            raise BadSample(f"{label_file} changed since it was prepared: {CURE}")
        valid = np.isin(labels, [BACKGROUND, *CLASSES])
        picture = self._release.picture(picture_file)
        query = CLASSES[entry.label]
        return masked_sample(entry.item, picture, mask, what=picture_file, query=query, valid=valid)

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes `labels.jsonl`: the classes of every label that a list names."""
        found = self._release.scan(f"{self._folder}/test", "*.txt", told="<list>.txt")
        lists = sorted(path.stem for path in found)
        names = dict.fromkeys(name for one in lists for name in self._names(one))
        say(f"DRAM: {len(names):,} labels to read")

        def lines() -> Iterator[Mapping[str, Any]]:
            for name in names:
                try:
                    labels = self._release.decode(self._label_file(name), decode_labels)
                except BadSample as exc:
                    raise MissingData(f"DRAM: {exc.what}", cure=WHERE) from exc
                values, counts = np.unique(labels, return_counts=True)
                found = zip(values.tolist(), counts.tolist(), strict=True)
                yield {"name": name, "pixels": {v: n for v, n in found if v in CLASSES}}

        count = write_lines(self._prepared.path, lines())
        say(f"DRAM: {count:,} labels written down in {self._prepared.path}")

    @cached_property
    def _folder(self) -> str:
        return self._release.first(FOLDERS)

    @cached_property
    def _prepared(self) -> PreparedMasks:
        return PreparedMasks(self._release, f"{self._folder}/{PREPARED}", _Line, cure=CURE)

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

    def _label_file(self, name: str) -> str:
        return f"{self._folder}/labels/{name}.png"
