"""Cells of tables of scores and questions: numbers, words, lists of options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.numerals import read_number

from vgen_eval_plugins.manifest.tables import ID_COLUMNS, shorten

__all__ = [
    "COLUMNS",
    "Fault",
    "find_option_columns",
    "number_in",
    "read_options",
    "read_text",
    "read_texts",
]

COLUMNS: Mapping[str, tuple[str, ...]] = {
    **ID_COLUMNS,
    "score": ("score", "mos", "gt_score", "mean_opinion_score", "dmos", "rating", "quality"),
    "part": ("part",),
    "question": ("question", "query", "prompt"),
    "options": ("options", "candidates", "choices"),
    "answer": (
        "answer", "answers", "choice", "correct_ans", "correct_answer", "correct", "right", "gt",
        "truth",
    ),
}  # fmt: skip
"""Column of ours -> what it may be called, the first that is there."""

_NUMBERED = re.compile(r"(?:option|choice|candidate)[ _-]?([a-z]|\d{1,2})")


class Fault(Exception):
    """What is wrong with a row, and in which column."""

    def __init__(self, column: str, what: str) -> None:
        super().__init__(what)
        self.column = column
        self.what = what


def find_option_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that hold an option each, in their order: A, B, ...; option_1, option_2, ..."""
    plain = {column.strip().lower(): column for column in columns}
    numbered = {
        match[1]: column for name, column in plain.items() if (match := _NUMBERED.fullmatch(name))
    }
    if len(numbered) > 1:
        order = sorted(numbered, key=lambda mark: (not mark.isdigit(), len(mark), mark))
        return tuple(numbered[mark] for mark in order)
    letters = []
    for letter in "abcdefghijklmnopqrstuvwxyz":
        if letter not in plain:
            break
        letters.append(plain[letter])
    return tuple(letters) if len(letters) > 1 else ()


def number_in(column: str, value: Any) -> float:
    """A finite number, or the text of one."""
    number = read_number(value)
    if number is None:
        raise Fault(column, f"{shorten(value)} is no number")
    return number


def read_text(column: str, value: Any) -> str:
    """A text, or a number as text."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Fault(column, f"{shorten(value)} is no text")
    text = value.strip() if isinstance(value, str) else shorten(value)
    if not text:
        raise Fault(column, "it is empty")
    return text


def read_texts(column: str, value: Any) -> list[str]:
    """Several texts: a list, a list in JSON, or texts with | between them; one text is one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        # a text that begins so stays a text
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            value = msgspec.json.decode(value)
    if isinstance(value, str):
        value = value.split("|")
    if not isinstance(value, list):
        value = [value]
    if not value:
        raise Fault(column, "the list is empty")
    return [read_text(column, each) for each in value]


def read_options(values: Sequence[Any], *, names: Sequence[str]) -> list[str]:
    """Options of columns of their own; those that are empty are the last ones."""
    given = [None if isinstance(v, str) and not v.strip() else v for v in values]
    while given and given[-1] is None:
        given.pop()
    for name, value in zip(names, given, strict=False):
        if value is None:
            raise Fault(name, "this option is empty, and one behind it is not")
    return [read_text(name, value) for name, value in zip(names, given, strict=False)]
