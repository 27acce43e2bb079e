"""Q-Bench's published raw outputs: logits of words and the opinion score, one record a picture."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.errors import UsageError
from vgen_eval.importing import Answer, Imported, Scope
from vgen_eval.numerals import read_number
from vgen_eval.types import Sample

from vgen_eval_plugins.datasets.release import picture_name
from vgen_eval_plugins.quality.assessment.words import words_read
from vgen_eval_plugins.quality.parts import part_names
from vgen_eval_plugins.quality.targets import Opinion, scale_of

__all__ = ["QBenchRaw", "read_records"]

LOGIT = "logit_"
BETWEEN = " \t\r\n,"
"""What stands between records: nothing at all in most files, commas in an array."""
SHOWN = 40
LARGEST = 1 << 28


class QBenchRaw:
    """Files of Q-Bench A3's outputs: JSON objects one after the other, or a proper array.

    A record is {img_path, gt_score, logit_good, logit_poor, ...}. The opinions are those of the
    file, which some data sets publish rounded, so that the data set itself is not needed.
    """

    version: ClassVar[int] = 2

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """What becomes of a picture that stands there twice."""

        duplicates: Annotated[
            Literal["keep", "drop"],
            msgspec.Meta(
                description="keep: each counts, as in the published figures (name#2); drop: the "
                "first counts."
            ),
        ] = "keep"

    def __init__(self, options: Options) -> None:
        self.options = options

    def read(self, path: Path, scope: Scope) -> Imported:
        """All records, in their order.

        UsageError naming the place of what is none, and of a record without a word that the
        protocol reads.
        """
        records = list(read_records(path))
        if not records:
            raise UsageError(f"{path}: no record in it", cure=_WANTED)
        wanted = words_read(scope.decoders.get("choice"))
        for record in records:
            _check_words(record, wanted, scope.task)
        named, dropped = self._name(records)
        parts: Mapping[str, int] = scope.data.get("parts") or {}
        remarks = [] if not dropped else [f"{path}: {dropped} repeated records are left out"]
        if parts and len(named) > sum(parts.values()):
            past = len(named) - sum(parts.values())
            named = named[: sum(parts.values())]
            remarks.append(f"{path}: {past} past the last part are left out, as in Q-Bench's code")
        of_part = part_names(parts, len(named))
        scale = scale_of([record.score for _, _, record in named])
        samples, answers = [], []
        for (name, group, record), part in zip(named, of_part, strict=True):
            target = Opinion(record.score, part, *scale)
            tags = {"part": part} if part else {}
            samples.append(Sample(id=name, group=group, images=(), target=target, tags=tags))
            answers.append(Answer(sample=name, value=record.logits))
        return Imported(
            form="choice", answers=answers, samples=tuple(samples), remarks=tuple(remarks)
        )

    def _name(self, records: Sequence[_Record]) -> tuple[list[tuple[str, str, _Record]], int]:
        """Each record with an id of its own and its picture, and how many were dropped."""
        seen: Counter[str] = Counter()
        named = []
        taken = {record.picture for record in records}
        for record in records:
            seen[record.picture] += 1
            number = seen[record.picture]
            if number > 1 and self.options.duplicates == "drop":
                continue
            name = record.picture if number == 1 else f"{record.picture}#{number}"
            if number > 1 and name in taken:
                raise UsageError(f"{record.where}: '{name}' is the name of another record")
            named.append((name, record.picture, record))
        return named, len(records) - len(named)


_WANTED = 'records are {"img_path": ..., "gt_score": ..., "logit_good": ..., "logit_poor": ...}'


def _check_words(record: _Record, wanted: Sequence[str], task: str) -> None:
    """UsageError where a record says nothing of a word that is read."""
    lacking = [f"'{LOGIT}{word}'" for word in wanted if word not in record.logits]
    if lacking:
        held = ", ".join(f"{LOGIT}{word}" for word in record.logits)
        words = ", ".join(f"{LOGIT}{word}" for word in wanted)
        raise UsageError(
            f"{record.where}: no {' and no '.join(lacking)} in it (it has {held:.200})",
            cure=f"{task} reads {words}: each record needs them",
        )


class _Record(msgspec.Struct, frozen=True):
    """One picture's."""

    where: str
    picture: str
    score: float
    logits: dict[str, float]


def read_records(path: Path) -> Iterator[_Record]:
    """The records of a file; UsageError naming line and column of what is none.

    An array has its end: what was cut off between two records would look whole without.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: larger than {LARGEST:,} bytes", cure=_WANTED)
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise UsageError(f"{path}: cannot be read: {reason}", cure=_WANTED) from exc
    decoder = json.JSONDecoder(object_pairs_hook=_refuse_twins)
    at, number, end = 0, 0, len(text)
    line, line_at = 1, 0
    is_open = False
    while True:
        while at < end and (text[at] in BETWEEN or text[at] == "[]"[is_open]):
            is_open ^= text[at] in "[]"
            at += 1
        line += text.count("\n", line_at, at)
        line_at = at
        where = f"{path}:{line}:{at - text.rfind(chr(10), 0, at)}"
        if at == end and is_open:
            raise UsageError(
                f"{where}: the array does not end: {number:,} records, and no ']'",
                cure="the file is cut off: fetch it again",
            )
        if at == end:
            return
        number += 1
        where = f"{where}: record {number}"
        try:
            record, at = decoder.raw_decode(text, at)
        except _Twins as exc:
            raise UsageError(f"{where}: '{exc}' stands in it twice", cure=_WANTED) from exc
        except (ValueError, RecursionError) as exc:
            shown = text[at : at + SHOWN].splitlines()[0]
            raise UsageError(
                f"{where}: no whole record begins here: '{shown}'",
                cure=f"the file may be cut off; {_WANTED}",
            ) from exc
        yield _take(record, where, number)


class _Twins(Exception):
    """A key that one object has twice."""


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twin, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise _Twins(f"{twin:.{SHOWN}}")
    return found


def _take(record: Any, where: str, number: int) -> _Record:
    if not isinstance(record, dict) or not isinstance(record.get("img_path"), str):
        raise UsageError(f"{where}: no 'img_path' in it", cure=_WANTED)
    picture = picture_name(record["img_path"])
    if not picture:
        raise UsageError(f"{where}: 'img_path' is empty", cure=_WANTED)
    for told in (picture, *record):
        if told.encode("utf-8", "replace").decode() != told:  # half a character, as JSON spells it
            raise UsageError(f"{where}: {told!a:.{SHOWN}} is no text", cure=_WANTED)
    where = f"{where} ({picture})"
    for key, value in record.items():
        if isinstance(value, float) and not math.isfinite(value) and _is_read(key):
            sign = "NaN" if math.isnan(value) else "infinity"
            raise UsageError(f"{where}: {sign} in {key} of record {number}", cure=_WANTED)
    words = {
        key.removeprefix(LOGIT): _number(value, f"{where}: '{key}'")
        for key, value in record.items()
        if key.startswith(LOGIT)
    }
    if not words:
        raise UsageError(f"{where}: no '{LOGIT}...' in it", cure=_WANTED)
    score = _number(record.get("gt_score"), f"{where}: 'gt_score'")
    return _Record(where, picture, score, words)


def _is_read(key: str) -> bool:
    return key == "gt_score" or key.startswith(LOGIT)


def _number(value: Any, what: str) -> float:
    number = read_number(value)
    if number is None:
        shown = repr(value) if isinstance(value, str | float | None) else type(value).__name__
        raise UsageError(f"{what} is no number: {shown:.{SHOWN}}", cure=_WANTED)
    return number
