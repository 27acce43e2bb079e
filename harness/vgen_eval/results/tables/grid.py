"""Gives every number its place in rows and columns; what differs by no design is set apart."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vgen_eval.results.tables.apart import name_apart, varying
from vgen_eval.results.tables.axes import ALL, ROLES, Dimension, accounts_for, role_of, value_of
from vgen_eval.results.tables.entries import Entry
from vgen_eval.results.tables.record import Head

__all__ = ["Grid", "lay_out"]

MOST_FIELDS = 8

Place = tuple[tuple[str, ...], bytes]
"""Labels of a head, and the facts that all its numbers agree in."""


class Grid(msgspec.Struct, frozen=True):
    """Numbers by their places: along the axis that is compared, and along the other."""

    main: tuple[Head, ...]
    other: tuple[Head, ...]
    entries: dict[tuple[int, int], Entry]
    notes: tuple[str, ...]


def lay_out(
    entries: Sequence[Entry], main: Sequence[Dimension], other: Sequence[Dimension]
) -> Grid:
    """Places of the entries; two of them that share one differ in nothing.

    Numbers are compared along `main` (models, as a rule). What it accounts for may differ along
    it; in all else the numbers at one place of `other` agree: where they do not, there are
    several such places, each headed by what differs. Where one place of `main` would have
    several numbers, two runs of one model as a rule, the same is done there.
    """
    fields = list(dict.fromkeys(field for entry in entries for field in entry.facts))
    of_main = [f for f in fields if accounts_for(main, f) and not accounts_for(other, f)]
    of_other = [f for f in fields if not accounts_for(main, f)]
    while True:
        placed: dict[tuple[Place, Place], list[Entry]] = {}
        for entry in entries:
            place = (_place(entry, main, of_main), _place(entry, other, of_other))
            placed.setdefault(place, []).append(entry)
        crowded = [group for group in placed.values() if len(group) > 1]
        if not crowded:
            break
        # both axes account for these facts, and yet they differ within one cell
        of_other += varying([entry.facts for entry in crowded[0]], fields)
    mains, main_notes = _heads(entries, main, of_main)
    others, other_notes = _heads(entries, other, of_other)
    at_main = {place: at for at, place in enumerate(mains)}
    at_other = {place: at for at, place in enumerate(others)}
    return Grid(
        tuple(mains.values()),
        tuple(others.values()),
        {(at_main[m], at_other[o]): group[0] for (m, o), group in placed.items()},
        (*main_notes, *other_notes),
    )


def _place(entry: Entry, axis: Sequence[Dimension], fields: Sequence[str]) -> Place:
    labels = tuple(value_of(d, entry.run.card, entry.score) for d in axis)
    return labels, entry.key(fields)


def _heads(
    entries: Sequence[Entry], axis: Sequence[Dimension], fields: Sequence[str]
) -> tuple[dict[Place, Head], list[str]]:
    """Heads by place, in order; and what more they differ in than they are headed by."""
    first: dict[Place, Entry] = {}
    for entry in entries:
        first.setdefault(_place(entry, axis, fields), entry)
    by_labels: dict[tuple[str, ...], list[Place]] = {}
    for place in first:
        by_labels.setdefault(place[0], []).append(place)
    heads: dict[Place, Head] = {}
    notes = []
    for labels in _in_order(list(by_labels), axis):
        places = by_labels[labels]
        named, more = name_apart([first[place].facts for place in places], fields)
        for place, apart in zip(places, named, strict=True):
            heads[place] = Head(labels=labels, apart=apart, role=_role(first[place], axis))
        if more and not {"task", "model.name"} & {field for field, _ in named[0]}:
            notes.append(f"{', '.join(labels)}: set apart; they differ in {_listed(more)} too")
    ranked = sorted(heads, key=lambda place: ROLES.index(heads[place].role))
    return {place: heads[place] for place in ranked}, notes


def _in_order(labels: list[tuple[str, ...]], axis: Sequence[Dimension]) -> list[tuple[str, ...]]:
    """As they came, but tags by name, all samples first."""
    came = [list(dict.fromkeys(label[at] for label in labels)) for at in range(len(axis))]

    def rank(label: tuple[str, ...]) -> list[tuple[int, str]]:
        return [
            (int(part != ALL), part) if dimension.kind == "tag" else (came[at].index(part), "")
            for at, (dimension, part) in enumerate(zip(axis, label, strict=True))
        ]

    return sorted(labels, key=rank)


def _role(entry: Entry, axis: Sequence[Dimension]) -> str:
    """The model's, where the head is of one model."""
    if not any(dimension.kind == "model" for dimension in axis):
        return "model"
    return role_of(entry.run.card)


def _listed(fields: Sequence[str]) -> str:
    more = len(fields) - MOST_FIELDS
    return ", ".join(fields[:MOST_FIELDS]) + (f" and {more} more" if more > 0 else "")
