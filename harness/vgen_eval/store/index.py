"""The response index: request digest -> where its answer lies, over all runs of a results folder.

An index and never the truth: a hit is checked against the run it points to, a missing or damaged
index is made again from the runs, and deleting it loses nothing.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from vgen_eval import jsonio
from vgen_eval.errors import NotRunnable
from vgen_eval.store.journal import read_lines
from vgen_eval.store.run import RunStore, find_runs

__all__ = ["ResponseIndex"]

log = logging.getLogger(__name__)

GROUP = 256
"""Answers after which the index is written; a kill leaves at most these unknown to other runs."""
INTERVAL_S = 1.0
"""Seconds after which it is written all the same, when an answer comes."""
WAIT_S = 30.0
"""Seconds to wait for another process that writes the index, or makes it of many runs."""
LAYOUT = 1
"""Of the table, kept as SQLite's user_version; a file of another layout is made again."""
Row = tuple[str, str, int, str]


class ResponseIndex:
    """Looks answers up by request digest. Faults of the index are logged and never end a run."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.path = results / "responses.sqlite"
        self._lock = threading.Lock()
        self._pending: deque[Row] = deque()
        self._flushed_at = time.monotonic()
        self._db = self._open()

    def _open(self) -> sqlite3.Connection | None:
        try:
            self.results.mkdir(parents=True, exist_ok=True)
            try:
                return self._connect()
            except sqlite3.OperationalError:  # locked, full, read-only: nothing is wrong with it
                raise
            except sqlite3.DatabaseError as exc:
                log.warning("%s is damaged (%s): made again from the runs", self.path, exc)
                self.path.unlink()
                return self._connect()
        except (sqlite3.Error, OSError) as exc:
            log.warning("no response index: %s", exc)
            return None

    def _connect(self) -> sqlite3.Connection:
        """The index, whole: made from the runs by whoever comes first, in one transaction.

        A rollback journal and no WAL: a switch to WAL does not wait for another process that
        opens the same new file, and WAL does not work on a network file system.
        """
        db = sqlite3.connect(self.path, timeout=WAIT_S, check_same_thread=False)
        try:
            db.execute("PRAGMA synchronous=OFF")  # it can be made again
            if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,):
                with db:
                    db.execute("BEGIN IMMEDIATE")
                    if db.execute("PRAGMA user_version").fetchone() != (LAYOUT,):
                        db.execute("DROP TABLE IF EXISTS responses")
                        db.execute(_TABLE)
                        db.executemany(_INSERT, self._rows_of_runs())
                        db.execute(f"PRAGMA user_version={LAYOUT}")
            db.execute("SELECT request FROM responses LIMIT 1").fetchall()
        except BaseException:
            db.close()
            raise
        return db

    def _rows_of_runs(self) -> Iterable[Row]:
        for path in find_runs(self.results):
            run = self.name_of(path)
            try:
                for offset, line in read_lines(path / "predictions.jsonl"):
                    if line.get("status") == "ok" and line.get("request"):
                        yield line["request"], run, offset, line["answer"]["sha256"]
            except NotRunnable as exc:
                log.warning("its answers are not used again: %s", exc)

    def name_of(self, run: Path) -> str:
        """How the index names a run directory: its path below the results folder."""
        return str(run.relative_to(self.results))

    def add(self, request: str, *, run: str, line: int, sha256: str) -> None:
        """Notes a successful answer of the run of that name; found from the next flush on."""
        self._pending.append((request, run, line, sha256))
        if len(self._pending) >= GROUP or time.monotonic() - self._flushed_at > INTERVAL_S:
            self.flush()

    def flush(self) -> None:
        """Writes what is pending."""
        with self._lock:
            rows = [self._pending.popleft() for _ in range(len(self._pending))]
            self._flushed_at = time.monotonic()
            if self._db is None or not rows:
                return
            try:
                with self._db:
                    self._db.executemany(_INSERT, rows)
            except sqlite3.Error as exc:
                log.warning("response index not updated: %s", exc)

    def find(self, request: str) -> tuple[RunStore, Mapping[str, Any]] | None:
        """The run and the line that answered this very request; None when there is none.

        The line is read back and must hold the request and an answer that is still kept.
        """
        with self._lock:
            if self._db is None:
                return None
            try:
                row = self._db.execute(
                    "SELECT run, line, sha256 FROM responses WHERE request = ?", (request,)
                ).fetchone()
            except sqlite3.Error as exc:
                log.warning("response index not read: %s", exc)
                return None
        if row is None:
            return None
        run, offset, sha256 = row
        store = RunStore(self.results / run)
        try:
            with store.predictions_path.open("rb") as file:
                file.seek(offset)
                line = jsonio.loads(file.readline())
            holds = (
                line["request"] == request
                and line["status"] == "ok"
                and line["answer"]["sha256"] == sha256
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (store, line) if holds and store.intact(line["answer"]) else None

    def close(self) -> None:
        """Writes what is pending."""
        self.flush()
        with self._lock:
            if self._db is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._db.close()
                self._db = None


_TABLE = (
    "CREATE TABLE responses "
    "(request TEXT PRIMARY KEY, run TEXT, line INTEGER, sha256 TEXT) WITHOUT ROWID"
)
_INSERT = "INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?)"
