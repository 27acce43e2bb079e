"""An append-only JSONL file: a line is whole or not there, and survives a kill."""

from __future__ import annotations

import errno
import io
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from vgen_eval import jsonio
from vgen_eval.errors import NotRunnable, StorageError
from vgen_eval.store.regular import open_regular

__all__ = ["Journal", "read_lines", "storage_error"]

log = logging.getLogger(__name__)

GROUP = 32
"""Lines after which the file is synced; a power cut loses at most these."""
INTERVAL_S = 2.0
"""Seconds after which it is synced all the same, when a line comes."""


def storage_error(path: Path, exc: OSError) -> StorageError:
    """What a failed write becomes: cause, place and cure."""
    cures = {
        errno.ENOSPC: "make room and run the same command again: it goes on",
        errno.EDQUOT: "make room and run the same command again: it goes on",
        errno.EACCES: "mend its permissions, or give another --output",
        errno.EISDIR: "a folder stands in its place: move that away",
        errno.EROFS: "give another --output",
    }
    cure = cures.get(exc.errno or 0, "give another --output")
    return StorageError(f"cannot write {path}: {exc.strerror or exc}", cure=cure)


class Journal:
    """Writes whole lines, synced in groups. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Opens the file for appending; a torn last line, left by a power cut, is cut off."""
        self.path = path
        self._lock = threading.Lock()
        self._pending = 0
        self._synced_at = time.monotonic()
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._end = _whole_length(self._fd)
            os.ftruncate(self._fd, self._end)
        except OSError as exc:
            raise storage_error(path, exc) from exc

    def append(self, record: dict[str, Any]) -> int:
        """Writes one line and returns its offset; StorageError leaves the file as it was."""
        line = jsonio.dumps(record) + b"\n"
        with self._lock:
            offset = self._end
            try:
                self._write(line, offset)
                self._end = offset + len(line)
                self._pending += 1
                if self._pending >= GROUP or time.monotonic() - self._synced_at > INTERVAL_S:
                    self._sync()
            except OSError as exc:
                raise storage_error(self.path, exc) from exc
        return offset

    def _write(self, line: bytes, offset: int) -> None:
        view = memoryview(line)
        done = 0
        try:
            while done < len(line):
                done += os.pwrite(self._fd, view[done:], offset + done)
        except OSError:
            if done:
                os.ftruncate(self._fd, offset)
            raise

    def _sync(self) -> None:
        os.fsync(self._fd)
        self._pending = 0
        self._synced_at = time.monotonic()

    def close(self) -> None:
        """Syncs and closes."""
        with self._lock:
            if self._fd < 0:
                return
            try:
                if self._pending:
                    self._sync()
            except OSError as exc:
                raise storage_error(self.path, exc) from exc
            finally:
                os.close(self._fd)
                self._fd = -1


def _open(path: Path) -> BinaryIO:
    """The file to read, empty where there is none; NotRunnable when it cannot be read."""
    try:
        return open_regular(path)
    except FileNotFoundError:
        return io.BytesIO()
    except OSError as exc:
        cure = "move the folder away" if path.is_dir() else "mend its permissions"
        raise NotRunnable(f"{path}: cannot be read: {exc.strerror or exc}", cure=cure) from exc


def _whole_length(fd: int) -> int:
    """Bytes up to and including the last newline."""
    end = os.fstat(fd).st_size
    while end > 0:
        start = max(0, end - 65536)
        at = os.pread(fd, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


_KINDS: Mapping[str, type] = {"answer": dict, "volatile": dict, "values": dict, "flags": list}
"""Fields of lines that are read without another look."""


def _is_sound(record: Mapping[str, Any]) -> bool:
    if not all(isinstance(record[key], kind) for key, kind in _KINDS.items() if key in record):
        return False
    return "answer" not in record or isinstance(record["answer"].get("file", ""), str)


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Offset and record of each whole line; a torn last line is passed over.

    A damaged line in the middle is passed over with a warning: what it held counts as missing.
    """
    offset = 0
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n"):
                try:
                    record = jsonio.loads(line)
                except ValueError:
                    record = None
                if isinstance(record, dict) and _is_sound(record):
                    yield offset, record
                else:
                    log.warning("%s:%d: damaged line, taken as missing", path, number)
            offset += len(line)
