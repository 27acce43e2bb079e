"""What stands below a table: what its numbers are, what brackets hold, what is marked."""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval.results.tables.axes import Dimension
from vgen_eval.results.tables.entries import Entry
from vgen_eval.results.tables.record import Cell
from vgen_eval.wording import plural

__all__ = ["tell_brackets", "tell_numbers"]


def tell_numbers(
    cells: Sequence[Cell], entries: Sequence[Entry], axes: Sequence[Dimension], *, too_few: bool
) -> tuple[str, ...]:
    """The caption; `too_few`: some comparison has no interval, so that nothing is marked in it."""
    lines = ["Over all samples asked, a model failure scored as its protocol says."]
    tasks = {entry.run.task for entry in entries}
    if len(tasks) == 1 and not any(dimension.kind == "task" for dimension in axes):
        lines.append(f"Task: {tasks.pop()}.")  # no head says it
    if any(cell.best for cell in cells):
        lines.append(
            "Marked: the best of those that can be compared, and each whose interval holds the "
            "best value."
        )
    if too_few:
        lines.append("No best is marked where groups are too few for an interval.")
    kinds = {cell.role for cell in cells} & {"ceiling", "floor"}
    if kinds and any(cell.best for cell in cells):
        lines.append(f"Never marked: {' and '.join(sorted(kinds))}.")
    return tuple(lines)


def tell_brackets(cells: Sequence[Cell]) -> str:
    """What the brackets hold, and of how many values there are none."""
    missing = sum(cell.low is None and cell.value is not None for cell in cells)
    if not any(cell.low is not None for cell in cells):
        return "No value has a 95 % interval, mostly for want of groups." if missing else ""
    told = "In brackets 95 % intervals, bootstrapped over groups of samples"
    if missing:
        told += f"; {plural(missing, 'value')} without one, mostly for want of groups"
    return f"{told}."
