"""Two runs' samples side by side: who is good at what, and by how much they differ."""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import Sequence
from math import isnan

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.viewer.index.parts import unpack
from vgen_eval.viewer.index.querying import Seen, conditions, fetch
from vgen_eval.viewer.records import PAGE_SIZE, Pairing, PairRow, Query

__all__ = ["QUADRANTS", "Both", "Common", "pair_page", "read_common", "select_pairs"]

QUADRANTS = ("both_bad", "only_a", "only_b", "both_good")
SORTS = ("delta", "a", "b", "id")


class Both(msgspec.Struct, frozen=True, gc=False):
    """A sample that both runs have."""

    a: int
    """Its place in the first run, and in the second."""
    b: int
    id: str
    x: float | None
    """The first run's primary under the first run, and under the second."""
    y: float | None

    @property
    def delta(self) -> float | None:
        """Second less first."""
        return None if self.x is None or self.y is None else self.y - self.x


class Common(msgspec.Struct, frozen=True, gc=False):
    """Every sample that two runs have."""

    rows: list[Both]
    threshold: float | None
    higher_is_better: bool

    def quadrant(self, row: Both) -> str:
        """Of QUADRANTS; "" where one of them has no number."""
        if row.x is None or row.y is None or self.threshold is None:
            return ""
        if self.higher_is_better:
            a, b = row.x >= self.threshold, row.y >= self.threshold
        else:
            a, b = row.x <= self.threshold, row.y <= self.threshold
        return {
            (False, False): "both_bad",
            (True, False): "only_a",
            (False, True): "only_b",
            (True, True): "both_good",
        }[a, b]


def read_common(db: sqlite3.Connection, first: Seen, second: Seen) -> Common:
    """Of two runs, by the first one's primary, in the first one's order."""
    meaning = first.known.meaning
    ours = db.execute("SELECT id, at, score FROM samples WHERE run = ?", (first.number,))
    a = {sample: (at, score) for sample, at, score in ours}
    b = _scores(db, second, meaning.key)
    rows = [
        Both(at, b[sample][0], sample, score, b[sample][1])
        for sample, (at, score) in a.items()
        if sample in b
    ]
    numbers = [value for row in rows for value in (row.x, row.y) if value is not None]
    threshold = None
    if numbers:
        is_yes_or_no = all(value in (0.0, 1.0) for value in numbers)
        good = float(meaning.higher_is_better)
        threshold = good if is_yes_or_no else statistics.median(numbers)
    return Common(rows, threshold, meaning.higher_is_better)


def _scores(
    db: sqlite3.Connection, seen: Seen, key: str | None
) -> dict[str, tuple[int, float | None]]:
    """Id -> place and that value: the run's own primary, as a rule."""
    if key is None or key == seen.known.meaning.key:
        query = "SELECT id, at, score FROM samples WHERE run = ?"
        return {sample: (at, score) for sample, at, score in db.execute(query, (seen.number,))}
    names = seen.known.names
    column = names.index(key) if key in names else len(names)
    found: dict[str, tuple[int, float | None]] = {}
    query = "SELECT id, at, vals FROM samples WHERE run = ?"
    for sample, at, vals in db.execute(query, (seen.number,)):
        held = unpack(vals[8 * column : 8 * column + 8])
        found[sample] = (at, held[0] if held and not isnan(held[0]) else None)
    return found


def select_pairs(
    db: sqlite3.Connection, first: Seen, second: Seen, common: Common, query: Query
) -> tuple[list[Both], dict[str, int]]:
    """What the query leaves, in its order, and the counts before its quadrant is looked at.

    A pair stays where the filters let the sample of either run through.
    """
    where = msgspec.structs.replace(query, sort="", dir="", quadrant="", page=1, layer="")
    rows = common.rows
    if where != Query():
        passed = [_passing(db, seen, where) for seen in (first, second)]
        rows = [row for row in rows if row.a in passed[0] or row.b in passed[1]]
    counts = dict.fromkeys((*QUADRANTS, "a_better", "b_better", "tie"), 0)
    kept = []
    for row in rows:
        quadrant, delta = common.quadrant(row), row.delta
        if quadrant:
            counts[quadrant] += 1
        if delta is not None:
            better = "b_better" if (delta > 0) == common.higher_is_better else "a_better"
            counts[better if delta else "tie"] += 1
        if not query.quadrant or quadrant == query.quadrant:
            kept.append(row)
    return _sort(kept, common, query), counts


def _passing(db: sqlite3.Connection, seen: Seen, query: Query) -> set[int]:
    where, given = conditions(seen, query)
    return {at for (at,) in db.execute(f"SELECT at FROM samples WHERE {where}", given)}  # noqa: S608


def _sort(rows: list[Both], common: Common, query: Query) -> list[Both]:
    by = query.sort or "delta"
    if by not in SORTS:
        raise UsageError(
            f"sort: {by[:40]!r} is none of {', '.join(SORTS)}.{nearest(by[:40], SORTS)}"
        )
    if query.quadrant and query.quadrant not in QUADRANTS:
        raise UsageError(
            f"quadrant: {query.quadrant[:40]!r} is none of {', '.join(QUADRANTS)}."
            f"{nearest(query.quadrant[:40], QUADRANTS)}"
        )
    if by == "id":
        return sorted(rows, key=lambda row: row.id, reverse=query.dir == "desc")
    downwards = by == "delta" or not common.higher_is_better
    if query.dir:
        downwards = query.dir == "desc"

    def number(row: Both) -> float | None:
        if by == "delta":
            return None if row.delta is None else abs(row.delta)
        return row.x if by == "a" else row.y

    def place(row: Both) -> tuple[bool, float]:
        value = number(row)
        return (True, 0.0) if value is None else (False, -value if downwards else value)

    return sorted(rows, key=place)


def pair_page(
    db: sqlite3.Connection, first: Seen, second: Seen, common: Common,
    chosen: tuple[Sequence[Both], dict[str, int]], page: int,
) -> Pairing:  # fmt: skip
    """One page of `select_pairs`."""
    rows, counts = chosen
    shown = rows[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    a = {row.at: row for row in fetch(db, first, [row.a for row in shown])}
    b = {row.at: row for row in fetch(db, second, [row.b for row in shown])}
    return Pairing(
        rows=tuple(
            PairRow(first=a[row.a], second=b[row.b], delta=row.delta)
            for row in shown
            if row.a in a and row.b in b
        ),
        total=len(rows),
        common=len(common.rows),
        counts=counts,
        threshold=common.threshold,
    )
