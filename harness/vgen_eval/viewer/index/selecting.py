"""Samples as a selection rule takes them, of what filters leave; no more is read than it asks.

A rule may name other models: then it goes by the newest complete run of each over the same
task@protocol. The run itself is the one that its own model's name stands for.
"""

from __future__ import annotations

import functools
import sqlite3
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from vgen_eval import jsonio
from vgen_eval.distributions import OWN
from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import ResultCard
from vgen_eval.viewer.index.querying import Seen, conditions
from vgen_eval.viewer.ranking import Candidates
from vgen_eval.viewer.records import CHOSEN, Query, RunRow, SampleRow
from vgen_eval.viewer.rules import PRIMARY, Rule
from vgen_eval.viewer.selection import Selection, choose

__all__ = ["Asked", "Chosen", "filters_of", "name_others", "select"]

NOTHING: Mapping[str, float | None] = {}
NO_TAGS: Mapping[str, str] = {}
_number_at = struct.Struct("<d").unpack_from


class Chosen(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What a rule took of a run."""

    selection: Selection
    places: array[int]
    """`at` of each sample, in the rule's order."""
    runs: tuple[RunRow, ...]
    """That it looked at; the run itself first."""


class Asked(msgspec.Struct, frozen=True, eq=False):
    """A run that a rule looks at."""

    seen: Seen
    row: RunRow
    label: str
    card: ResultCard | None


def filters_of(query: Query) -> Query:
    """What of the query a selection hangs on."""
    return msgspec.structs.replace(
        query, page=1, layer="", quadrant="", sort="", dir="", n=query.n or CHOSEN
    )


def name_others(rule: Rule, own: RunRow, seen: Seen, runs: Sequence[RunRow]) -> tuple[RunRow, ...]:
    """Runs that the rule looks at beside `own`; UsageError for a model without a complete run.

    `runs`: where they are found, all that there are.
    """
    if rule.kind == "decides":
        raise UsageError(
            f"--select {rule.text}: one run decides no ranking",
            cure="advantage:A-B names two models; vgen-eval report takes several runs",
        )
    if rule.kind == "advantage":
        return _pair(rule, own, runs)
    if rule.kind == "best-of":
        words = [rule.subject]
    else:
        metric, sign, model = rule.metric.rpartition("@")
        words = [model] if sign and metric and rule.metric not in _values_of(seen) else []
    return _without(own, [_find(word, rule, own, runs) for word in words])


def _pair(rule: Rule, own: RunRow, runs: Sequence[RunRow]) -> tuple[RunRow, ...]:
    """The runs of A-B, whose names may hold a - too."""
    parts = rule.subject.split("-")
    splits = [("-".join(parts[:at]), "-".join(parts[at:])) for at in range(1, len(parts))]
    having = [[word for word in pair if _newest(word, own, runs) is not None] for pair in splits]
    if not splits:
        return ()  # no pair at all, which the rule says itself
    best = max(range(len(splits)), key=lambda at: (len(having[at]), -at))
    return _without(own, [_find(word, rule, own, runs) for word in splits[best]])


def _find(word: str, rule: Rule, own: RunRow, runs: Sequence[RunRow]) -> RunRow:
    found = _newest(word, own, runs)
    if found is None:
        models = sorted({run.model for run in _rivals(own, runs)} | {own.model})
        raise UsageError(
            f"--select {rule.text}: no complete run of a model '{word}' of {own.task}."
            f"{nearest(word, models)}",
            cure=f"one of: {', '.join(models)}",
        )
    return found


def _newest(word: str, own: RunRow, runs: Sequence[RunRow]) -> RunRow | None:
    if word in _names_of(own):
        return own
    found = [run for run in _rivals(own, runs) if word in _names_of(run)]
    return max(found, key=lambda run: (run.created, run.changed, run.path), default=None)


def _rivals(own: RunRow, runs: Sequence[RunRow]) -> list[RunRow]:
    return [run for run in runs if run.task == own.task and run.state == "complete"]


def _names_of(run: RunRow) -> tuple[str, ...]:
    """The model's first, then those of the run alone."""
    full = () if ":" in run.model else tuple(f"{home}:{run.model}" for home in OWN)
    return (run.model, *full, run.path.rpartition("/")[2], run.path, run.key)


def _without(own: RunRow, found: Sequence[RunRow]) -> tuple[RunRow, ...]:
    return tuple({run.path: run for run in found if run.path != own.path}.values())


def select(db: sqlite3.Connection, asked: Sequence[Asked], rule: Rule, query: Query) -> Chosen:
    """What the rule takes of the first run's samples that the query's filters leave.

    UsageError as `selection.choose`, and where the filters leave none that was tried.
    """
    first = asked[0]
    candidates = [_candidates(db, one, rule, query if one is first else Query()) for one in asked]
    if not candidates[0].rows:
        raise UsageError(
            f"--select {rule.text}: no sample that was tried is left for the rule",
            cure="take a filter away" if query != Query(select=query.select, n=query.n) else None,
        )
    selection = choose(rule, candidates, query.n or CHOSEN)
    places = {row.id: row.at for row in candidates[0].rows}
    return Chosen(
        selection=selection,
        places=array("I", (places[name] for name in selection.ids)),
        runs=tuple(one.row for one in asked),
    )


def _candidates(db: sqlite3.Connection, one: Asked, rule: Rule, query: Query) -> Candidates:
    names, meaning = one.seen.known.names, one.seen.known.meaning
    told = _values_of(one.seen)
    if one.card is not None:
        listed = {score.metric for score in one.card.scores} | {meaning.primary}
        told = listed | {meaning.keys[name] for name in listed if name in meaning.keys}
    wanted = {rule.metric, rule.metric.rpartition("@")[0]}
    keys = {meaning.keys.get(name, name) for name in wanted} & set(names)
    return Candidates(
        label=one.label,
        names=_names_of(one.row),
        primary=meaning.primary,
        directions={name: name not in meaning.lower for name in told},
        aliases=dict(meaning.keys),
        values=tuple(names),
        rows=tuple(_rows(db, one.seen, query, sorted(keys), with_tags=bool(rule.per_tag))),
    )


def _values_of(seen: Seen) -> set[str]:
    meaning = seen.known.meaning
    return {*seen.known.names, *meaning.keys, meaning.primary, PRIMARY}


def _rows(
    db: sqlite3.Connection, seen: Seen, query: Query, keys: Sequence[str], *, with_tags: bool
) -> Iterator[SampleRow]:
    """Of those tried: id, status, score, tags where wanted, and the values of these keys alone."""
    where, given = conditions(seen, query)
    places = [(key, 8 * seen.known.names.index(key)) for key in keys]
    own = seen.key
    vals, tagged = "vals" if places else "NULL", "tags" if with_tags else "''"
    # nothing from the client stands in the text: names of columns and signs alone
    rows = db.execute(
        f"SELECT at, id, status, score, {vals}, {tagged} FROM samples "  # noqa: S608
        f"WHERE {where} AND status <> 'not_run' ORDER BY at",
        given,
    )
    for at, name, status, score, numbers, tags in rows:
        values = NOTHING
        if places:
            values = {}
            for key, place in places:
                value = _number_at(numbers, place)[0] if len(numbers) >= place + 8 else None
                values[key] = value if value == value else None  # noqa: PLR0124 - NaN
        yield SampleRow(
            run=own, key="", id=name, group="", at=at, status=status, score=score,
            values=values, tags=_tags_of(tags) if tags else NO_TAGS,
        )  # fmt: skip


@functools.lru_cache(4096)
def _tags_of(packed: str) -> Mapping[str, str]:
    found: Mapping[str, str] = jsonio.loads(f"{{{packed[1:-1]}}}")
    return found
