"""A table as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval.results.markdown import plain
from vgen_eval.results.tables import spelling
from vgen_eval.results.tables.record import Cell, Head, Table

__all__ = ["escape", "render_markdown"]

_STARS = str.maketrans({"*": "\\*", "_": "\\_", "[": "\\[", "]": "\\]", "~": "\\~", "#": "\\#"})


def render_markdown(table: Table, *, intervals: bool = True) -> str:
    """The table and its notes; the best in bold, ceilings and floors in italics."""
    places = spelling.all_decimals(table)
    heads = [_head(head, table.cols_by) for head in table.cols]
    lines = [_line([escape(" / ".join(table.rows_by)), *heads])]
    lines.append("|" + "---|" + "---:|" * len(heads))
    for at, row in enumerate(table.rows):
        cells = [
            "" if cell is None else _cell(table, row, col, cell, places[at][place], intervals)
            for place, (col, cell) in enumerate(zip(table.cols, table.cells[at], strict=True))
        ]
        name = _head(row, table.rows_by)
        lines.append(_line([f"*{name}*" if row.role != "model" else name, *cells]))
    lines += ["", *map(escape, spelling.caption(table, intervals=intervals))]
    lines += [""] if table.notes else []
    for note in table.notes:
        lines.append(
            f"- {f'<sup>{escape(note.mark)}</sup> ' if note.mark else ''}{escape(note.text)}"
        )
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Any text, as Markdown sets it on one line."""
    return plain(text.replace("\\", "\\\\")).translate(_STARS)


def _head(head: Head, axis: Sequence[str]) -> str:
    return "<br>".join(map(escape, spelling.head_lines(head, axis)))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(
    table: Table, row: Head, col: Head, cell: Cell, places: int | None, intervals: bool
) -> str:
    shown = "-" if cell.value is None else spelling.number(cell.value, places)
    text = f"**{shown}**" if cell.best else shown
    found = spelling.marks(cell)
    if found:
        text += f"<sup>{escape(','.join(found))}</sup>"
    between = spelling.interval(cell, places) if intervals else ""
    return (
        escape(spelling.own_measure(table, row, col, cell))
        + text
        + (f" {escape(between)}" if between else "")
    )
