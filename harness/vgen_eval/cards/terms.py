"""Licences, sources and citations that say nothing yet: placeholders left to be filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from vgen_eval.cards.load import ParsedCard, salvage_card
from vgen_eval.cards.records import ModelCard, TaskCard
from vgen_eval.cards.yaml_nodes import read_text
from vgen_eval.errors import CardError, Problem

__all__ = ["is_placeholder", "unfilled_terms"]

_WORDS = re.compile(
    r"(todo|tbd|tba|tbc|fixme|xxx+|placeholder|change ?me"
    r"|to be (added|announced|confirmed|decided|defined|determined|done|filled in))",
    re.IGNORECASE,
)
_STARTS = re.compile(r"(TODO|TBD|FIXME|XXX)\b|(todo|tbd|fixme)\s*:")
"""A sentence that begins so is a note to oneself; Todo is a name too, and may be cited."""
_FILL_IN = re.compile(r"(unknown\W+)?(please )?fill (me |this |it )?in(\W.*)?", re.IGNORECASE)
_BLANK = re.compile(r"<[A-Za-z][A-Za-z _-]*>")
_UNKNOWN = re.compile(r"(unknown|not known)", re.IGNORECASE)


def is_placeholder(text: str, *, unknown: bool) -> bool:
    """Does the text only keep the place of one that is to come? `none` says something.

    unknown: is the bare word "unknown" such a placeholder too?
    """
    bare = text.strip(" \t\r\n.,:;!?-_*()[]{}\"'\u2026")
    if not bare:
        return bool(text.strip())  # dots, dashes; an empty text is a fault of its own
    return bool(
        _WORDS.fullmatch(bare)
        or _STARTS.match(bare)
        or _FILL_IN.fullmatch(bare)
        or _BLANK.fullmatch(bare)
        or (unknown and _UNKNOWN.fullmatch(bare))
    )


def unfilled_terms(card: Path | ParsedCard, *, file: str = "") -> list[Problem]:
    """The placeholders among the terms of a card, each with its line; [] for an unreadable card.

    A data set must state licence, source and citation. The licence of a model may be unknown:
    many weights come without one, and saying so is the truth.
    """
    if isinstance(card, Path):
        file = str(card)
        try:
            parsed, _ = salvage_card(read_text(card), file=file)
        except CardError:
            return []
        if parsed is None:
            return []
        card = parsed
    return [
        Problem(f"{text!r:.80} is a placeholder", file=file, line=card.line_of(path), path=path)
        for path, text, unknown in _terms(card)
        if is_placeholder(text, unknown=unknown)
    ]


def _terms(card: ParsedCard) -> Iterator[tuple[str, str, bool]]:
    """Path, text, and whether it must be known."""
    record = card.record
    if isinstance(record, TaskCard):
        data = record.dataset
        yield "dataset.licence", data.licence, True
        yield "dataset.source", data.source, True
        yield "dataset.citation", data.citation, True
    elif isinstance(record, ModelCard):
        yield "licence", record.licence, False
        if record.source is not None:
            yield "source", record.source, False
