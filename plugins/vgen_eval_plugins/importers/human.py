"""People's answers: id, answer and seconds, and nothing that says who they are."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from vgen_eval.errors import UsageError
from vgen_eval.importing import Answer, Imported, Scope
from vgen_eval.numerals import read_number
from vgen_eval.types import AnswerForm, NoOptions

from vgen_eval_plugins.manifest.lines import keys_twice
from vgen_eval_plugins.quality.assessment.words import words_read

__all__ = ["Human"]

FORMS: tuple[AnswerForm, ...] = ("text", "choice")
"""What people can write, best first."""
NOT_CHOSEN = -900.0
"""The log-probability of a word that was not taken: as low as one may be, and listed all the same,
so that a softmax at a temperature of 100 sees 9."""
AS_CHOSEN = (
    f"the word that was taken stands at the log-probability 0, the others at {NOT_CHOSEN:g}: they "
    "were not taken, and how far they are from it is ours"
)
COLUMNS = ("id", "answer", "seconds")
NEEDED = ("id", "answer")
WANTED = "columns are id, answer and seconds (may be left out); nothing else is taken"
LARGEST = 1 << 28
LONGEST_S = 1e7
MOST_LINES = 5
"""Named of one id."""


class Human:
    """CSV with a header line, or JSON lines, of id, answer and seconds.

    Any other column is refused by its name: what tells who answered does not belong into a run.
    Several answers to one id are its attempts, in their order; all ids that were answered have the
    same number, since an attempt that nobody made would count as one that failed.

    Where a protocol takes text, an answer is its text: a number as well. Where it takes one of its
    words, the word that was taken stands at the log-probability 0 and the others at -900, which
    says of them what people said. Of a protocol that takes both, answers that are all words are a
    choice.
    """

    version: ClassVar[int] = 3
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def read(self, path: Path, scope: Scope) -> Imported:
        """All answers, as text where the protocol takes text; UsageError naming the line."""
        rows = [
            (f"{path}:{number}", number, _text(row["id"], f"{path}:{number}: 'id'"), row)
            for number, row in _rows(path)
        ]
        said = {where: _said(row["answer"], where) for where, _, _, row in rows}
        form = _form(scope, said)
        lines: dict[str, list[int]] = {}
        answers = []
        for where, number, sample, row in rows:
            attempt = len(lines.setdefault(sample, []))
            lines[sample].append(number)
            value = _answer(said[where], form, scope, where)
            seconds = _seconds(row.get("seconds"), where)
            answers.append(Answer(sample=sample, value=value, attempt=attempt, seconds=seconds))
        if not answers:
            raise UsageError(f"{path}: no answer in it", cure=WANTED)
        known = None if scope.known is None else set(scope.known)
        _refuse_ragged(path, {k: v for k, v in lines.items() if known is None or k in known})
        remarks = (f"{path}: {AS_CHOSEN}",) if form == "choice" else ()
        return Imported(form=form, answers=answers, role="human", remarks=remarks)


def _refuse_ragged(path: Path, lines: Mapping[str, Sequence[int]]) -> None:
    """UsageError, naming lines, unless all these ids have the same number of answers."""
    most = max(lines, key=lambda sample: len(lines[sample]), default=None)
    least = min(lines, key=lambda sample: len(lines[sample]), default=None)
    if most is None or least is None or len(lines[most]) == len(lines[least]):
        return
    told = ", ".join(map(str, lines[most][:MOST_LINES])) + ", ..." * (len(lines[most]) > MOST_LINES)
    raise UsageError(
        f"{path}: '{most}' has {len(lines[most])} answers (lines {told}), '{least}' has "
        f"{len(lines[least])} (line {lines[least][0]})",
        cure="the same number of answers to every id, or a file each, scored under names of their "
        "own: an attempt that nobody made would count as one that failed",
    )


def _said(value: Any, where: str) -> str:
    """What was answered; "" for nothing."""
    return "" if value is None else _text(value, f"{where}: 'answer'", empty=True)


def _form(scope: Scope, said: Mapping[str, str]) -> AnswerForm:
    """What people write: text, or one of the words; UsageError where a protocol takes neither.

    `said`: place -> answer, which decide where a protocol takes both.
    """
    taken = [form for form in FORMS if form in scope.forms]
    if not taken:
        raise UsageError(
            f"{scope.task} takes no words (only {', '.join(scope.forms)})",
            cure="people's answers are text, or one of the words of a choice",
        )
    if len(taken) < len(FORMS) or not scope.choices:
        return taken[0]
    are_words = {
        bool(_find(answer, scope.choices)): where for where, answer in said.items() if answer
    }
    if len(are_words) > 1:
        raise UsageError(
            f"{are_words[False]}: 'answer' is '{said[are_words[False]][:40]}', and at "
            f"{are_words[True]} it is the word '{said[are_words[True]]}'",
            cure=f"all of {', '.join(scope.choices)}, or none of them: {scope.task} takes words or "
            "text",
        )
    return "choice" if True in are_words else "text"


def _find(said: str, choices: Sequence[str]) -> str | None:
    """The word that was meant, in whatever case it is written."""
    if said in choices:
        return said
    return next((word for word in choices if word.casefold() == said.casefold()), None)


def _answer(said: str, form: AnswerForm, scope: Scope, where: str) -> Any:
    """None for an empty answer; of a choice the word that was taken far before the others.

    A word that the protocol's decoder does not read says nothing of those that it reads: these
    are not listed then.
    """
    if not said:
        return None
    if form == "text":
        return said
    word = _find(said, scope.choices) if scope.choices else said
    if word is None:
        raise UsageError(
            f"{where}: 'answer' is '{said[:40]}'", cure=f"one of {', '.join(scope.choices)}"
        )
    read = words_read(scope.decoders.get("choice"))
    other = NOT_CHOSEN if not read or word in read else None
    return {each: 0.0 if each == word else other for each in (scope.choices or (word,))}


def _seconds(value: Any, where: str) -> float | None:
    if value is None or value == "":
        return None
    seconds = read_number(value)
    if seconds is None or not 0 <= seconds <= LONGEST_S:
        raise UsageError(f"{where}: 'seconds' is no length of time: {value!r:.40}", cure=WANTED)
    return seconds


def _text(value: Any, what: str, *, empty: bool = False) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError(f"{what} is {type(value).__name__}, no text", cure=WANTED)
    text = str(value).strip()
    if text.encode("utf-8", "replace").decode() != text:  # half a character, as JSON may spell it
        raise UsageError(f"{what} is no text: {text!a:.40}", cure=WANTED)
    if not text and not empty:
        raise UsageError(f"{what} is empty", cure=WANTED)
    return text


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The line that each row stands in, and the row."""
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: larger than {LARGEST:,} bytes", cure=WANTED)
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise UsageError(f"{path}: cannot be read: {reason}", cure=WANTED) from exc
    first = text.lstrip()[:1]
    if first == "[":
        raise UsageError(
            f"{path}: a JSON array",
            cure='JSON lines are wanted, {"id": ..., "answer": ...} in each',
        )
    for number, row in _json_rows(path, text) if first == "{" else _csv_rows(path, text):
        where = f"{path}:{number}"
        other = [key for key in row if key not in COLUMNS]
        if other:
            raise UsageError(
                f"{where}: column '{other[0]:.40}' is not taken: who answered stays out of a run",
                cure=f"leave it out; {WANTED}",
            )
        missing = [key for key in NEEDED if key not in row]
        if missing:
            raise UsageError(f"{where}: no '{missing[0]}'", cure=WANTED)
        yield number, row


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # splitlines would part an answer that holds U+2028 or U+0085
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            twice = keys_twice(line)
        except (ValueError, RecursionError) as exc:
            raise UsageError(f"{path}:{number}: no JSON: {exc}", cure=WANTED) from exc
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: no object", cure=WANTED)
        if twice:
            raise UsageError(f"{path}:{number}: '{twice[0]:.40}' stands in it twice", cure=WANTED)
        yield number, row


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Columns at the end that have no name and nothing in them are passed over: Excel's."""
    _refuse_separator(path, text.partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = [name.strip() for name in next(reader, [])]
        cells_wanted = len(head)
        while head and not head[-1]:
            head.pop()
        twice = [name for name in head if head.count(name) > 1]
        if twice:
            raise UsageError(f"{path}:1: column '{twice[0]:.40}' stands twice", cure=WANTED)
        # before any row: a column that is not taken is refused, be it empty or not
        yield from ((1, dict.fromkeys(head)) for _ in (0,) if set(head) - set(COLUMNS))
        for cells in reader:
            if not cells:
                continue
            if len(cells) != cells_wanted:
                raise UsageError(
                    f"{path}:{reader.line_num}: {len(cells)} cells for {cells_wanted} columns",
                    cure=WANTED,
                )
            named = dict(zip(head, cells, strict=False))
            unnamed = "".join(cells[len(head) :]).strip()
            yield reader.line_num, named | {"": unnamed} if unnamed else named
    except csv.Error as exc:
        raise UsageError(f"{path}:{reader.line_num}: no CSV: {exc}", cure=WANTED) from exc


def _refuse_separator(path: Path, head: str) -> None:
    """UsageError where the columns are parted by something else than commas."""
    for sign, name in ((";", "semicolons"), ("\t", "tabs")):
        if set(NEEDED) <= {part.strip().strip('"') for part in head.split(sign)}:
            raise UsageError(
                f"{path}:1: the columns are parted by {name}", cure=f"part them by commas; {WANTED}"
            )
