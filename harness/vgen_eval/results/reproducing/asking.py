"""The cells of a table as questions: which tasks and which model give the numbers of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.naming import TaskRef
from vgen_eval.results.published import Cell, Row, Table
from vgen_eval.results.reproducing.model_names import Brought, NamedModel, find_model, no_models
from vgen_eval.results.reproducing.targets import find_refs
from vgen_eval.results.reproducing.verdicts import Published

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Asked", "Part", "ask"]


class Part(msgspec.Struct, frozen=True):
    """One run that a cell needs."""

    row: Row
    word: str
    """The task as `--tasks` takes it."""
    ref: TaskRef
    model: NamedModel
    key: tuple[bytes, str, str]
    """What tells it from the other parts of a table."""


class Asked(msgspec.Struct, frozen=True):
    """A cell of a table: one model under one row, with all its values."""

    row: Row
    cell: Cell
    parts: tuple[Part, ...]
    """Runs whose numbers are averaged; none where there is no task or no model."""
    why_not: str | None = None
    """Why there are none."""

    def published(self, value: str) -> Published:
        """What the paper prints of a value."""
        cell, row = self.cell, self.row
        own = cell.comparability is not None
        return Published(
            value=cell.values.get(value),
            tolerance=row.tolerance.get(value, 0.0),
            comparability=(cell.comparability if own else None) or row.comparability,
            reason=cell.reason if own else row.reason,
        )


def ask(table: Table, catalog: Catalog, brought: Brought = no_models) -> list[Asked]:
    """Every cell of a table, in its order; `brought`: models that runs are here of."""
    asked = []
    for whole in table.rows:
        refs = find_refs(whole, catalog)
        for cell in whole.cells:
            row = whole.of(cell)
            if cell.model is None:
                asked.append(Asked(row, cell, (), "the table names no model card"))
            elif not refs:
                asked.append(Asked(row, cell, (), "there is no protocol of it here"))
            else:
                model = find_model(cell.model, catalog, brought)
                words = row.mean_of or (f"{row.task}@{row.protocol}",)
                asks = jsonio.canonical(msgspec.to_builtins(msgspec.structs.replace(row, cells=())))
                parts = (
                    Part(row, word, ref, model, (asks, word, model.word))
                    for word, ref in zip(words, refs, strict=True)
                )
                asked.append(Asked(row, cell, tuple(parts)))
    return asked
