"""Which numbers of a table are compared with one another, and which of each comparison is best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval.results.tables.axes import Dimension, accounts_for, is_of_model
from vgen_eval.results.tables.grid import Grid
from vgen_eval.results.tables.record import Cell

__all__ = ["mark_best"]

Place = tuple[int, int]


def mark_best(
    cells: Mapping[Place, Cell], grid: Grid, main: Sequence[Dimension]
) -> tuple[dict[Place, Cell], bool]:
    """The cells, the best of each comparison marked, and all whose interval holds that value.

    Ceilings and floors are never marked, nor an incomplete run's, nor one's of which no
    answer was scored, nor one value alone; nor any where no value has an interval: the second
    is whether there is such a comparison.
    """
    marked, too_few = dict(cells), False
    for group in _comparable(grid, main).values():
        able = {place: cells[place] for place in group if _is_ranked(cells[place])}
        if len(able) < 2:
            continue
        if any(cell.low is not None for cell in able.values()):
            marked |= _mark(able)
        else:
            too_few = True
    return marked, too_few


def _comparable(grid: Grid, main: Sequence[Dimension]) -> dict[Any, list[Place]]:
    """Places whose numbers differ in what is compared alone: in the model, or the prompt."""
    prompts = [dimension for dimension in main if dimension.kind == "prompt"]
    groups: dict[Any, list[Place]] = {}
    fields = list(dict.fromkeys(f for entry in grid.entries.values() for f in entry.facts))
    fixed = [f for f in fields if not is_of_model(f) and not accounts_for(prompts, f)]
    for place, entry in grid.entries.items():
        groups.setdefault((place[1], entry.key(fixed)), []).append(place)
    return groups


def _is_ranked(cell: Cell) -> bool:
    is_bound = cell.role in ("ceiling", "floor")
    is_of_answers = cell.complete and "unanswered" not in cell.marks
    return not is_bound and is_of_answers and cell.value is not None


def _mark(able: Mapping[Place, Cell]) -> dict[Place, Cell]:
    values = [cell.value for cell in able.values() if cell.value is not None]
    higher = next(iter(able.values())).measure.higher_is_better
    best = max(values) if higher else min(values)
    return {
        place: msgspec.structs.replace(cell, best=True)
        for place, cell in able.items()
        if cell.value == best
        or (cell.low is not None and cell.high is not None and cell.low <= best <= cell.high)
    }
