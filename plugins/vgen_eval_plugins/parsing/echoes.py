"""What an answer repeats of its prompt: the question, the call for an answer, the options."""

from __future__ import annotations

import re

import msgspec

from vgen_eval_plugins.parsing.naming import Names
from vgen_eval_plugins.parsing.texts import same_text

__all__ = ["RepeatedList", "drop_prompt", "repeated_list"]

_CALL = re.compile(
    r"^(?:please )?(?:answer|respond|reply|choose|select|pick)\b[^.:\n]{0,60}"
    r"\b[A-Z]\)?(?:, ?| or | and |, or |/)\(?[A-Z]\b[^.:\n]{0,40}:\s?(?=\S)",
    re.IGNORECASE,
)
_ASKED = re.compile(r"^Q\s?[:.)]\s?[^\n?]{0,400}\?\s{1,2}A\s?[:.)]\s?(?=\S)")
_LETTERED = re.compile(r"(?<!\w)[A-Z][.):]")
_EXTRA = frozenset("ABCDEFGH")
"""Letters that a list may have beyond those offered; an I that opens a line is a word."""


class RepeatedList(msgspec.Struct, frozen=True):
    """Options written out under one another, which is no answer."""

    letters: tuple[str, ...]
    """Those listed; one that was not offered begins with "?"."""
    after: str
    """The text that follows."""


def drop_prompt(text: str, names: Names) -> str:
    """The text without a question that opens it ("Q: Sharp? A: ...") or a call for an answer."""
    called = _CALL.match(text)
    if called is not None:
        return text[called.end() :]
    asked = _ASKED.match(text)
    if asked is None or not names.letter("Q").startswith("?"):
        return text
    rest = text[asked.end() :]
    return text if _LETTERED.search(rest) else rest


def repeated_list(text: str, names: Names) -> RepeatedList | None:
    """The options that follow one another line by line, one that was not offered among them.

    At least two lines, each of another letter, with that option's own text or, where no such
    option was offered, with any; the last such list counts.
    """
    listed: RepeatedList | None = None
    run: list[str] = []
    at = 0
    for line in text.split("\n"):
        at += len(line) + 1
        letter = _listed_letter(line, names)
        if letter is None or letter in run:
            run = run if not line.strip() else []
        if letter is not None:
            run = [*run, letter]
            if len(run) > 1 and not all(each.startswith("?") for each in run):
                listed = RepeatedList(tuple(run), text[at:])
    return listed


def _listed_letter(line: str, names: Names) -> str | None:
    opening = names.opening.match(line)
    if opening is None:
        return None
    letter = names.letter(opening["key"])
    if letter.startswith("?"):
        return letter if opening["key"] in _EXTRA else None
    return letter if same_text(opening["rest"], names.text_of(letter)) else None
