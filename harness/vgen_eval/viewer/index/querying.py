"""From a query to the samples that it names, in its order: reckoned once, then cut into pages."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import UsageError, nearest
from vgen_eval.viewer.index.known import Known
from vgen_eval.viewer.index.lines import LineAt
from vgen_eval.viewer.index.parts import Part, unpack
from vgen_eval.viewer.records import Query, SampleRow, key_of

__all__ = [
    "COLUMNS", "Seen", "conditions", "count_samples", "fetch", "order",
    "places_of_lines", "row_reader", "sort_of",
]  # fmt: skip

COLUMNS = "at, key, id, grp, tags, flags, status, reason, score, vals"
OTHERS = ("id", "status", "order")
"""What rows are sorted by that is no value."""
_AT_ONCE = 500
MOST_FILTERS = 100
"""Statuses, flags and tags of a query: SQLite takes no expression of any length."""
MOST_CUTS = 5
"""Signs of equality in a tag's name, at most."""


class Seen(msgspec.Struct, frozen=True):
    """A run as one question found it."""

    number: int
    key: str
    known: Known
    version: int


def sort_of(seen: Seen, query: Query) -> tuple[str, str, bool]:
    """What the query sorts by - "score", "value" or one of OTHERS -, its key, and: downwards?

    Names of values are keys of the lines or names of the card. UsageError with the nearest.
    """
    meaning, names = seen.known.meaning, seen.known.names
    name = _clean(query.sort) or meaning.primary
    if query.sort in OTHERS and query.sort not in names:
        return query.sort, "", query.dir == "desc"
    downwards = name in meaning.lower
    if query.dir:
        downwards = query.dir == "desc"
    key = name if name in names else meaning.keys.get(name, name)
    if not query.sort or name == meaning.primary or key == meaning.key:
        return "score", "", downwards
    if key not in names and key not in meaning.keys.values():
        known = sorted({*names, *meaning.keys, meaning.primary, *OTHERS} - {""})
        raise UsageError(
            f"sort: '{name[:40]}' is no value of this run.{nearest(name[:40], known)}",
            cure=f"one of {', '.join(known[:20])}",
        )
    return "value", key, downwards


def conditions(seen: Seen, query: Query) -> tuple[str, list[Any]]:
    """The WHERE of a query. Several statuses, flags or values of one tag are alternatives."""
    parts: list[str] = ["run = ?"]
    given: list[Any] = [seen.number]
    if len(query.status) + len(query.flag) + len(query.tag) > MOST_FILTERS:
        raise UsageError(
            f"{len(query.status) + len(query.flag) + len(query.tag)} filters at once: "
            f"{MOST_FILTERS} are possible"
        )
    if query.status:
        parts.append(f"status IN ({', '.join('?' * len(query.status))})")
        given += map(_clean, query.status)
    if query.flag:
        parts.append(_any_of("flags", len(query.flag)))
        given += [f",{_text(flag)}," for flag in query.flag]
    tags: dict[str, list[str]] = {}
    for entry in query.tag:
        tags.setdefault(entry.partition("=")[0], []).extend(_tag_patterns(entry))
    for patterns in tags.values():
        parts.append(_any_of("tags", len(patterns)))
        given += patterns
    for sign, end in zip((">=", "<="), query.bounds(), strict=True):
        if end is not None:
            parts.append(f"score {sign} ?")
            given.append(end)
    if query.score and query.bounds() == (None, None):
        parts.append("score IS NOT NULL")
    if query.q:
        parts.append("instr(lower(id), lower(?))")
        given.append(_clean(query.q))
    return " AND ".join(parts), given


def _any_of(column: str, count: int) -> str:
    return f"({' OR '.join([f'instr({column}, ?)'] * count)})"


def _text(text: str) -> str:
    return jsonio.dumps(_clean(text)).decode()


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which no file of a run holds."""
    return text.encode("utf-8", "replace").decode()


def _tag_patterns(entry: str) -> list[str]:
    """tag=value, wherever the tag's name ends; what has no sign names a tag of any value."""
    cuts = [at for at, letter in enumerate(entry) if letter == "="][:MOST_CUTS]
    if not cuts:
        return [f",{_text(entry)}:"]
    return [f",{_text(entry[:at])}:{_text(entry[at + 1 :])}," for at in cuts]


def order(db: sqlite3.Connection, seen: Seen, query: Query) -> array[int]:
    """`at` of every sample that the query leaves, in its order.

    What has no number comes last both ways; equals come in the run's order.
    """
    kind, key, downwards = sort_of(seen, query)
    where, given = conditions(seen, query)
    way = "DESC" if downwards else "ASC"
    by = {
        "score": f"score IS NULL, score {way}, at",
        "value": "at",
        "order": f"at {way}",
        "id": f"id {way}, at",
        "status": f"status {way}, at",
    }[kind]
    columns = "at, vals" if kind == "value" else "at"
    # nothing from the client stands in the text: names of columns and signs alone
    rows = db.execute(f"SELECT {columns} FROM samples WHERE {where} ORDER BY {by}", given)  # noqa: S608
    if kind != "value":
        return array("I", (at for (at,) in rows))
    names = seen.known.names
    column = names.index(key) if key in names else len(names)
    with_number: list[tuple[float, int]] = []
    without: list[int] = []
    for at, vals in rows:
        value = (
            unpack(vals[8 * column : 8 * column + 8])[0]
            if len(vals) >= 8 * column + 8
            else float("nan")
        )
        if isnan(value):
            without.append(at)
        else:
            with_number.append((-value if downwards else value, at))
    with_number.sort()
    return array("I", [*(at for _, at in with_number), *without])


def row_reader(seen: Seen) -> Callable[[Sequence[Any]], SampleRow]:
    """What makes a SampleRow of COLUMNS."""
    names, run, attempts = seen.known.names, seen.key, seen.known.attempts

    def read(row: Sequence[Any]) -> SampleRow:
        at, key, sample, group, tags, flags, status, reason, score, vals = row
        values: Mapping[str, float | None] = {
            name: None if isnan(value) else value
            for name, value in zip(names, unpack(vals), strict=False)
        }
        return SampleRow(
            run=run,
            key=key,
            id=sample,
            group=group,
            at=at,
            status=status,
            score=score,
            values=values,
            flags=tuple(jsonio.loads(f"[{flags[1:-1]}]")),
            tags=jsonio.loads(f"{{{tags[1:-1]}}}"),
            attempts=attempts,
            reason=reason,
        )

    return read


def fetch(db: sqlite3.Connection, seen: Seen, places: Sequence[int]) -> list[SampleRow]:
    """The samples at these places, in that order; those that went meanwhile are left out."""
    found: dict[int, SampleRow] = {}
    read = row_reader(seen)
    for first in range(0, len(places), _AT_ONCE):
        some = list(places[first : first + _AT_ONCE])
        marks = ", ".join("?" * len(some))
        query = f"SELECT {COLUMNS} FROM samples WHERE run = ? AND at IN ({marks})"  # noqa: S608
        for row in db.execute(query, (seen.number, *some)):
            found[row[0]] = read(row)
    return [found[at] for at in places if at in found]


def count_samples(db: sqlite3.Connection, seen: Seen) -> int:
    """Samples of the run, whatever a filter leaves."""
    query = "SELECT count(*) FROM samples WHERE run = ?"
    return int(db.execute(query, (seen.number,)).fetchone()[0])


def places_of_lines(
    db: sqlite3.Connection, seen: Seen, sample: str, attempt: int
) -> dict[str, LineAt]:
    """File of the run -> where the current line of that attempt begins in it."""
    query = "SELECT id, parts FROM samples WHERE key = ? AND run = ?"
    for name, parts in db.execute(query, (key_of(sample), seen.number)):
        if name == sample:
            read = msgspec.msgpack.decode(parts, type=list[Part])
            part = next((one for one in read if one.attempt == attempt), Part(attempt))
            known = seen.known
            places = {"predictions.jsonl": part.asked_at, known.scores: part.scored_at}
            return {
                file: LineAt(known.stamps[file], place)
                for file, place in places.items()
                if file in known.stamps and file in known.marks and not known.marks[file].damaged
            }
    return {}
