"""Records of LLVisionQA's lists: a question about a picture, its options, and the right one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from vgen_eval_plugins.parsing.texts import same_text
from vgen_eval_plugins.quality.perception.targets import LETTERS, letter_options

__all__ = ["CONCERNS", "TYPES", "Record", "find_right", "read_record"]

TYPES = ("yes-or-no", "what", "how")
CONCERNS = ("distortion", "others", "in-context distortion", "in-context others")
"""What the numbers of a record stand for (arXiv 2309.14181). lmms-eval has 1 and 2 of the types the
other way round."""
FEWEST, MOST = 2, 4
"""Options of a question."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record of the list, as it is written there."""

    img_path: str
    question: str
    candidates: list[str]
    type: int | str
    concern: int | str
    correct_ans: str | None = None
    content: str | None = None
    """What the picture shows, where somebody wrote it down: not in the release."""

    @property
    def tags(self) -> dict[str, str]:
        """Kind of question and what it is about."""
        return {"type": _named(self.type, TYPES), "concern": _named(self.concern, CONCERNS)}

    def fault(self) -> str | None:
        """What is wrong with it, the right answer apart."""
        if not self.img_path.strip():
            return "names no picture (img_path)"
        if not self.question.strip():
            return "the question is empty"
        if not FEWEST <= len(self.candidates) <= MOST:
            return f"{len(self.candidates)} candidates, {FEWEST} to {MOST} were wanted"
        if not all(text.strip() for text in self.candidates):
            return "a candidate is empty"
        for at, text in enumerate(self.candidates):
            for other in self.candidates[:at]:
                if same_text(text, other):
                    return f"two candidates are the same: '{other}' and '{text}'"
        for key, value, names in (("type", self.type, TYPES), ("concern", self.concern, CONCERNS)):
            if _number(value, names) is None:
                return f"{key} is {repr(value)[:40]}, 0 to {len(names) - 1} were wanted"
        return None


def read_record(found: Any) -> tuple[Record | None, str | None]:
    """The record, None where it is none, and what is wrong with it, the right answer apart."""
    try:
        record = msgspec.convert(found, Record)
    except msgspec.ValidationError as exc:
        return None, str(exc)
    return record, record.fault()


def find_right(answer: str | None, candidates: Sequence[str]) -> str | None:
    """The letter of the right answer, which is written out, or its letter; None for neither."""
    if answer is None or not answer.strip():
        return None
    options = letter_options(candidates)
    for letter, text in options.items():
        if text.strip() == answer.strip():
            return letter
    alike = [letter for letter, text in options.items() if same_text(text, answer)]
    if len(alike) == 1:
        return alike[0]
    letter = answer.strip().strip("().").upper()
    return letter if len(letter) == 1 and letter in LETTERS and letter in options else None


def _number(value: int | str, names: Sequence[str]) -> int | None:
    """Its place among the names, which a number, its digits, or the name itself may say."""
    if isinstance(value, str):
        plain = value.strip()
        if plain in names:
            return names.index(plain)
        if plain not in map(str, range(len(names))):
            return None
        value = int(plain)
    return value if 0 <= value < len(names) else None


def _named(value: int | str, names: Sequence[str]) -> str:
    place = _number(value, names)
    return "unknown" if place is None else names[place]
