"""The figures that papers print, as data: of which table and protocol, and how they compare."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal

import msgspec

from vgen_eval.cards.problems import Problems
from vgen_eval.cards.walk import walk_record
from vgen_eval.cards.yaml_nodes import compose
from vgen_eval.errors import CardError, Problem, UsageError, nearest

__all__ = ["Cell", "Row", "Table", "find_table", "load_published"]

Comparability = Literal["comparable", "approximate", "not_comparable"]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a table: immutable, unknown keys refused."""


class Cell(Record, frozen=True, kw_only=True):
    """One model's figures."""

    label: str
    """As the paper names it."""
    model: str | None = None
    """Its model card; None where there is none, or the paper does not name it."""
    values: Annotated[Mapping[str, float], msgspec.Meta(min_length=1)]
    """Value of ours -> figure in its unit: shares in 0..1, metres, degrees, counts."""
    comparability: Comparability | None = None
    reason: str | None = None
    """Where they differ from the row's."""


class Row(Record, frozen=True, kw_only=True):
    """The figures of one data set under one way of scoring."""

    data: str
    """As the paper names it."""
    task: str | None = None
    protocol: str | None = None
    """Ours, which the figures are of; None where there is none."""
    prompt: str | None = None
    """The prompt's variant, where a table compares them."""
    n_paper: int | None = None
    """Samples, as the paper says."""
    tag: Literal["S", "C", "W"]
    """Read in the paper's text, in its public code or files, or on another public page."""
    tolerance: Mapping[str, float]
    """Of each value: half a step of the last digit printed."""
    comparability: Comparability
    reason: str | None = None
    """Why ours would differ although nothing is wrong."""
    cells: Annotated[tuple[Cell, ...], msgspec.Meta(min_length=1)]


class Table(Record, frozen=True, kw_only=True):
    """A table of a paper."""

    paper: str
    table: str
    title: str
    source: str
    arxiv: str | None = None
    note: str | None = None
    rows: Annotated[tuple[Row, ...], msgspec.Meta(min_length=1)]


@functools.cache
def load_published() -> tuple[Table, ...]:
    """Every published table that ships, by paper and table; CardError with all faults of a file."""
    found = []
    for folder in sorted(files("vgen_eval.published").iterdir(), key=lambda entry: entry.name):
        if not folder.is_dir() or folder.name.startswith("_"):
            continue
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith(".yaml"):
                name = f"{folder.name}/{entry.name}"
                found.append(_read(entry.read_text(encoding="utf-8"), name))
    return tuple(found)


def _read(text: str, name: str) -> Table:
    problems = Problems(name)
    node, _ = compose(text, problems)
    found = walk_record(Table, node, problems)
    problems.check()
    table = msgspec.convert(found, Table)
    faults = []
    if f"{table.paper}/{table.table}.yaml" != name:
        faults.append("paper and table name another file")
    for row in table.rows:
        values = {value for cell in row.cells for value in cell.values}
        without = sorted(values ^ row.tolerance.keys())
        if without:
            faults.append(f"{row.data}: values and tolerances differ in {', '.join(without)}")
        levels: tuple[Row | Cell, ...] = (row, *row.cells)
        if any(e.comparability not in (None, "comparable") and not e.reason for e in levels):
            faults.append(f"{row.data}: what does not compare needs a reason")
    if faults:
        raise CardError([Problem(fault, file=name) for fault in faults])
    return table


def find_table(name: str) -> Table:
    """The table `paper:table`; UsageError with the nearest."""
    known = {f"{table.paper}:{table.table}": table for table in load_published()}
    if name not in known:
        raise UsageError(f"no published table '{name}'.{nearest(name, known)}")
    return known[name]
