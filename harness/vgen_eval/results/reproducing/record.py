"""A reproduced table as plain JSON: each value with ours, the difference, a verdict, a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.results.published import Table
from vgen_eval.results.reproducing.asking import Asked
from vgen_eval.results.reproducing.departures import Departure
from vgen_eval.results.reproducing.finding import Found, measure
from vgen_eval.results.reproducing.planning import Need, Outlook, unfinished
from vgen_eval.results.reproducing.speeds import (
    find_speed,
    how_to_measure,
    read_speed,
    speed_departures,
)
from vgen_eval.results.reproducing.verdicts import Measured, Verdict, judge, mean_of_sets

__all__ = ["ELSEWHERE", "NOT_KNOWN", "SCHEMA_VERSION", "describe_table", "has_outside"]

SCHEMA_VERSION = "1.0"
ELSEWHERE = "predictions made elsewhere"
NOT_KNOWN = "not known"
UNKNOWN = f"{ELSEWHERE}: how they were made is not known, so no setting of the model is compared"


class _Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What was found for a cell."""

    ours: dict[str, Measured] = {}
    departures: tuple[Departure, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    why_not: str | None = None
    unfinished: str | None = None


def describe_table(
    table: Table, outlook: Outlook, *, output: Path, faults: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """The whole table; `faults`: runs that could not be read; `notes`: what else is to be told."""
    cells = [
        cell
        for asked in outlook.asked
        for cell in _describe(asked, _numbers(asked, outlook, output=output))
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "target": table.name,
        "title": table.title,
        "source": table.source,
        "arxiv": table.arxiv,
        "note": table.note,
        "awaits": table.awaits,
        "cells": cells,
        "verdicts": dict(Counter(cell["verdict"] for cell in cells)),
        "notes": [*notes, *([UNKNOWN] if any(map(_is_elsewhere, cells)) else [])],
        "faults": list(faults),
    }


def _is_elsewhere(cell: dict[str, Any]) -> bool:
    return bool(cell["making"] == NOT_KNOWN)


def has_outside(record: dict[str, Any]) -> bool:
    """Is a cell that ran outside?"""
    return any(cell["verdict"] == "outside" for cell in record["cells"])


def _numbers(asked: Asked, outlook: Outlook, *, output: Path) -> _Numbers:
    if not asked.parts:
        return _Numbers(why_not=asked.why_not)
    if asked.row.measure == "speed":
        return _speed(asked, output)
    needs = outlook.of(asked)
    missing = [need for need in needs if need.found is None]
    if missing:
        return _Numbers(why_not=_why_not(missing, several=len(needs) > 1))
    founds = [need.found for need in needs if need.found is not None]
    ours = {}
    for name in asked.row.names(asked.cell):
        parts = [measure(found.card, name, asked.row) for found in founds]
        if all(part is not None for part in parts):
            ours[name] = mean_of_sets([part for part in parts if part is not None])
    return _Numbers(
        ours=ours,
        departures=tuple(_departures(founds, [need.part.ref.name for need in needs])),
        sources=tuple(
            {"run": str(found.path), "source": found.source, "other_runs": found.others}
            for found in founds
        ),
        unfinished=next(filter(None, map(unfinished, founds)), None),
    )


def _why_not(missing: Sequence[Need], *, several: bool) -> str:
    """Each reason once, with the tasks that it is of where a cell has several."""
    tasks: dict[str, list[str]] = {}
    for need in missing:
        tasks.setdefault(str(need.why_not), []).append(need.part.ref.name)
    told = (f"{why} ({', '.join(names)})" if several else why for why, names in tasks.items())
    return "; ".join(told)


def _departures(founds: Sequence[Found], tasks: Sequence[str]) -> Iterator[Departure]:
    """Those of each run; where a cell has several, what is equal in all of them once."""
    if len(founds) == 1:
        yield from founds[0].departures
        return
    common = [
        each
        for each in founds[0].departures
        if all(each in found.departures for found in founds[1:])
    ]
    yield from common
    for found, task in zip(founds, tasks, strict=True):
        for each in found.departures:
            if each not in common:
                yield Departure(f"{task}:{each.field}", each.paper, each.ours)


def _speed(asked: Asked, output: Path) -> _Numbers:
    (part,) = asked.parts
    record = find_speed(part, output)
    if record is None:
        return _Numbers(why_not=how_to_measure(part))
    found = {name: read_speed(record, name) for name in asked.row.names(asked.cell)}
    return _Numbers(
        ours={name: number for name, number in found.items() if number is not None},
        departures=speed_departures(asked.row, record),
        sources=({"run": record.digest, "source": "bench", "other_runs": 0},),
    )


def _describe(asked: Asked, numbers: _Numbers) -> Iterator[dict[str, Any]]:
    row, cell = asked.row, asked.cell
    for name in row.names(cell):
        published = asked.published(name)
        ours = numbers.ours.get(name)
        verdict = _verdict(asked, name, numbers)
        difference = None
        if ours is not None and published.value is not None:
            difference = ours.value - published.value
        yield {
            "data": row.data,
            "label": cell.label,
            "model": cell.model,
            "tasks": [part.ref.label for part in asked.parts],
            "prompt": row.prompt,
            "answer": row.answer,
            "subset": row.subset,
            "set": dict(row.set),
            "selection": row.selection,
            "value": name,
            "published": published.value,
            "tolerance": row.tolerance.get(name),
            "n_paper": row.n_paper,
            "ours": None if ours is None else msgspec.to_builtins(ours),
            "difference": difference,
            "verdict": verdict.word,
            "reason": verdict.reason,
            "number": verdict.number,
            "by": verdict.by,
            "source": "; ".join(dict.fromkeys(s["source"] for s in numbers.sources)) or None,
            "making": _making(numbers),
            "sources": list(numbers.sources),
            "report": [msgspec.to_builtins(each) for each in numbers.departures] if ours else [],
        }


def _making(numbers: _Numbers) -> str | None:
    """Is it known how the answers were made? None where there are none."""
    told = [str(source["source"]) for source in numbers.sources]
    if any(source.startswith(ELSEWHERE) for source in told):
        return NOT_KNOWN
    return "recorded" if told else None


def _verdict(asked: Asked, name: str, numbers: _Numbers) -> Verdict:
    published, ours = asked.published(name), numbers.ours.get(name)
    if ours is not None:
        return judge(ours, published, numbers.departures, unfinished=numbers.unfinished)
    if not asked.parts and published.comparability == "not_comparable":
        return Verdict(word="not comparable", reason=published.reason)
    why = numbers.why_not or f"the run has no {name}"
    if numbers.sources and asked.row.selection != "mean":
        why += f" as {asked.row.selection}"
    return Verdict(word="not run", reason=why)
