"""LLVisionQA: questions about low-level looks with options, Q-Bench's set of perception."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.llvisionqa_hub import convert_rows
from vgen_eval_plugins.datasets.prepared_counts import write_atomic
from vgen_eval_plugins.datasets.question_records import Record, find_right, read_record
from vgen_eval_plugins.datasets.release import picture_name
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample
from vgen_eval_plugins.datasets.told_words import find_told, place_of, read_told, unique_id
from vgen_eval_plugins.quality.perception.targets import OptionTarget, letter_options

__all__ = ["LLVisionQA"]

ANSWERS = "answers.json"
CONTENT = "content.json"
IMAGES = "images"
ANSWERS_CURE = (
    "they are not published: lay a file of your own there, a list of "
    '{"img_path": ..., "correct_ans": ...} with the option in words or its letter'
)
CONTENT_CURE = 'lay a list of {"img_path": ..., "content": ...} there'


class _Entry(Entry, frozen=True, kw_only=True):
    place: str
    """File and record, for messages."""
    fault: str | None
    record: Record | None
    right: str | None
    content: str | None


class LLVisionQA(ReleaseReader[_Entry]):
    """`llvisionqa_<split>.json` with `images/`, or the Hub's `data/<split>-*.parquet`.

    The first is a list of {img_path, question, candidates, type, concern, correct_ans}; the second
    is written out once into `prepared_<split>.json`, of the same form, and `images_<split>/`. What
    lies there decides; the first goes before. Test has no public answers: a file of the user's
    brings them. Options have the letters of their order in the list. Prompts may name {question},
    {options} (a line each, `A. Yes`) and, of pictures that the user's file speaks of, {content}.
    """

    version: ClassVar[int] = 2
    title = "LLVisionQA"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which questions, and files of the user's own."""

        split: Annotated[Literal["dev", "test"], msgspec.Meta(description="Which split.")] = "dev"
        answers: Annotated[
            str,
            msgspec.Meta(
                description="Your file of right answers, for test: a path below the data set's "
                "folder, or an absolute one."
            ),
        ] = ANSWERS
        content: Annotated[
            str,
            msgspec.Meta(
                description="Your file of what pictures show, for the prompt with_content; it need "
                "not be there."
            ),
        ] = CONTENT

    options: Options

    def find_entries(self) -> Iterator[_Entry]:
        """Every question, in the list's order; MissingData where no answers are known."""
        name = self._list_name()
        records: list[Any] = self._release.parse_index(name, _decode_list)
        answers = self._read_answers(name, records)
        contents = self._read_contents()
        place = IMAGES if name == self._official else self._written
        folder = f"{place}/" if self._release.has(place) else ""
        seen: dict[str, int] = {}
        ids: set[str] = set()
        for number, found in enumerate(records, 1):
            record, fault = read_record(found)
            path = _path_of(found)
            if fault is None and path in seen:
                fault = f"the picture '{path}' is that of record {seen[path]} too"
            right = None
            if record is not None and fault is None:
                right, fault = _right_of(record, answers)
            item = Item(
                id=unique_id(path or f"record-{number}", ids),
                group=path or f"record-{number}",
                tags=record.tags if record is not None else {},
            )
            if path:
                seen.setdefault(path, number)
            told = None if record is None else contents.get(path) or record.content
            yield _Entry(
                item,
                (f"{folder}{path}",) if path else (),
                place=f"{self._release.root / name}: record {number} ({path or 'no name'})",
                fault=fault,
                record=record,
                right=right,
                content=told,
            )

    def read_entry(self, entry: _Entry) -> Sample:
        """Picture, question and options; BadSample, naming file and record, for a faulty one."""
        record = entry.record
        if entry.fault is not None or record is None or entry.right is None:
            raise BadSample(f"{entry.place}: {entry.fault}")
        candidates = tuple(text.strip() for text in record.candidates)
        options = letter_options(candidates)
        fields = {
            "question": record.question.strip(),
            "options": "\n".join(f"{letter}. {text}" for letter, text in options.items()),
        }
        if entry.content is not None:
            fields["content"] = entry.content
        sample = make_sample(
            entry.item,
            self._release.picture(entry.files[0]),
            OptionTarget(options, entry.right),
            fields=fields,
        )
        return msgspec.structs.replace(sample, choices=candidates)

    def mark_truth(self) -> str:
        """A digest over questions, options, right answers and what was told of the pictures."""
        digest = hashlib.sha256()
        for entry in self._entries.values():
            told = (entry.fault, entry.record, entry.right, entry.content)
            digest.update(msgspec.json.encode(told) + b"\n")
        return digest.hexdigest()

    def prepare(self, say: Callable[[str], None]) -> None:
        """Writes out the Hub's Parquet files; says so where there is nothing to write out."""
        if self._release.has(self._official):
            say(f"{self.title}: {self._official} is read as it is")
            return
        records, told = convert_rows(self._release, self.options.split, images=self._written)
        data = msgspec.json.format(msgspec.json.encode(records), indent=1)
        write_atomic(self._release.root / self._prepared, data + b"\n")
        self.__dict__.pop("_entries", None)
        say(told)

    @property
    def _official(self) -> str:
        return f"llvisionqa_{self.options.split}.json"

    @property
    def _prepared(self) -> str:
        return f"prepared_{self.options.split}.json"

    @property
    def _written(self) -> str:
        return f"images_{self.options.split}"

    def _list_name(self) -> str:
        name = self._release.first((self._official, self._prepared))
        shards = (self._release.root / "data").glob(f"{self.options.split}-*.parquet")
        if not self._release.has(name) and any(shards):
            raise MissingData(
                f"{self.title}: the Parquet files in {self._release.root / 'data'} were not "
                "written out yet",
                cure="vgen-eval data prepare TASK does it",
            )
        return name

    def _read_answers(self, name: str, records: Sequence[Any]) -> Mapping[str, str]:
        """The user's answers by picture; MissingData where they are needed and not there."""
        path = find_told(self._release, self.options.answers)
        if path is not None:
            told = read_told(self._release, path, ("correct_ans", "answer"), cure=ANSWERS_CURE)
            return _by_name(self.title, path, told, cure=ANSWERS_CURE)
        known = any(isinstance(found, dict) and found.get("correct_ans") for found in records)
        if records and not known:
            raise MissingData(
                f"{self.title}: {self._release.root / name} holds no right answers, and there is "
                f"no {place_of(self._release, self.options.answers)}",
                cure=ANSWERS_CURE,
            )
        if self.options.answers != ANSWERS:
            raise MissingData(
                f"{self.title}: no file {place_of(self._release, self.options.answers)}",
                cure=ANSWERS_CURE,
            )
        return {}

    def _read_contents(self) -> Mapping[str, str]:
        path = find_told(self._release, self.options.content)
        if path is not None:
            told = read_told(self._release, path, ("content",), cure=CONTENT_CURE)
            return _by_name(self.title, path, told, cure=CONTENT_CURE)
        if self.options.content != CONTENT:
            raise MissingData(
                f"{self.title}: no file {place_of(self._release, self.options.content)}",
                cure=CONTENT_CURE,
            )
        return {}


def _decode_list(data: bytes) -> list[Any]:
    found = msgspec.json.decode(data)
    if not isinstance(found, list):
        raise ValueError(f"a list of questions was wanted, {type(found).__name__} found")
    return found


def _by_name(title: str, path: Path, told: Sequence[Any], *, cure: str) -> dict[str, str]:
    """Picture -> words; MissingData for the first record that is at fault: none may go unseen."""
    for line in told:
        if line.fault is not None:
            raise MissingData(f"{title}: {path}: record {line.number}: {line.fault}", cure=cure)
    return {line.name: line.words for line in told}


def _right_of(record: Record, answers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The right letter, or why there is none. What the release says goes before the user's file."""
    answer = record.correct_ans or answers.get(picture_name(record.img_path))
    if not answer:
        return None, "no right answer is known of it"
    right = find_right(answer, record.candidates)
    if right is None:
        listed = ", ".join(f"'{text}'" for text in record.candidates)
        return None, f"the right answer '{answer[:80]}' is none of the candidates: {listed}"
    return right, None


def _path_of(found: Any) -> str:
    path = found.get("img_path") if isinstance(found, dict) else None
    return picture_name(path) if isinstance(path, str) else ""
