"""LLDescribe: pictures to be described, with the golden texts that the user brings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, ClassVar

import msgspec
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample
from vgen_eval_plugins.datasets.told_words import (
    Told,
    find_told,
    place_of,
    read_told,
    unique_id,
)
from vgen_eval_plugins.quality.description.targets import GoldenText

__all__ = ["LLDescribe"]

GOLDEN = "golden.json"
IMAGES = "images"
CURE = (
    "the experts' texts are not public, the pictures alone are: lay a file of your own there, a "
    'list of {"img_path": ..., "golden": ...}, or an object of picture -> text'
)


class _Entry(Entry, frozen=True, kw_only=True):
    line: Told
    place: str
    """File and record, for messages."""


class LLDescribe(ReleaseReader[_Entry]):
    """`images/`, and a file of golden texts, which says which pictures are samples.

    The file is a list of {img_path, golden} (`ref` is read as `golden` is), or an object of
    picture -> text.
    """

    version: ClassVar[int] = 2
    title = "LLDescribe"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Where the golden texts are."""

        golden: Annotated[
            str,
            msgspec.Meta(
                description="Your file of golden texts: a path below the data set's folder, or an "
                "absolute one."
            ),
        ] = GOLDEN

    options: Options

    def find_entries(self) -> Iterator[_Entry]:
        """Every picture that has a golden text, in the file's order; MissingData without one."""
        path = find_told(self._release, self.options.golden)
        if path is None:
            raise MissingData(
                f"{self.title}: there are no golden texts: no file "
                f"{place_of(self._release, self.options.golden)}",
                cure=CURE,
            )
        lines = read_told(self._release, path, ("golden", "ref"), cure=CURE)
        if not lines:
            raise MissingData(f"{self.title}: {path} holds no golden text", cure=CURE)
        folder = f"{IMAGES}/" if self._release.has(IMAGES) else ""
        ids: set[str] = set()
        for line in lines:
            name = line.name or f"record-{line.number}"
            yield _Entry(
                Item(id=unique_id(name, ids), group=name),
                (f"{folder}{line.name}",) if line.name else (),
                line=line,
                place=f"{path}: record {line.number} ({line.name or 'no name'})",
            )

    def read_entry(self, entry: _Entry) -> Sample:
        """The picture and its golden text; BadSample, naming file and record, for a faulty one."""
        if entry.line.fault is not None:
            raise BadSample(f"{entry.place}: {entry.line.fault}")
        picture = self._release.picture(entry.files[0])
        return make_sample(entry.item, picture, GoldenText(entry.line.words))

    def mark_truth(self) -> str:
        """A digest over the golden texts."""
        digest = hashlib.sha256()
        for entry in self._entries.values():
            digest.update(msgspec.json.encode(entry.line) + b"\n")
        return digest.hexdigest()
