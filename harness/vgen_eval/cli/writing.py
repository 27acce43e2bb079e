"""Writes a file that the command line names."""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ["refuse_pipe", "write_file"]

STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of stdout, whose number may lead elsewhere by now (`terminal.guard_stdout`)."""


def write_file(path: Path, data: bytes) -> None:
    """The file is there whole or not at all; one that is there already keeps its mode.

    Links are followed; pipes and terminals are written to as they are. UsageError for a folder or
    a file that may not be written, StorageError where writing fails.
    """
    from vgen_eval.store.whole import write_fault

    path = path.expanduser()
    try:
        _write(path, data)
    except OSError as exc:
        raise write_fault(path, exc) from exc
    except (RuntimeError, ValueError) as exc:  # a loop of links, no name of a file
        from vgen_eval.errors import UsageError

        raise UsageError(f"-o: {str(path)!a} names no file: {exc}", cure="-o FILE") from exc


def refuse_pipe(file: str) -> None:
    """UsageError for a pipe that bears a file's name: whoever opens it would wait for a reader."""
    from vgen_eval.errors import UsageError

    path = Path(file).expanduser()
    if file in STDOUT:
        return
    try:
        is_pipe = stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, RuntimeError, ValueError):  # told when it is written
        return
    if is_pipe:
        raise UsageError(f"-o: {path} is a pipe", cure="give another -o")


def _write(path: Path, data: bytes) -> None:
    from vgen_eval.cli import terminal
    from vgen_eval.errors import UsageError
    from vgen_eval.store.whole import refusal, sweep, whole_file

    if str(path) in STDOUT:
        terminal.say_bytes(data)
        return
    reason = refusal(path)
    if reason == "is a folder":
        cure = "-o names the file to write; --output DIR is the results folder"
        raise UsageError(f"-o: {path} {reason}", cure=cure)
    if reason is not None:
        raise UsageError(f"-o: {path} {reason}", cure="give another -o")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        with path.open("wb", buffering=0) as stream:
            view = memoryview(data)
            while view:
                view = view[stream.write(view) :]
        return
    place = path.resolve()
    with whole_file(place) as out:
        out.write(data)
    sweep(place.parent)
