"""Runs as tests change them: cards in other states than real runs come to at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from vgen_eval.results.card import ResultCard
from vgen_eval.results.reading import Run, read_runs
from vgen_eval.results.tables.record import Cell, Table
from vgen_eval.statistics import Interval
from vgen_eval.store.run import find_runs

__all__ = ["changed", "find", "head_names", "look", "scored"]


def find(folder: Path, *, task: str | None = None, model: str | None = None) -> list[Run]:
    """The runs of a results folder, of one task or one model."""
    runs, faults = read_runs(find_runs(folder))
    assert faults == []
    return [
        run for run in runs if task in (None, run.card.task) and model in (None, run.card.model)
    ]


def changed(run: Run, /, **fields: Any) -> Run:
    """The run with other fields in its card; mappings are joined with what is there."""
    card: ResultCard = run.card
    told = {
        name: {**getattr(card, name), **value} if isinstance(value, Mapping) else value
        for name, value in fields.items()
    }
    return Run(run.path, msgspec.structs.replace(card, **told))


def scored(
    run: Run, value: float | None, /, *, low: float | None = None, high: float | None = None,
    reason: str | None = None, **fields: Any,
) -> Run:  # fmt: skip
    """The run with that primary, over all samples."""
    interval = Interval(low=low, high=high, clusters=20)
    score = msgspec.structs.replace(run.card.score(), value=value, ci95=interval, reason=reason)
    return changed(run, scores=(score,), **fields)


def head_names(table: Table) -> tuple[list[str], list[str]]:
    """Names of the rows and of the columns."""
    return [head.name for head in table.rows], [head.name for head in table.cols]


def look(table: Table, row: str, col: str) -> Cell:
    """The cell at a row and a column of these names."""
    (cell,) = (cell for r, c, cell in table.filled() if (r.name, c.name) == (row, col))
    return cell
