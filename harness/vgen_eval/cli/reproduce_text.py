"""A reproduced table for a terminal: as wide as that is, long texts wrapped."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from vgen_eval.cli import terminal
from vgen_eval.results.reproducing.sheet import (
    Listing,
    Sheet,
    blank_repeats,
    render_latex,
    render_markdown,
)

__all__ = ["FORMATS", "emit", "form_of", "sheet_lines", "wrap"]

FORMATS = ("terminal", "markdown", "latex", "csv")
SUFFIXES = {".md": "markdown", ".tex": "latex", ".csv": "csv", ".txt": "terminal"}
GAP = 3
MOST_COLUMNS = 100
"""Of texts in sentences, where there is no edge."""
ROOM = 24
"""Columns that the last one has at least, if it needs them."""


def form_of(form: str | None, file: str | None) -> str:
    """The format that was asked for, or that of the file's suffix."""
    return form or SUFFIXES.get(Path(file or "").suffix.lower(), "terminal")


def emit(
    sheet: Sheet, csv: str, *, form: str, file: str | None, to_stdout: bool = True,
    lines: Callable[[int], list[str]] | None = None,
) -> None:  # fmt: skip
    """Writes the sheet to the file, or to stdout if it may; `csv`: its numbers in full.

    `lines`: gives it for a terminal of so many columns, where that is not `sheet_lines`.
    """
    if file is None and not to_stdout:
        return
    if form == "terminal":
        columns = terminal.width() if file is None else 1 << 20
        found = sheet_lines(sheet, columns) if lines is None else lines(columns)
        text = "\n".join(found) + "\n"
    else:
        text = {"markdown": render_markdown, "latex": render_latex}.get(form, lambda _: csv)(sheet)
    if file is None:
        terminal.say_text(text)
        return
    from vgen_eval.cli.writing import write_file

    write_file(Path(file), text.encode())
    terminal.note(f"written to {file}")


def sheet_lines(sheet: Sheet, columns: int) -> list[str]:
    """The lines, no wider than `columns` where anything can be done about it.

    What repeats is left out where a row fits into a line; else it stands above the rows it is of.
    """
    lines = wrap(f"{sheet.name}   {sheet.title}", columns, "")
    if sheet.rows:
        wide, narrow = sheet.groups, sheet.groups + 1
        forms = ((0, False), (wide, False), (narrow, False), (wide, True), (narrow, True))
        tried = (_rows(sheet, columns, above, below=below) for above, below in forms)
        lines += next(filter(None, tried))
    for note in sheet.notes:
        lines += wrap(note, columns)
    for listing in sheet.listings:
        lines += _listing(listing, columns)
    for remark in sheet.remarks:
        lines += wrap(remark, columns)
    return lines


def wrap(text: str, columns: int, indent: str = "  ") -> list[str]:
    """The text in lines, all but the first set in further."""
    return textwrap.wrap(
        terminal.clean(text), max(20, min(columns, MOST_COLUMNS)), initial_indent=indent,
        subsequent_indent=indent + "    ", break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip


def _rows(sheet: Sheet, columns: int, above: int, *, below: bool) -> list[str] | None:
    """The rows, their first `above` columns as lines of their own; None where they do not fit.

    `below`: the last column's texts stand below the rows. Where nothing fits, the last that can be
    done is done anyway.
    """
    shown = [list(row[above:]) for row in sheet.rows] if above else blank_repeats(sheet)
    rows = [list(sheet.head[above:]), *shown]
    for at in range(len(rows[0])):
        if not any(row[at] for row in rows[1:]):
            rows[0][at] = ""
    indent = "    " if above else "  "
    widths = [max(terminal.columns_of(terminal.clean(row[at])) for row in rows)
              for at in range(len(rows[0]))]  # fmt: skip
    lead = len(indent) + sum(width + GAP for width in widths[:-1] if width)
    room = columns - lead
    if below and room + GAP < 0 and above == sheet.groups:
        return None
    if below:
        lasts = [row.pop() for row in rows]
    elif room < min(widths[-1], max(ROOM, _longest_word(rows))):
        return None
    else:
        lasts = ["" for _ in rows]
    wrapped: list[list[str]] = []
    starts = []
    for row in rows:
        starts.append(len(wrapped))
        if below:
            wrapped.append(row)
            continue
        parts = textwrap.wrap(terminal.clean(row[-1]), room, break_on_hyphens=False)
        wrapped.append([*row[:-1], *parts[:1]])
        wrapped += [[*[""] * (len(row) - 1), part] for part in parts[1:]]
    lines = terminal.layout(wrapped, right=sheet.right[above:], indent=indent)
    return _with_heads(sheet, lines, starts, lasts, above=above, columns=columns)


def _longest_word(rows: Sequence[Sequence[str]]) -> int:
    return max(terminal.columns_of(word) for row in rows for word in (*row[-1].split(), ""))


def _with_heads(
    sheet: Sheet, lines: Sequence[str], starts: Sequence[int], lasts: Sequence[str], *, above: int,
    columns: int,
) -> list[str]:  # fmt: skip
    """The lines of rows, what is common to some above them, what is too long below them."""
    found = wrap(", ".join(sheet.head[:above]), columns) if above else []
    found += lines[: starts[1]]
    found += wrap(lasts[0], columns, " " * 8) if lasts[0] else []
    ends = [*starts[2:], len(lines)]
    before: tuple[str, ...] = ()
    for row, start, end, last in zip(sheet.rows, starts[1:], ends, lasts[1:], strict=True):
        if above and row[:above] != before:
            found += wrap(", ".join(row[:above]), columns)
        before = row[:above]
        found += lines[start:end]
        found += wrap(last, columns, " " * 8) if last else []
    return found


def _listing(listing: Listing, columns: int) -> list[str]:
    lines = terminal.layout(listing.facts, indent="    ")
    if any(terminal.columns_of(line) > columns for line in lines):
        lines = [line for fact in listing.facts for line in wrap(", ".join(fact), columns, "    ")]
    return [*wrap(listing.head, columns), *lines]
