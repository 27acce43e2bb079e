"""Pictures with mean opinion scores, listed as Q-Bench lists them for seven data sets (A3)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.errors import BadSample, CardError, MissingData, Problem
from vgen_eval.numerals import read_number
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release import WHERE, picture_name
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample
from vgen_eval_plugins.quality.parts import part_names
from vgen_eval_plugins.quality.targets import Opinion, scale_of

__all__ = ["OpinionScores"]

FOLDERS = ("", "a3_iqa_databases/jsons/", "jsons/")
"""Where the list may lie below the root; the middle one is Q-Bench's repository."""
LARGEST_LIST = 1 << 28
MOST_PROBLEMS = 1000


class _Record(msgspec.Struct, frozen=True):
    """A line of the list; of the score it is not known yet whether it is one."""

    img_path: str = ""
    gt_score: Any = None


class _Entry(Entry, frozen=True, kw_only=True):
    number: int
    """Of the record in the list, from 1 on."""
    score: Any
    part: str


class OpinionScores(ReleaseReader[_Entry]):
    """`<name>.json`, a list of {img_path, gt_score}, and the pictures it names.

    Scores may be texts with blanks around them, as in half of Q-Bench's lists. Higher is better.
    """

    version: ClassVar[int] = 2
    title = "Opinion scores"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which list, where the pictures lie, and what belongs together."""

        file: Annotated[str, msgspec.Meta(description="File of the scores.", min_length=1)]
        folders: Annotated[
            tuple[str, ...],
            msgspec.Meta(
                description="Folders below the root that pictures may lie in; the first counts.",
                min_length=1,
            ),
        ] = (".", "images")
        parts: Annotated[
            Mapping[str, Annotated[int, msgspec.Meta(ge=1)]],
            msgspec.Meta(description="Part -> how many records, in the list's order; {}: none."),
        ] = {}
        group: Annotated[
            str | None,
            msgspec.Meta(
                description="Pattern whose first bracket is what pictures of one scene share; "
                "null: each is its own."
            ),
        ] = None
        duplicates: Annotated[
            Literal["refuse", "first", "keep"],
            msgspec.Meta(
                description="A picture listed twice: refuse the list, let the first count, or keep "
                "both (name#2)."
            ),
        ] = "refuse"

        def __post_init__(self) -> None:
            if self.group is None:
                return
            try:
                brackets = re.compile(self.group).groups
            except re.error as exc:
                raise ValueError(f"group '{self.group}' is no pattern: {exc}") from exc
            if brackets != 1:
                raise ValueError(f"group '{self.group}' has {brackets} brackets, 1 is wanted")

    options: Options

    def find_entries(self) -> Sequence[_Entry]:
        """Every record, in the list's order.

        MissingData for a list that is not there or is none; CardError with every record that
        names no picture, or one that another has named, and for records past the last part.
        """
        records, path = self._records(), self._release.root / self._list
        self._refuse_rest(len(records), str(path))
        parts = part_names(self.options.parts, len(records))
        seen: Counter[str] = Counter()
        taken = {picture_name(record.img_path) for record in records}
        entries: list[_Entry] = []
        problems: list[Problem] = []
        for number, (record, part) in enumerate(zip(records, parts, strict=True), start=1):
            name = picture_name(record.img_path)
            seen[name] += 1
            fault = self._fault(name, seen[name], taken)
            if fault is not None:
                problems.append(Problem(fault, file=str(path), path=f"record {number}"))
                continue
            if seen[name] > 1 and self.options.duplicates == "first":
                continue
            item = Item(
                id=name if seen[name] == 1 else f"{name}#{seen[name]}",
                group=self._group(name),
                tags={"part": part} if part else {},
            )
            entries.append(_Entry(item, (name,), number=number, score=record.gt_score, part=part))
        if problems:
            raise CardError(problems[:MOST_PROBLEMS])
        return entries

    def _refuse_rest(self, count: int, path: str) -> None:
        """CardError where records are of no part: they would be scored as one of their own."""
        held = sum(self.options.parts.values())
        if self.options.parts and count > held:
            told = f"its parts hold {held:,} records, and there are {count:,}"
            raise CardError([Problem(told, file=path, path=f"record {held + 1}")])

    def _fault(self, name: str, times: int, taken: Iterable[str]) -> str | None:
        if not name:
            return "names no picture: 'img_path' is wanted"
        if times > 1 and self.options.duplicates == "refuse":
            return (
                f"'{name}' stands in the list before (protocol.data.options.duplicates: first or "
                "keep takes such lists)"
            )
        if times > 1 and self.options.duplicates == "keep" and f"{name}#{times}" in taken:
            return f"'{name}#{times}' would be the name of two records"
        return None

    def _group(self, name: str) -> str:
        found = re.search(self.options.group, name) if self.options.group else None
        return name if found is None else str(found.group(1))

    def read_entry(self, entry: _Entry) -> Sample:
        """The picture and its opinion; BadSample, naming the record, for a score that is none."""
        score = read_number(entry.score)
        if score is None:
            plain = isinstance(entry.score, str | int | float | None)
            shown = repr(entry.score) if plain else type(entry.score).__name__
            raise BadSample(
                f"{self._release.root / self._list}: record {entry.number} ({entry.item.id}): "
                f"'gt_score' is no number: {shown:.40}"
            )
        picture = self._release.picture(self.files_of(entry)[0])
        return make_sample(entry.item, picture, Opinion(score, entry.part, *self._scale))

    def files_of(self, entry: _Entry) -> Sequence[str]:
        """The picture, in the first of the folders that has it."""
        names = [
            entry.files[0] if folder in ("", ".") else f"{folder}/{entry.files[0]}"
            for folder in self.options.folders
        ]
        return (self._release.first(names),)

    def fingerprint(self) -> str:
        """sha256 over the list and what is made of it."""
        digest = hashlib.sha256(msgspec.json.encode(self.options, order="deterministic"))
        digest.update(self._release.read_index(self._list, cure=WHERE, limit=LARGEST_LIST))
        return digest.hexdigest()

    @property
    def _list(self) -> str:
        return self._release.first([f"{folder}{self.options.file}" for folder in FOLDERS])

    @property
    def _scale(self) -> tuple[float, float]:
        """The least and the largest score of the list: no other scale is stated there."""
        if self._ends is None:
            scores = [read_number(entry.score) for entry in self._entries.values()]
            self._ends = scale_of([score for score in scores if score is not None])
        return self._ends

    _ends: tuple[float, float] | None = None

    def _records(self) -> list[_Record]:
        records = self._release.parse_index(
            self._list, msgspec.json.Decoder(list[_Record]).decode, limit=LARGEST_LIST
        )
        if not records:
            raise MissingData(f"{self._release.root / self._list}: an empty list", cure=WHERE)
        return records
