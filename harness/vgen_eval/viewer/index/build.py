"""Brings one run's rows up to date: whole, or by the lines that were appended."""

from __future__ import annotations

import os
import re
import sqlite3
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card import SCHEMA_VERSION, ResultCard, read_card
from vgen_eval.results.reading import say_fault
from vgen_eval.store.regular import read_regular
from vgen_eval.store.run import RunStore
from vgen_eval.viewer.index.batch import Batch
from vgen_eval.viewer.index.database import writing
from vgen_eval.viewer.index.facts import row_of, row_unreadable, tell_damaged
from vgen_eval.viewer.index.finding import Found
from vgen_eval.viewer.index.known import Known
from vgen_eval.viewer.index.lines import goes_on
from vgen_eval.viewer.index.meaning import Resolver, mean_of
from vgen_eval.viewer.records import RunRow

__all__ = ["Builder", "forget"]

_SAMPLES, _RECORD = "samples.jsonl", "run.json"
_INSERT = "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class _Old(msgspec.Struct, frozen=True):
    number: int
    known: Known
    row: bytes
    version: int


class Builder:
    """Writes the rows of runs; one at a time in a transaction each."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    def update(self, db: sqlite3.Connection, found: Found, *, running: bool) -> bool:
        """Whether the rows of that run had to be changed. sqlite3.Error alone is raised."""
        old = _load(db, found.path)
        if old is not None and (old.known.stamps, old.known.fault) == (found.stamps, found.fault):
            return self._show(db, old, running)
        try:
            return self._read(db, found, old, running)
        except NotRunnable as exc:
            reason = say_fault(exc)
        except OSError as exc:
            reason = f"{exc.filename or found.folder}: cannot be read: {exc.strerror or exc}"
        # what is odd beyond what was thought of is that run's fault, not the viewer's
        except (ValueError, TypeError, OverflowError, RecursionError) as exc:
            reason = f"cannot be read: {exc}"
        known = Known(
            stamps=found.stamps,
            fault=found.fault,
            row=row_unreadable(found, _printable(reason), _salvage(found)),
        )
        with writing(db):
            if _version(db, found.path) == (old and old.version):
                number = self._store(db, old, known, running)
                db.execute("DELETE FROM samples WHERE run = ?", (number,))
        return True

    def _show(self, db: sqlite3.Connection, old: _Old, running: bool) -> bool:
        """Only whether somebody writes it may have changed."""
        row = msgspec.json.encode(_shown(old.known, running))
        if row != old.row:
            db.execute("UPDATE runs SET row = ? WHERE number = ?", (row, old.number))
        return row != old.row

    def _store(self, db: sqlite3.Connection, old: _Old | None, known: Known, running: bool) -> int:
        row = known.row
        found = db.execute(
            "INSERT INTO runs (number, key, path, task, row, known, version) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
            "task = excluded.task, row = excluded.row, known = excluded.known, "
            "version = excluded.version RETURNING number",
            (
                None if old is None else old.number,
                row.key,
                row.path,
                row.task,
                msgspec.json.encode(_shown(known, running)),
                msgspec.json.encode(known),
                int.from_bytes(os.urandom(7), "big"),
            ),
        ).fetchall()
        return int(found[0][0])

    def _read(self, db: sqlite3.Connection, found: Found, old: _Old | None, running: bool) -> bool:
        if found.fault:
            raise NotRunnable(found.fault)
        record = RunStore(found.folder).asked
        card, fault, unread = _card(found)
        scores = _scores_name(found, record, card)
        known = None if old is None else _carried(old.known, found, scores)
        batch = Batch(found, record, scores, known)
        if known is not None and old is not None:
            try:
                batch.recall(db, old.number)
            except (ValueError, struct.error) as exc:
                raise _Damaged(f"{found.path}: {exc}") from exc
        batch.apply()
        meaning = mean_of(record, card, batch.names, self.resolver)
        if known is not None and meaning.key != known.meaning.key:  # every score is another value
            return self._read(db, found, _anew(old), running)
        new = Known(
            stamps=found.stamps,
            attempts=batch.attempts,
            scores=scores,
            marks=batch.marks,
            names=batch.names,
            meaning=meaning,
            counts=batch.counts,
            seq=batch.seq,
            row=row_of(
                found,
                record,
                card,
                batch.counts,
                meaning,
                fault=_printable(fault),
                unread=_printable(unread),
                damaged=sum(mark.damaged for mark in batch.marks.values()),
            ),
        )
        with writing(db):
            if _version(db, found.path) != (old and old.version):
                return True  # another process was quicker: it is looked at again next time
            number = self._store(db, old, new, running)
            if known is None:
                db.execute("DELETE FROM samples WHERE run = ?", (number,))
            db.executemany(_INSERT, batch.rows(number, meaning.key))
        return True


def _load(db: sqlite3.Connection, path: str) -> _Old | None:
    row = db.execute(
        "SELECT number, known, row, version FROM runs WHERE path = ?", (path,)
    ).fetchone()
    if row is None:
        return None
    try:
        return _Old(row[0], msgspec.json.decode(row[1], type=Known), row[2], row[3])
    except msgspec.DecodeError as exc:
        raise _Damaged(f"{path}: {exc}") from exc


class _Damaged(sqlite3.DatabaseError):
    """A row that no builder wrote: the file is made anew."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _version(db: sqlite3.Connection, path: str) -> int | None:
    row = db.execute("SELECT version FROM runs WHERE path = ?", (path,)).fetchone()
    return None if row is None else int(row[0])


def _anew(old: _Old | None) -> _Old | None:
    """The same, as if none of its files had been read."""
    if old is None:
        return None
    return _Old(old.number, msgspec.structs.replace(old.known, stamps={}), old.row, old.version)


def _carried(known: Known, found: Found, scores: str) -> Known | None:
    """What is known, where the run's files only grew since; None where it is to be read whole."""
    for name in (_RECORD, _SAMPLES):
        if known.stamps.get(name) != found.stamps.get(name) or known.fault:
            return None
    if scores != known.scores or not known.marks:  # none: it had no lines, or was not read
        return None
    for name, mark in known.marks.items():
        if known.stamps.get(name) == found.stamps.get(name):
            continue
        if name not in found.stamps or not goes_on(found.folder / name, mark):
            return None
    return known


def _card(found: Found) -> tuple[ResultCard | None, str, str]:
    """The card, or why there is one that cannot be read, or the schema that it is of."""
    if "result_card.json" not in found.stamps:
        return None, "", ""
    try:
        return read_card(found.folder), "", ""
    except NotRunnable as exc:
        schema = _schema(found.folder / "result_card.json")
        return None, "" if schema else say_fault(exc), schema


def _schema(path: Path) -> str:
    """The version of a card that is whole and of another schema; "" of any other."""
    try:
        version = jsonio.loads(read_regular(path))["schema_version"]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    if not isinstance(version, str) or not re.fullmatch(r"\d{1,9}(\.\d{1,9}){0,3}", version):
        return ""
    is_ours = version.partition(".")[0] == SCHEMA_VERSION.partition(".")[0]
    return "" if is_ours else version


def _scores_name(found: Found, record: Mapping[str, Any], card: ResultCard | None) -> str:
    """A run that was scored again under newer components keeps its record: its card tells."""
    told = None if card is None else card.protocol_info.get("score_digest")
    for digest in (told, record.get("score_digest")):
        name = f"scores/{digest}.jsonl"
        if name in found.stamps:
            return name
    others = [name for name in found.stamps if name.startswith("scores/")]
    return max(others, key=lambda name: (found.stamps[name], name), default="")


def _salvage(found: Found) -> dict[str, Any]:
    """What a damaged record still says."""
    if found.fault:
        return {}
    try:
        record = jsonio.loads(read_regular(found.folder / _RECORD))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _shown(known: Known, running: bool) -> RunRow:
    """As lists show it now. A run whose lines are not read stays unreadable, whoever writes."""
    if running and (known.row.state != "unreadable" or known.marks):
        told = tell_damaged(sum(mark.damaged for mark in known.marks.values()))
        return msgspec.structs.replace(known.row, state="running", reason=told)
    return known.row


def forget(db: sqlite3.Connection, there: set[str]) -> None:
    """Deletes the rows of runs that are gone."""
    gone = [
        (number,)
        for number, path in db.execute("SELECT number, path FROM runs").fetchall()
        if path not in there
    ]
    if gone:
        with writing(db):
            db.executemany("DELETE FROM samples WHERE run = ?", gone)
            db.executemany("DELETE FROM runs WHERE number = ?", gone)
