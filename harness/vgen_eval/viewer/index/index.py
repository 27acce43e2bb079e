"""The index that the viewer's pages read: runs, samples, pairs; kept in step with the folders."""

from __future__ import annotations

import functools
import logging
import sqlite3
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card import ResultCard, read_card
from vgen_eval.store.locking import locked_files
from vgen_eval.store.regular import read_regular
from vgen_eval.viewer.index.build import Builder, forget
from vgen_eval.viewer.index.database import FAULTS, Database
from vgen_eval.viewer.index.facets import count_facets
from vgen_eval.viewer.index.finding import find_runs, is_written
from vgen_eval.viewer.index.known import Known
from vgen_eval.viewer.index.lines import LineAt
from vgen_eval.viewer.index.meaning import Resolver
from vgen_eval.viewer.index.naming import ValueNames, names_of
from vgen_eval.viewer.index.pairs import Both, Common, pair_page, read_common, select_pairs
from vgen_eval.viewer.index.querying import (
    COLUMNS,
    Seen,
    count_samples,
    fetch,
    order,
    places_of_lines,
    row_reader,
)
from vgen_eval.viewer.index.selecting import Asked, Chosen, filters_of, name_others, select
from vgen_eval.viewer.labels import name_runs
from vgen_eval.viewer.records import (
    KEY_LENGTH,
    PAGE_SIZE,
    Facets,
    Pairing,
    Query,
    RunRow,
    SampleRow,
    Walk,
    key_of,
)
from vgen_eval.viewer.remembered import Remembered
from vgen_eval.viewer.rules import Rule, parse

__all__ = ["Index"]

log = logging.getLogger(__name__)

_CHUNK = 1000
MOST_CARDS = 512
"""Of a table of all runs each is asked for."""

Got = TypeVar("Got")
Which = RunRow | str
"""A run: its row, its key or its slug."""


class Index:
    """Runs and samples below a results folder. Thread-safe; see `schema` for what is kept.

    A run that the folder does not have any more has no samples, no card and no facets: nothing is
    raised. UsageError alone is, for a sort or a quadrant that there is not.
    """

    def __init__(self, results: Path, *, place: Path | None = None) -> None:
        """`place`: the folder of the index; None: `.view` in the results, or a cache folder."""
        self.results = results.expanduser().resolve()
        self._db = Database(self.results, place)
        self._builder = Builder(Resolver())
        self._refreshing = threading.Lock()
        self._refreshed_at: float | None = None
        self._token = 0
        self._orders: Remembered[array[int]] = Remembered(24)
        self._facets: Remembered[Facets] = Remembered(64)
        self._commons: Remembered[Common] = Remembered(3)
        self._selected: Remembered[Chosen] = Remembered(24)
        self._chosen: Remembered[tuple[list[Both], dict[str, int]]] = Remembered(4)
        self._cards: Remembered[ResultCard | None] = Remembered(MOST_CARDS)
        self._records: Remembered[Mapping[str, Any] | None] = Remembered(4)
        self._known: Remembered[Known] = Remembered(64)

    @property
    def path(self) -> Path:
        """The file of the index."""
        return self._db.path

    @property
    def trouble(self) -> str:
        """Why the file is not where it belongs, with the cure; "" where it is."""
        return self._db.trouble

    def close(self) -> None:
        """Lets go of this thread's connection, and of a folder that was made for the while."""
        self._db.close()

    # --- keeping in step ------------------------------------------------------------------

    def refresh(
        self, max_age_s: float = 2.0, *, tell: Callable[[int, int], None] | None = None
    ) -> bool:
        """Whether anything changed since the last refresh of this object.

        Looks at the run folders, and reads what changed in them, unless that was done within
        `max_age_s`, or another thread does it now and it was done before. `tell` is called before
        each run with how many were looked at, and how many there are.
        """
        if max_age_s > 0 and self._refreshed_at is not None:
            if time.monotonic() - self._refreshed_at <= max_age_s:
                return False
            if not self._refreshing.acquire(blocking=False):
                return False
        else:
            self._refreshing.acquire()
        try:
            self._db.come_back()
            with self._db.building():
                token = self._db.do(functools.partial(self._bring_up, tell=tell))
        except FAULTS as exc:
            log.warning("%s: not brought up to date: %s", self._db.path, exc)
            return False
        finally:
            self._refreshed_at = time.monotonic()
            self._refreshing.release()
        changed, self._token = token != self._token, token
        return changed

    def _bring_up(self, db: sqlite3.Connection, *, tell: Callable[[int, int], None] | None) -> int:
        """Returns what changes with the rows of the runs."""
        runs = find_runs(self.results)
        locked = locked_files()
        for done, found in enumerate(runs):
            if tell is not None:
                tell(done, len(runs))
            self._builder.update(db, found, running=is_written(found, locked))
        forget(db, {found.path for found in runs})
        return hash(tuple(db.execute("SELECT number, version, row FROM runs ORDER BY number")))

    # --- runs -----------------------------------------------------------------------------

    def runs(self) -> list[RunRow]:
        """Every run, in order of its path."""

        def work(db: sqlite3.Connection) -> list[RunRow]:
            rows = db.execute("SELECT row FROM runs ORDER BY path").fetchall()
            return [msgspec.json.decode(row, type=RunRow) for (row,) in rows]

        return self._ask(work)

    def run(self, key: str) -> RunRow | None:
        """The run of that key or slug."""
        return self._ask(lambda db: self._row(db, key))

    def _row(self, db: sqlite3.Connection, run: Which) -> RunRow | None:
        rows = db.execute("SELECT row FROM runs WHERE key = ?", (_key(run),)).fetchall()
        found = [msgspec.json.decode(row, type=RunRow) for (row,) in rows]
        return next((row for row in found if row.slug == _slug(run)), found[0] if found else None)

    def folder(self, run: Which) -> Path | None:
        """Where it lies."""
        row = run if isinstance(run, RunRow) else self.run(run)
        return None if row is None else self.results / row.path

    def scores(self, run: Which) -> Path | None:
        """The score lines that its samples' values are of; None where it has none."""
        seen = self._ask(lambda db: self._see(db, run))
        folder = self.folder(run)
        if seen is None or folder is None or not seen.known.scores:
            return None
        return folder / seen.known.scores

    def task(self, given: str) -> str | None:
        """task@protocol, of that name, key or slug, of a run that is here."""
        rows = self._ask(lambda db: db.execute("SELECT DISTINCT task FROM runs").fetchall())
        names = {task for (task,) in rows if task}
        if given in names:
            return given
        return next((name for name in sorted(names) if key_of(name) == _key(given)), None)

    def card(self, run: Which) -> ResultCard | None:
        """Its result card; None where there is none that can be read."""
        return self._from_file(run, "result_card.json", self._cards, _read_card)

    def record(self, run: Which) -> Mapping[str, Any] | None:
        """Its run.json; None where it cannot be read."""
        return self._from_file(run, "run.json", self._records, _read_record)

    def _from_file(
        self,
        run: Which,
        name: str,
        kept: Remembered[Got | None],
        read: Callable[[Path], Got | None],
    ) -> Got | None:
        folder = self.folder(run)
        seen = self._ask(lambda db: self._see(db, run))
        if folder is None or seen is None or seen.known.fault or name not in seen.known.stamps:
            return None
        try:
            stat = (folder / name).stat()
        except OSError:
            return None
        key = (str(folder), stat.st_mtime_ns, stat.st_size, stat.st_ino)
        return kept.get(key, lambda: read(folder))

    def names(self, run: Which) -> ValueNames:
        """What the values of its samples are called: by its card, and by its rows."""
        seen = self._ask(lambda db: self._see(db, run))
        if seen is None:
            return ValueNames()
        return names_of(seen.known.meaning, seen.known.names, self.card(run))

    # --- samples --------------------------------------------------------------------------

    def samples(self, run: Which, query: Query) -> tuple[list[SampleRow], int]:
        """The query's page of samples, and how many it leaves in all."""
        taken = self.selection(run, query)

        def work(db: sqlite3.Connection) -> tuple[list[SampleRow], int]:
            seen = self._see(db, run)
            if seen is None:
                return [], 0
            places = self._order(db, seen, query) if taken is None else taken.places
            first = (query.page - 1) * PAGE_SIZE
            return fetch(db, seen, places[first : first + PAGE_SIZE]), len(places)

        return self._ask(work)

    def sample(self, run: Which, key_or_slug: str) -> SampleRow | None:
        """The sample of that key or slug; where two have one key, the slug tells."""

        def work(db: sqlite3.Connection) -> SampleRow | None:
            seen = self._see(db, run)
            return None if seen is None else _sample(db, seen, key_or_slug)

        return self._ask(work)

    def walk(self, run: Which, query: Query, sample: str | SampleRow) -> Walk:
        """Where the sample stands among those that the query leaves."""
        taken = self.selection(run, query)

        def work(db: sqlite3.Connection) -> Walk:
            seen = self._see(db, run)
            if seen is None:
                return Walk(place=None, total=0, unfiltered=0)
            places = self._order(db, seen, query) if taken is None else taken.places
            key = sample.slug if isinstance(sample, SampleRow) else sample
            found = _sample(db, seen, key)
            try:
                place = -1 if found is None else places.index(found.at)
            except ValueError:
                place = -1
            here = fetch(db, seen, places[max(0, place - 1) : place + 2]) if place >= 0 else []
            by_place = {row.at: row for row in here}
            before = places[place - 1] if place > 0 else -1
            after = places[place + 1] if 0 <= place < len(places) - 1 else -1
            return Walk(
                place=None if place < 0 else place + 1,
                total=len(places),
                unfiltered=count_samples(db, seen),
                before=by_place.get(before),
                after=by_place.get(after),
            )

        return self._ask(work)

    def selection(self, run: Which, query: Query) -> Chosen | None:
        """What the query's rule takes of the samples that its filters leave; None without a rule.

        UsageError as `selection.choose`, and for a model without a complete run.
        """
        if not query.select:
            return None
        rule = parse(query.select)
        own = run if isinstance(run, RunRow) else self.run(run)
        seen = None if own is None else self._ask(lambda db: self._see(db, own))
        if own is None or seen is None:
            return None
        rows = [own, *name_others(rule, own, seen, self.runs() if rule.may_name_models else ())]
        return self._ask(functools.partial(self._select, rows=rows, rule=rule, query=query))

    def _select(
        self, db: sqlite3.Connection, rows: Sequence[RunRow], rule: Rule, query: Query
    ) -> Chosen | None:
        seen = [self._see(db, row) for row in rows]
        there = [one for one in seen if one is not None]
        if len(there) < len(rows):
            return None
        plain = filters_of(query)
        labels = name_runs(rows)

        def make() -> Chosen:
            asked = [
                Asked(one, row, label, self.card(row))
                for one, row, label in zip(there, rows, labels, strict=True)
            ]
            return select(db, asked, rule, plain)

        return self._selected.get((tuple(one.version for one in there), plain), make)

    def facets(self, run: Which) -> Facets:
        """What its samples can be filtered by."""

        def work(db: sqlite3.Connection) -> Facets:
            seen = self._see(db, run)
            if seen is None:
                return Facets(statuses={}, flags={}, tags={})
            return self._facets.get(seen.version, lambda: count_facets(db, seen))

        return self._ask(work)

    def lines_of(self, folder: Path, sample: str, attempt: int) -> Mapping[str, LineAt]:
        """Where the attempt's current lines lie: name of the file below the run -> place.

        A file is not named where it has damaged lines, or was not read; and the place holds for a
        file of that stamp alone.
        """

        def work(db: sqlite3.Connection) -> Mapping[str, LineAt]:
            path = folder.relative_to(self.results).as_posix()
            found = db.execute("SELECT number FROM runs WHERE path = ?", (path,)).fetchone()
            seen = None if found is None else self._see_number(db, found[0])
            return {} if seen is None else places_of_lines(db, seen, sample, attempt)

        try:
            return self._ask(work)
        except (sqlite3.Error, ValueError, msgspec.DecodeError):  # it is a help, and no more
            return {}

    def models(self, task: str, sample_key: str) -> list[tuple[RunRow, SampleRow]]:
        """All runs of that task@protocol that have the sample, in order of path."""

        def work(db: sqlite3.Connection) -> list[tuple[RunRow, SampleRow]]:
            query = (
                "SELECT DISTINCT runs.path, runs.row, runs.number FROM samples "
                "JOIN runs ON runs.number = samples.run "
                "WHERE samples.key = ? AND runs.task = ? ORDER BY runs.path"
            )
            found = []
            for _, row, number in db.execute(query, (_key(sample_key), task)).fetchall():
                seen = self._see_number(db, number)
                sample = None if seen is None else _sample(db, seen, sample_key)
                if sample is not None:
                    found.append((msgspec.json.decode(row, type=RunRow), sample))
            return found

        return self._ask(work)

    def pair(self, first: Which, second: Which, query: Query) -> Pairing:
        """The query's page of the samples that both have, those that differ most first.

        By the first one's primary. `counts` are of what the filters leave, quadrant aside.
        """

        def work(db: sqlite3.Connection) -> Pairing:
            a, b = self._see(db, first), self._see(db, second)
            if a is None or b is None:
                return Pairing(rows=(), total=0, common=0, counts={}, threshold=None)
            versions = (a.version, b.version)
            common = self._commons.get(versions, lambda: read_common(db, a, b))
            plain = msgspec.structs.replace(query, page=1, layer="")
            chosen = self._chosen.get(
                (versions, plain), lambda: select_pairs(db, a, b, common, query)
            )
            return pair_page(db, a, b, common, chosen, query.page)

        return self._ask(work)

    def newest(self, run: Which, after: int) -> tuple[list[SampleRow], int]:
        """Samples whose lines came after that mark, the latest first, PAGE_SIZE at most.

        And the new mark, which is how many lines were read. A mark of an index that was made anew
        since may be larger: then there are none, and the new mark holds.
        """

        def work(db: sqlite3.Connection) -> tuple[list[SampleRow], int]:
            seen = self._see(db, run)
            if seen is None or after >= seen.known.seq:
                return [], 0 if seen is None else seen.known.seq
            rows = db.execute(
                f"SELECT {COLUMNS} FROM samples WHERE run = ? AND seq > ? "  # noqa: S608
                "ORDER BY seq DESC LIMIT ?",
                (seen.number, after, PAGE_SIZE),
            )
            return [row_reader(seen)(row) for row in rows], seen.known.seq

        return self._ask(work)

    def all_samples(self, run: Which) -> Iterator[SampleRow]:
        """Every sample, in the run's order; some hundreds are held at a time."""
        last = -1
        while True:
            rows = self._ask(functools.partial(self._after, run=run, last=last))
            if not rows:
                return
            yield from rows
            last = rows[-1].at

    def _after(self, db: sqlite3.Connection, run: Which, last: int) -> list[SampleRow]:
        seen = self._see(db, run)
        if seen is None:
            return []
        rows = db.execute(
            f"SELECT {COLUMNS} FROM samples WHERE run = ? AND at > ? ORDER BY at LIMIT ?",  # noqa: S608
            (seen.number, last, _CHUNK),
        )
        return [row_reader(seen)(row) for row in rows]

    # --- how it is asked ------------------------------------------------------------------

    def _ask(self, work: Callable[[sqlite3.Connection], Got]) -> Got:
        """A file that was deleted or damaged meanwhile is made anew, and filled, first."""

        before = self._db.generation

        def filled(db: sqlite3.Connection) -> Got:
            got = work(db)
            is_to_have_some = self._token or self._db.generation != before
            if is_to_have_some and db.execute("SELECT 1 FROM runs LIMIT 1").fetchone() is None:
                raise _EmptiedError
            return got

        try:
            return self._db.do(filled)
        except _EmptiedError:
            self._token = 0
            self.refresh(0)
            return self._db.do(work)

    def _see(self, db: sqlite3.Connection, run: Which) -> Seen | None:
        rows = db.execute("SELECT number, row FROM runs WHERE key = ?", (_key(run),)).fetchall()
        if len(rows) > 1:
            rows.sort(
                key=lambda found: msgspec.json.decode(found[1], type=RunRow).slug != _slug(run)
            )
        return self._see_number(db, rows[0][0]) if rows else None

    def _see_number(self, db: sqlite3.Connection, number: int) -> Seen | None:
        row = db.execute(
            "SELECT key, known, version FROM runs WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            return None
        key, known, version = row
        read = self._known.get(version, lambda: msgspec.json.decode(known, type=Known))
        return Seen(number, key, read, version)

    def _order(self, db: sqlite3.Connection, seen: Seen, query: Query) -> array[int]:
        plain = msgspec.structs.replace(query, page=1, layer="", quadrant="")
        return self._orders.get((seen.version, plain), lambda: order(db, seen, plain))


class _EmptiedError(Exception):
    """The index had rows, and has none."""


def _key(given: Which) -> str:
    key = given.key if isinstance(given, RunRow) else given[:KEY_LENGTH]
    return key.encode("utf-8", "replace").decode()


def _slug(given: Which) -> str:
    return given.slug if isinstance(given, RunRow) else given


def _sample(db: sqlite3.Connection, seen: Seen, given: str) -> SampleRow | None:
    # sorted here: asked for an order SQLite would go through the whole run
    query = f"SELECT {COLUMNS} FROM samples WHERE key = ? AND run = ?"  # noqa: S608
    read = row_reader(seen)
    rows = sorted(
        (read(row) for row in db.execute(query, (_key(given), seen.number))),
        key=lambda row: row.at,
    )
    return next((row for row in rows if row.slug == given), rows[0] if rows else None)


def _read_card(folder: Path) -> ResultCard | None:
    try:
        return read_card(folder)
    except NotRunnable:
        return None


def _read_record(folder: Path) -> Mapping[str, Any] | None:
    try:
        record = jsonio.loads(read_regular(folder / "run.json"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None
