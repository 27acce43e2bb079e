"""What is written where: results to stdout, the rest to stderr; plain text, aligned columns."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
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
    "guard_stdout",
    "is_terminal",
    "layout",
    "note",
    "plural",
    "redraw",
    "release",
    "say",
    "say_json",
    "say_text",
    "width",
]

WIDE = 100
"""Columns from which a terminal counts as wide."""
_GAP = "   "
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
    rows: Sequence[Sequence[str]], *, right: str = "", indent: str = "", least: Sequence[int] = ()
) -> list[str]:
    """The rows as aligned lines; columns whose place in `right` holds "r" are set flush right.

    A column without any text takes no room, unless `least` gives it some: rows that come one by
    one are aligned by it.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    count = max(map(len, cells), default=0)
    widths = [
        max(
            [columns_of(row[i]) for row in cells if i < len(row)] + list(least[i : i + 1]),
            default=0,
        )
        for i in range(count)
    ]
    lines = []
    for row in cells:
        parts = []
        for i, cell in enumerate(row):
            if widths[i]:
                space = " " * (widths[i] - columns_of(cell))
                parts.append(space + cell if right[i : i + 1] == "r" else cell + space)
        lines.append((indent + _GAP.join(parts)).rstrip())
    return lines


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
    return 1 << 20
