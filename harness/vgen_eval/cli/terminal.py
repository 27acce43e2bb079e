"""What is written where: results to stdout, the rest to stderr; plain text, aligned columns."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

from vgen_eval.errors import StorageError
from vgen_eval.secrets import redact
from vgen_eval.wording import plural

__all__ = [
    "OutputClosed",
    "clean",
    "clip",
    "columns_of",
    "fitted",
    "guard_stdout",
    "is_terminal",
    "layout",
    "note",
    "plural",
    "redraw",
    "release",
    "say",
    "say_bytes",
    "say_json",
    "say_text",
    "width",
]

WIDE = 100
"""Columns from which a terminal counts as wide."""
NO_EDGE = 1 << 20
LEAST_TEXT = 24
"""Columns at least that a text of several lines is set in."""
_GAP = "   "
_MARGIN = "    "
"""Before columns that did not fit on the line above."""
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # part of how some scripts and emoji are written
_state: dict[str, Any] = {"stream": None, "python": None, "fd": None}


class OutputClosed(Exception):
    """Whoever read stdout has gone away."""


# --- text


def clean(text: object) -> str:
    """The text on one line, without control characters and marks that turn the direction."""
    line = str(text)
    if line.isascii() and line.isprintable():
        return line
    spaced = "".join(" " if char in "\t\n\r\v\f\x85\u2028\u2029" else char for char in line)
    return "".join(
        char for char in spaced if char in _JOINERS or unicodedata.category(char) not in _HIDDEN
    )


def clip(text: str, columns: int) -> str:
    """The text, cut with "..." to what fits."""
    used, keep = 0, 0
    for at, char in enumerate(text):
        used += columns_of(char)
        if used > columns:
            return text[:keep] + "..."
        if used <= columns - 3:
            keep = at + 1
    return text


def columns_of(text: str) -> int:
    """Columns that the text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def layout(
    rows: Sequence[Sequence[str]], *, right: str = "", indent: str = "",
    least: Sequence[int] = (), columns: int = NO_EDGE,
) -> list[str]:  # fmt: skip
    """The rows as aligned lines; columns whose place in `right` holds "r" are set flush right.

    A column without any text takes no room, unless `least` gives it some: rows that come one by
    one are aligned by it. What is wider than `columns` is folded: a last column of text goes on
    below itself, else the last columns stand on a line of their own below the row.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    count = max(map(len, cells), default=0)
    cells = [[*row, *[""] * (count - len(row))] for row in cells]
    widths = [
        max([columns_of(row[i]) for row in cells] + list(least[i : i + 1]), default=0)
        for i in range(count)
    ]
    used = [i for i in range(count) if widths[i]]
    room = columns - len(indent)
    blocks = _fold(cells, widths, used, right, room)
    lines: list[str] = []
    for row in cells:
        for at, block in enumerate(blocks):
            more = _MARGIN if at else ""
            left = room - len(more)
            lines += [indent + more + line for line in _align(row, widths, block, right, left)]
    return [line.rstrip() for line in lines]


def fitted(rows: Sequence[Sequence[str]], *, right: str = "", indent: str = "") -> list[str]:
    """The rows as `layout` sets them, folded to the terminal; a file has no edge."""
    return layout(rows, right=right, indent=indent, columns=width())


def _fold(
    cells: Sequence[Sequence[str]], widths: Sequence[int], used: Sequence[int], right: str,
    room: int,
) -> list[list[int]]:  # fmt: skip
    """The columns that stand on one line, and those on the next ones."""
    groups: list[list[int]] = []
    for at in used:
        if groups and not cells[0][at]:  # a value stays with the name whose heading is that of both
            groups[-1].append(at)
        else:
            groups.append([at])
    blocks: list[list[int]] = [[]]
    taken = 0
    for group in groups:
        wide = sum(widths[at] for at in group) + len(_GAP) * (len(group) - 1)
        is_text = group == used[-1:] and right[group[0] : group[0] + 1] != "r"
        if blocks[-1] and taken + (min(wide, LEAST_TEXT) if is_text else wide) > room:
            blocks.append([])
            taken = len(_MARGIN)
        blocks[-1] += group
        taken += wide + len(_GAP)
    return blocks


def _align(
    row: Sequence[str], widths: Sequence[int], block: Sequence[int], right: str, room: int
) -> list[str]:
    """One row's cells of a block, the last of them on as many lines as its text takes."""
    line = ""
    for at in block[:-1]:
        space = " " * (widths[at] - columns_of(row[at]))
        line += (space + row[at] if right[at : at + 1] == "r" else row[at] + space) + _GAP
    if not block:
        return [line]
    last = block[-1]
    if right[last : last + 1] == "r":
        return [line + " " * (widths[last] - columns_of(row[last])) + row[last]]
    left = room - len(line)
    if columns_of(row[last]) <= left or left < LEAST_TEXT:
        return [line + row[last]]
    first, *more = textwrap.wrap(row[last], left, break_long_words=False, break_on_hyphens=False)
    return [line + first, *(" " * columns_of(line) + part for part in more)]


# --- stdout and stderr


def say(*lines: str) -> None:
    """Writes lines to stdout."""
    stream: TextIO | None = _state["stream"] or sys.stdout
    if stream is None:  # started with stdout closed
        return
    try:
        for line in lines:
            stream.write(line + "\n")
        stream.flush()
    except OSError as exc:
        if exc.errno in (errno.EPIPE, errno.ESHUTDOWN):
            raise OutputClosed from exc
        raise StorageError(f"cannot write to stdout: {exc.strerror or exc}") from exc


def say_bytes(data: bytes) -> None:
    """Writes bytes to stdout: a file for which stdout is named."""
    stream: TextIO | None = _state["stream"] or sys.stdout
    if stream is None:
        return
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except OSError as exc:
        if exc.errno in (errno.EPIPE, errno.ESHUTDOWN):
            raise OutputClosed from exc
        raise StorageError(f"cannot write to stdout: {exc.strerror or exc}") from exc


def say_text(text: str) -> None:
    """Writes a text of several lines to stdout, each of them cleaned."""
    say(*(clean(line) for line in text.splitlines()))


def say_json(value: Any) -> None:
    """Writes one JSON document to stdout."""
    from vgen_eval import jsonio

    say(_escape_hidden(jsonio.pretty(value).rstrip("\n")))


def _escape_hidden(document: str) -> str:
    """The JSON document with every character that a terminal may obey as its escape.

    JSON itself escapes those below U+0020; the others can stand within strings alone.
    """
    if document.isascii():
        return document.replace("\x7f", "\\u007f")
    return "".join(
        f"\\u{ord(char):04x}"
        if ord(char) < 0x10000 and char != "\n" and unicodedata.category(char) in _HIDDEN
        else char
        for char in document
    )


def note(*lines: str) -> None:
    """Writes lines to stderr, without keys."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        for line in lines:
            sys.stderr.write(clean(redact(line)) + "\n")
        sys.stderr.flush()


def redraw(text: str) -> None:
    """Puts the text in the place of the line that stderr's terminal shows; "" takes it away."""
    if is_terminal(sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # progress is worth no fault
            sys.stderr.write(f"\r\x1b[K{clip(clean(redact(text)), WIDE - 20)}")
            sys.stderr.flush()


def guard_stdout() -> None:
    """From here on only `say` reaches stdout; what anything else prints there goes to stderr.

    File descriptor 1 itself is turned, so that libraries in C and child processes are covered.
    """
    if _state["stream"] is not None or sys.stdout is None:
        return
    stream = sys.stdout
    stream.flush()
    try:
        saved = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        saved = None
    if saved is not None and _fileno(stream) == 1:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        out: Any = open(  # noqa: SIM115
            saved, "w", encoding=encoding, errors="backslashreplace", closefd=False
        )
    else:
        out = stream
    _state.update(stream=out, python=stream, fd=saved)
    sys.stdout = sys.stderr


def release() -> None:
    """Undoes `guard_stdout`; for those who call `main` from their own program."""
    if _state["stream"] is None:
        return
    _flush_c()
    with contextlib.suppress(OSError):
        _state["stream"].flush()
    if _state["fd"] is not None:
        os.dup2(_state["fd"], 1)
        os.close(_state["fd"])
    sys.stdout = _state["python"]
    _state.update(stream=None, python=None, fd=None)


def _flush_c() -> None:
    """C keeps what it prints in a buffer of its own, which would come out on the wrong side."""
    with contextlib.suppress(Exception):
        import ctypes

        ctypes.CDLL(None).fflush(None)


def drop_stdout() -> None:
    """Sends what is buffered for a closed stdout nowhere: Python flushes once more at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        stream = _state["stream"] or sys.stdout
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _fileno(stream: Any) -> int | None:
    try:
        return int(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return None


def is_terminal(stream: Any = None) -> bool:
    """Whether a person watches it (stdout when none is given) and lines can be redrawn."""
    stream = stream or _state["stream"] or sys.stdout
    try:
        return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"
    except (ValueError, AttributeError):
        return False


def width() -> int:
    """Columns to fill: the terminal's, or $COLUMNS; a file has no edge."""
    if is_terminal() or os.environ.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size().columns
    return NO_EDGE
