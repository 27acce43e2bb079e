"""`result_card.md` as a terminal shows it: aligned tables, wrapped lines, no marks of Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import groupby

from vgen_eval.cli import terminal

__all__ = ["card_lines"]

_CELL = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"-|[+-]?[\d.,]+(e[+-]?\d+)?( \S+)?")
_RULE = re.compile(r"[|\s:-]+")


def card_lines(text: str) -> Iterator[str]:
    """The lines of a card that `results.markdown` wrote."""
    for is_table, lines in groupby(text.splitlines(), lambda line: line.startswith("|")):
        if is_table:
            yield from _table([line for line in lines if not _RULE.fullmatch(line)])
        else:
            for line in lines:
                yield from _line(line)


def _plain(text: str) -> str:
    """The text as it was before it was made harmless for Markdown."""
    text = text.replace("**", "").replace("`", "").replace("\\|", "|")
    return text.replace("&lt;", "<").replace("&amp;", "&").strip()


def _table(lines: list[str]) -> list[str]:
    rows = [[_plain(cell) for cell in _CELL.split(line.strip())[1:-1]] for line in lines]
    count = max(map(len, rows))
    right = "".join(
        "r" if all(_NUMBER.fullmatch(row[at]) for row in rows[1:] if row[at:]) else "l"
        for at in range(count)
    )
    return terminal.fitted(rows, right=right, indent="  ")


def _line(line: str) -> Iterator[str]:
    quoted = line.startswith("> ")
    text = _plain(line.lstrip("#").removeprefix("> "))
    if not text:
        yield ""
        return
    margin, hanging = ("  ", "  ") if quoted else ("", "    ")
    yield from textwrap.wrap(
        terminal.clean(text),
        terminal.width(),
        initial_indent=margin,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
