"""Log records as one line each on stderr; tracebacks go to a file that the line names."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from vgen_eval.cli import PROGRAM, terminal
from vgen_eval.secrets import redact

__all__ = ["LEVELS", "release", "setup", "write_traceback", "written"]

LEVELS = ("debug", "info", "warning", "error")
REPEATS = 5
"""Lines of one kind that reach the terminal; a thousand bad samples need not scroll by."""


class _LogFile:
    """The log of this process, made when there is something to write."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._path: Path | None = None

    @property
    def path(self) -> Path | None:
        """Where it is, once there is one."""
        return self._path

    def write(self, text: str) -> Path | None:
        """Adds to the file and says where it is; None when nowhere can be written."""
        # whoever reads it does so in a terminal
        kept = redact(text).rstrip("\n")
        lines = "".join(f"{terminal.clean(line)}\n" for line in kept.split("\n"))
        for path in self._places():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(lines)
            except OSError:
                continue  # full or read-only: the results folder often is what went wrong
            self._path = path
            return path
        return None

    def _places(self) -> Iterator[Path]:
        """Where the file is, or may be: below the results folder, or a folder of its own."""
        if self._path is not None:
            yield self._path
        name = f"{PROGRAM}-{os.getpid()}.log"
        if self.folder is not None:
            yield self.folder / "logs" / name
        with contextlib.suppress(OSError):
            yield Path(tempfile.mkdtemp(prefix=f"{PROGRAM}-")) / name

    def use(self, folder: Path | None) -> None:
        """Writes below this results folder from now on; None: into a folder of its own."""
        self.folder, self._path = folder, None


_file = _LogFile()


class _Handler(logging.Handler):
    """One line a record to stderr, as it is at that moment, from a level on; the rest to the file.

    Warnings and tracebacks are in the file whatever the terminal shows.
    """

    def __init__(self, shown: int, *, before: int) -> None:
        """`before`: the level that the root logger had."""
        super().__init__()
        self.before = before
        self._shown = shown
        self._seen: dict[tuple[str, str], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = redact(f"{record.levelname.lower()}: {record.getMessage().strip()}")
            path = None
            fault = record.exc_info[1] if record.exc_info else None
            if fault is not None:
                path = _file.write(line + "\n" + "".join(traceback.format_exception(fault)))
                if redact(" ".join(str(fault).split())) not in line:
                    line = redact(f"{line}: {type(fault).__name__}: {fault}")
            if record.levelno < self._shown:
                if path is None:
                    _file.write(line)
            else:
                self._show(record, line, path)
        except Exception:
            self.handleError(record)

    def _show(self, record: logging.LogRecord, line: str, path: Path | None) -> None:
        key = (record.name, str(record.msg))
        count = self._seen[key] = self._seen.get(key, 0) + 1
        if count <= REPEATS:
            terminal.note(line + (f" (log: {path})" if path else ""))
            return
        path = path or _file.write(line)
        if count == REPEATS + 1:
            terminal.note(f"{record.levelname.lower()}: more of these go to {path}")


def setup(level: str, results: Path | None) -> None:
    """Sends log records of this level and above to stderr, tracebacks below the results folder.

    `results` None: into a folder of their own, for verbs that have no results.
    """
    release()
    _file.use(results)
    root = logging.getLogger()
    shown = logging.getLevelNamesMapping()[level.upper()]
    root.addHandler(_Handler(shown, before=root.level))
    root.setLevel(min(shown, logging.WARNING))
    # Pillow tells of every chunk of every PNG
    logging.getLogger("PIL").setLevel(max(logging.INFO, root.level))
    logging.captureWarnings(True)


def release() -> None:
    """Undoes `setup`; for those who call `main` from their own program."""
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, _Handler)]:
        root.removeHandler(handler)
        root.setLevel(handler.before)
        logging.captureWarnings(False)
    _file.use(None)


def written() -> Path | None:
    """The log file of this process, once something is in it."""
    return _file.path


def write_traceback(exc: BaseException) -> Path | None:
    """Puts the traceback into the log file and says where that is."""
    return _file.write("".join(traceback.format_exception(exc)))
