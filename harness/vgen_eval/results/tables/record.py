"""A table as a record: heads, cells and notes; every format is written from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

__all__ = ["Cell", "Head", "Measure", "Note", "Table"]

MARKS = {"exposure": "†", "incomplete": "‡", "unanswered": "§"}
"""Of a cell, as notes show them; any other mark is a letter."""


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """What a number measures."""

    metric: str
    unit: str
    higher_is_better: bool


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What stands before a row or above a column."""

    labels: tuple[str, ...]
    apart: tuple[tuple[str, str], ...] = ()
    """Fields in which it differs from its namesakes, and their values here."""
    role: str = "model"
    """Role of the one model it is of, else `model`."""
    measure: Measure | None = None
    """Where all its cells share it and the other axis does not tell it."""
    n: str | None = None

    @property
    def name(self) -> str:
        """Labels and what sets it apart, on one line."""
        told = [*self.labels, *(f"{field} {value}" for field, value in self.apart)]
        return ", ".join(told) + (f" ({self.role})" if self.role != "model" else "")


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One number, and all that is to be known of it."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    measure: Measure
    best: bool = False
    marks: tuple[str, ...] = ()
    reason: str | None = None
    """Why there is no value."""
    subset: str
    model: str
    role: str
    task: str
    protocol: str
    prompt: str | None
    answer: str
    complete: bool
    exposure: tuple[str, ...] = ()
    """What was reported of the model and this task's data."""
    run: str


class Note(msgspec.Struct, frozen=True):
    """A footnote; `mark`: what stands at the cells it is of, "" for one of the whole table."""

    mark: str
    text: str


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of cells, None where no run has the number."""

    rows_by: tuple[str, ...]
    cols_by: tuple[str, ...]
    rows: tuple[Head, ...]
    cols: tuple[Head, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    caption: tuple[str, ...]
    brackets: str
    """What the brackets of intervals hold; left out of the caption where these are."""
    notes: tuple[Note, ...]

    def filled(self) -> Iterator[tuple[Head, Head, Cell]]:
        """Row, column and cell of every number."""
        for row, line in zip(self.rows, self.cells, strict=True):
            for col, cell in zip(self.cols, line, strict=True):
                if cell is not None:
                    yield row, col, cell

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found
