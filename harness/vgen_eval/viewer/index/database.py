"""The SQLite file: connections a thread, one builder at a time, made anew where it is damaged."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import shutil
import sqlite3
import stat
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from vgen_eval.viewer.index.files import Refused, check_file, is_locked_by_builder
from vgen_eval.viewer.index.places import candidates, is_writable
from vgen_eval.viewer.index.schema import CREATE, LAYOUT, OURS

__all__ = ["FAULTS", "Database"]

log = logging.getLogger(__name__)

Found = TypeVar("Found")

WAIT_S = 30.0
"""For another process that builds."""
PATIENCE_S = 2.0
"""For a process that holds the file and builds nothing."""
AGAIN_S = 30.0
"""After so long a place that was left is tried again."""
FAULTS = (
    sqlite3.DatabaseError, msgspec.DecodeError, json.JSONDecodeError, struct.error,
    UnicodeDecodeError,
)  # fmt: skip
"""What a file raises that others wrote to: SQLite's errors, and rows that no builder wrote."""
_NAME = "index.sqlite"
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_MOVED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_NO_ROOM = (*_MOVED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
_LOW_BYTE = 0xFF


class Database:
    """`do(work)` runs `work(connection)`; after a fault of the file once more, with another file.

    The file lies in `place`, or else in the first of `candidates(results)` that can be written to.
    A damaged one is made anew where it is. Where that does not help, or the file may not be touched
    (another program's, locked, behind a link), the next one lies in a temporary folder that goes
    with this object, and the last one in memory: `trouble` then says what is wrong.
    """

    def __init__(self, results: Path, place: Path | None) -> None:
        places = [place] if place is not None else list(candidates(results))
        self._temporary: Path | None = None
        self._let_go: weakref.finalize[..., Database] | None = None
        self._memory: sqlite3.Connection | None = None
        self._asking = threading.RLock()
        self._mending = threading.Lock()
        self._local = threading.local()
        self.generation = 0
        """Rises with each file that takes the place of another."""
        self._left_at = 0.0
        self.trouble = ""
        """Why the file is not where it belongs, with the cure; "": it is."""
        self.home = next(filter(_is_usable, places), None)
        self.folder = self.home or self._make_temporary()
        if self.home is None:
            log.warning("%s cannot be written to: the index is kept until this ends", places[0])

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / _NAME

    def do(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """What `work` gives; it may be called again, so it begins from nothing.

        One of `FAULTS` where even a file in memory does not help.
        """
        end = time.monotonic() + WAIT_S
        for attempt in range(4):
            generation = self.generation
            while True:
                try:
                    return self._run(work)
                except FAULTS as exc:
                    if not _is_curable(exc):
                        raise
                    if self._is_busy_building(exc) and time.monotonic() < end:
                        continue
                    fault = exc
                    break
            self._mend(fault, generation, in_place=not attempt)
        return self._run(work)

    def _run(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        if self._memory is None:
            return work(self._connection())
        with self._asking:  # one connection for all threads
            return work(self._memory)

    def _is_busy_building(self, exc: Exception) -> bool:
        """Is the file locked by somebody who builds, so that it is worth waiting?"""
        if _code(exc) not in _LOCKED or getattr(self._local, "builds", False):
            return False
        return is_locked_by_builder(self.folder)

    def _connection(self) -> sqlite3.Connection:
        """This thread's, to the file that is there now."""
        known = getattr(self._local, "db", None)
        with contextlib.suppress(OSError):
            seen = self.path.lstat()
            is_same = getattr(self._local, "file", None) == (seen.st_dev, seen.st_ino, self.path)
            if known is not None and is_same and not self.folder.is_symlink():
                return known  # type: ignore[no-any-return]  # threading.local
        if known is not None:  # the file was deleted or made anew
            known.close()
            self._local.db = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            check_file(self.path)
            db = self._open(self.path)
            seen = self.path.lstat()
        except Refused as exc:
            raise _Unusable(f"{exc}") from exc
        except OSError as exc:
            raise _Unusable(f"{exc.filename or self.folder}: {exc.strerror or exc}") from exc
        self._local.db, self._local.file = db, (seen.st_dev, seen.st_ino, self.path)
        self._local.closes = _Closing(db)
        return db

    def _open(self, place: Path | str, patience_s: float | None = None) -> sqlite3.Connection:
        """A rollback journal and no WAL, which does not work on a network file system."""
        wait_s = PATIENCE_S if patience_s is None else patience_s
        # closed by whatever thread collects what another one left
        db = sqlite3.connect(place, timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA synchronous=OFF")  # it can be made again
            # each thread has one, and the system keeps the file's pages for all of them
            db.execute("PRAGMA cache_size=-2048")
            if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,):
                with writing(db):
                    if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,):
                        _lay_out(db)
        except BaseException:
            db.close()
            raise
        return db

    def _mend(self, exc: Exception, generation: int, *, in_place: bool) -> None:
        """Another file, unless another thread saw to that: here, or where nothing is in the way."""
        with self._mending:
            if self.generation != generation:
                return
            self._drop()
            self.generation += 1
            code = _code(exc)
            if in_place and code in _MOVED and not isinstance(exc, _Unusable):
                return  # deleted under a connection, perhaps: opened again
            is_damaged = not isinstance(exc, _Unusable) and code not in (*_LOCKED, *_NO_ROOM)
            if is_damaged and self._memory is None and in_place:
                log.warning("%s is damaged (%s): made again from the runs", self.path, exc)
                try:
                    _put_away(self.path)
                except OSError as fault:
                    exc = fault
                else:
                    return
            self._leave(exc)

    def _leave(self, exc: Exception) -> None:
        """Goes on in a temporary folder; where it is in one already, in memory."""
        is_first = self._temporary is None
        self._left_at = time.monotonic()
        if not self.trouble:
            self.trouble = f"the index could not be written: {self._tell(exc)}"
            log.warning("%s; it is kept until this ends", self.trouble)
        if is_first:
            with contextlib.suppress(OSError):
                self.folder = self._make_temporary()
                return
        self._memory = self._open(":memory:")

    def _tell(self, exc: Exception) -> str:
        code = _code(exc)
        if code in _LOCKED:
            return f"{self.path} is locked by another process; end that, or delete the file"
        if code == sqlite3.SQLITE_FULL:
            return f"{self.path}: no room is left on the disk; make some"
        if isinstance(exc, _Unusable):
            return str(exc)
        return f"{self.path}: {exc}"

    def come_back(self) -> None:
        """Once in a while: back to the place that was left, where it can be used again."""
        if not self.trouble or self.home is None or time.monotonic() - self._left_at < AGAIN_S:
            return
        self._left_at = time.monotonic()
        place = self.home / _NAME
        try:
            if not is_writable(self.home):
                return
            check_file(place)
            db = self._open(place, patience_s=0.1)
            try:
                with writing(db):
                    pass
            finally:
                db.close()
        except (Refused, OSError, sqlite3.Error):
            return
        with self._mending:
            self.generation += 1
            self.folder, self._memory, self.trouble = self.home, None, ""

    def _make_temporary(self) -> Path:
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="vgen-eval-view-"))
            self._let_go = weakref.finalize(self, shutil.rmtree, self._temporary, True)
        return self._temporary

    def _drop(self) -> None:
        known = getattr(self._local, "db", None)
        self._local.db = None
        if known is not None:
            known.close()

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """One builder at a time, of all processes; after `WAIT_S` it goes on all the same.

        Two of them would give the same rows, and take twice as long.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            if self.folder.is_symlink():
                raise OSError
            fd = os.open(self.folder / "index.lock", flags, 0o644)
        except OSError:
            yield
            return
        try:
            end = time.monotonic() + WAIT_S
            while time.monotonic() < end:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(0.02)
                except OSError:  # a file system without locks
                    break
                else:
                    self._local.builds = True
                    break
            yield
        finally:
            self._local.builds = False
            os.close(fd)

    def close(self) -> None:
        """Closes this thread's connection and deletes a temporary folder."""
        self._drop()
        if self._memory is not None:
            self._memory.close()
        if self._let_go is not None:
            self._let_go()


class _Closing:
    """Closes a connection when its thread ends: what a cycle holds would stay until it is found."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __del__(self) -> None:
        self._db.close()


def _is_usable(folder: Path) -> bool:
    """Can the file lie there? A link or another program's file in the way is told of."""
    try:
        check_file(folder / _NAME)
    except Refused as exc:
        log.warning("%s", exc)
        return False
    except OSError:
        pass
    return is_writable(folder)


class _Unusable(sqlite3.OperationalError):
    """The place or the file is not to be used; the message says why, with the cure."""

    sqlite_errorcode = sqlite3.SQLITE_CANTOPEN


def _code(exc: Exception) -> int:
    return getattr(exc, "sqlite_errorcode", 0) & _LOW_BYTE


def _is_curable(exc: Exception) -> bool:
    """Is the file at fault, or the place where it lies? A question is not."""
    if not isinstance(exc, sqlite3.DatabaseError):
        return True
    is_altered = str(exc).startswith(("no such table", "no such col"))
    return is_altered or _code(exc) in (*_DAMAGED, *_NO_ROOM, *_LOCKED)


def _put_away(place: Path) -> None:
    """Deletes the file; what is no file goes aside. The journal first: else a new file gets it."""
    for suffix in ("-journal", "-wal", "-shm", ""):
        path = place.with_name(_NAME + suffix)
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(mode):
            path.rename(path.with_name(f"{path.name}.{time.time_ns()}"))
        else:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(db: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _lay_out(db: sqlite3.Connection) -> None:
    old = "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('runs', 'samples')"
    for (name,) in db.execute(old).fetchall():
        db.execute(f"DROP TABLE {name}")
    for statement in CREATE:
        db.execute(statement)
    db.execute(f"PRAGMA application_id={OURS}")
    db.execute(f"PRAGMA user_version={LAYOUT}")
