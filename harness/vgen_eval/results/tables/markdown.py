"""A table as Markdown."""

from __future__ import annotations

from vgen_eval.results.markdown import plain
from vgen_eval.results.tables import spelling
from vgen_eval.results.tables.record import Cell, Head, Table

__all__ = ["render_markdown"]

_STARS = str.maketrans({"*": "\\*", "_": "\\_", "[": "\\[", "]": "\\]", "~": "\\~", "#": "\\#"})


def render_markdown(table: Table, *, intervals: bool = True) -> str:
    """The table and its notes; the best in bold, ceilings and floors in italics."""
    places = spelling.all_decimals(table)
    heads = [_head(head) for head in table.cols]
    lines = [_line([_text(" / ".join(table.rows_by)), *heads])]
    lines.append("|" + "---|" + "---:|" * len(heads))
    for at, row in enumerate(table.rows):
        cells = [
            "" if cell is None else _cell(table, row, col, cell, places[at][place], intervals)
            for place, (col, cell) in enumerate(zip(table.cols, table.cells[at], strict=True))
        ]
        name = _head(row)
        lines.append(_line([f"*{name}*" if row.role != "model" else name, *cells]))
    lines += ["", *map(_text, table.caption)]
    lines += [""] if table.notes else []
    for note in table.notes:
        lines.append(
            f"- {f'<sup>{_text(note.mark)}</sup> ' if note.mark else ''}{_text(note.text)}"
        )
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return plain(text.replace("\\", "\\\\")).translate(_STARS)


def _head(head: Head) -> str:
    return "<br>".join(map(_text, spelling.head_lines(head)))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(
    table: Table, row: Head, col: Head, cell: Cell, places: int | None, intervals: bool
) -> str:
    shown = "-" if cell.value is None else spelling.number(cell.value, places)
    text = f"**{shown}**" if cell.best else shown
    found = spelling.marks(cell)
    if found:
        text += f"<sup>{_text(','.join(found))}</sup>"
    between = spelling.interval(cell, places) if intervals else ""
    return (
        _text(spelling.own_measure(table, row, col, cell))
        + text
        + (f" {_text(between)}" if between else "")
    )
