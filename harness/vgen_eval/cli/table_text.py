"""A table for a terminal: split into blocks of columns where it is wider than the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
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
    rows = _rows(table)
    lines: list[str] = []
    first = max(_width(name) for name, _ in rows)
    for title, group in spelling.groups(table.cols, table.cols_by):
        grouped = title is not None
        heads = {
            at: spelling.head_lines(table.cols[at], table.cols_by, grouped=grouped) for at in group
        }
        widths = {
            at: max(map(_width, (*lines_of, *(row[at] for row in texts))))
            for at, lines_of in heads.items()
        }
        for block in _blocks(widths, columns - first):
            lines += [*([""] if lines else []), *([title] if title is not None else [])]
            lines += _block(texts, rows, [heads[at] for at in block], block)
    lines.append("")
    for text in spelling.caption(table, intervals=intervals):
        lines += _wrap(text, columns)
    for note in table.notes:
        lines += _wrap(f"{_mark(note.mark)} {note.text}" if note.mark else note.text, columns)
    return lines


def _width(text: str) -> int:
    return terminal.columns_of(text)


def _rows(table: Table) -> list[tuple[str, int | None]]:
    """What stands before each line below the heads, and the number of its row.

    None for a line without one: the words of the axis first, a task above its rows, a gap.
    """
    from vgen_eval.results.tables import spelling

    titles = {group[0]: title for title, group in spelling.groups(table.rows, table.rows_by)}
    grouped = titles.get(0) is not None
    rows: list[tuple[str, int | None]] = [(" / ".join(table.rows_by), None)]
    for number, section in enumerate(spelling.sections(table)):
        if number:
            rows.append(("", None))
        for at in section:
            title = titles.get(at)
            if title is not None:
                rows.append((title, None))
            name = ", ".join(spelling.head_lines(table.rows[at], table.rows_by, grouped=grouped))
            rows.append((f"  {name}" if grouped else name, at))
    return rows


def _blocks(widths: Mapping[int, int], room: int) -> list[list[int]]:
    """Numbers of the columns that stand side by side; at least one, however wide."""
    blocks: list[list[int]] = [[]]
    used = 0
    for at, width in widths.items():
        if blocks[-1] and used + GAP + width > room:
            blocks.append([])
            used = 0
        blocks[-1].append(at)
        used += GAP + width
    return blocks


def _block(
    texts: Sequence[Sequence[str]], rows: Sequence[tuple[str, int | None]],
    heads: Sequence[Sequence[str]], block: Sequence[int],
) -> list[str]:  # fmt: skip
    (corner, _), *below = rows
    lines = [
        [corner if line == 0 else "", *(h[line] if line < len(h) else "" for h in heads)]
        for line in range(max(map(len, heads)))
    ]
    for name, at in below:
        lines.append([name, *("" if at is None else texts[at][place] for place in block)])
    return terminal.layout(lines)


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
