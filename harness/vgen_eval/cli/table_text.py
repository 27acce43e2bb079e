"""A table for a terminal: split into blocks of columns where it is wider than the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vgen_eval.cli import terminal

if TYPE_CHECKING:
    from vgen_eval.results.tables.record import Table

__all__ = ["table_lines"]

GAP = 3
MOST_COLUMNS = 100
"""Of captions and notes, where there is no edge."""


def table_lines(table: Table, *, intervals: bool = True, columns: int) -> list[str]:
    """The lines; `columns`: what fits side by side. The best has a star."""
    from vgen_eval.results.tables import spelling

    texts = _texts(table, intervals=intervals)
    names = [", ".join(spelling.head_lines(head)) for head in table.rows]
    corner = " / ".join(table.rows_by)
    lines: list[str] = []
    first = max(map(_width, (*names, corner)))
    widths = [
        max(map(_width, (*spelling.head_lines(head), *(row[at] for row in texts))))
        for at, head in enumerate(table.cols)
    ]
    for block in _blocks(widths, columns - first):
        lines += [*([""] if lines else []), *_block(table, texts, names, corner, block)]
    lines.append("")
    for text in table.caption:
        lines += _wrap(text, columns)
    for note in table.notes:
        lines += _wrap(f"{_mark(note.mark)} {note.text}" if note.mark else note.text, columns)
    return lines


def _width(text: str) -> int:
    return terminal.columns_of(text)


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Numbers of the columns that stand side by side; at least one, however wide."""
    blocks: list[list[int]] = [[]]
    used = 0
    for at, width in enumerate(widths):
        if blocks[-1] and used + GAP + width > room:
            blocks.append([])
            used = 0
        blocks[-1].append(at)
        used += GAP + width
    return blocks


def _block(
    table: Table, texts: Sequence[Sequence[str]], names: Sequence[str], corner: str,
    block: Sequence[int],
) -> list[str]:  # fmt: skip
    from vgen_eval.results.tables import spelling

    heads = [spelling.head_lines(table.cols[at]) for at in block]
    rows = [
        [corner if line == 0 else "", *(h[line] if line < len(h) else "" for h in heads)]
        for line in range(max(map(len, heads)))
    ]
    breaks = []
    for section in spelling.sections(table):
        breaks.append(len(rows))
        rows += [[names[at], *(texts[at][place] for place in block)] for at in section]
    lines = terminal.layout(rows)
    for at in reversed(breaks[1:]):
        lines.insert(at, "")
    return lines


def _texts(table: Table, *, intervals: bool) -> list[list[str]]:
    """Numbers aligned by column: value, star and marks, interval."""
    from vgen_eval.results.tables import spelling

    places = spelling.all_decimals(table)
    parts = [
        [
            ("", "", "")
            if cell is None
            else (
                spelling.own_measure(table, row, col, cell)
                + ("-" if cell.value is None else spelling.number(cell.value, places[r][c])),
                ("*" if cell.best else "") + "".join(map(_mark, spelling.marks(cell))),
                spelling.interval(cell, places[r][c]) if intervals else "",
            )
            for c, (col, cell) in enumerate(zip(table.cols, table.cells[r], strict=True))
        ]
        for r, row in enumerate(table.rows)
    ]
    for at in range(len(table.cols)):
        value, mark = (max(_width(row[at][i]) for row in parts) for i in (0, 1))
        for row in parts:
            number, star, between = row[at]
            text = " " * (value - _width(number)) + number + star
            text += " " * (mark - _width(star)) + (f" {between}" if between else "")
            row[at] = (text.rstrip() if number else "", "", "")
    return [[text for text, _, _ in row] for row in parts]


def _mark(mark: str) -> str:
    """A letter within brackets: beside a dash or a number it would be read as part of it."""
    return f"({mark})" if mark.isascii() and mark else mark


def _wrap(text: str, columns: int) -> list[str]:
    return textwrap.wrap(
        terminal.clean(text), min(columns, MOST_COLUMNS), subsequent_indent="    ",
        break_on_hyphens=False,
    )  # fmt: skip
