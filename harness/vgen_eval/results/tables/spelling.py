"""Numbers, heads and marks as all formats of a table show them."""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval.results.tables.record import MARKS, Cell, Head, Measure, Table

__all__ = [
    "all_decimals",
    "caption",
    "groups",
    "head_lines",
    "interval",
    "marks",
    "number",
    "own_measure",
    "sections",
]

ARROWS = {True: "↑", False: "↓"}


def all_decimals(table: Table) -> list[list[int | None]]:
    """Of each cell: one number of decimals for all numbers of a metric in one unit."""
    by_measure: dict[tuple[str, str], list[Cell]] = {}
    for _, _, cell in table.filled():
        by_measure.setdefault(_kind(cell), []).append(cell)
    found = {kind: _decimals(cells) for kind, cells in by_measure.items()}
    return [[None if cell is None else found[_kind(cell)] for cell in line] for line in table.cells]


def _kind(cell: Cell) -> tuple[str, str]:
    return cell.measure.metric, cell.measure.unit


def _decimals(cells: Sequence[Cell]) -> int | None:
    """How many decimals numbers of one kind have; None: too large or too small for any."""
    numbers = (n for cell in cells for n in (cell.value, cell.low, cell.high))
    sizes = [abs(number) for number in numbers if number is not None]
    largest = max(sizes, default=0.0)
    if largest == 0:
        return 3
    if largest >= 1e6 or largest < 1e-3:
        return None
    return next(
        count for least, count in ((1000, 0), (100, 1), (10, 2), (0.1, 3), (0, 4))
        if largest >= least
    )  # fmt: skip


def number(value: float, places: int | None) -> str:
    """With that many decimals; three significant figures for None."""
    text = f"{value:.2e}" if places is None else f"{value:.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def interval(cell: Cell, places: int | None) -> str:
    """[low, high]; "" where there is none."""
    if cell.low is None or cell.high is None:
        return ""
    return f"[{number(cell.low, places)}, {number(cell.high, places)}]"


def marks(cell: Cell) -> list[str]:
    """The footnote marks of a cell."""
    return [MARKS.get(mark, mark) for mark in cell.marks]


def own_measure(table: Table, row: Head, col: Head, cell: Cell) -> str:
    """What the cell measures, where no head says it."""
    told = row.measure or col.measure or any(head.measure for head in (*table.rows, *table.cols))
    return "" if told else f"{_measure(cell.measure)} "


def _measure(shown: Measure) -> str:
    """ "mae, objects ↓"."""
    unit = f", {shown.unit}" if shown.unit else ""
    return f"{shown.metric}{unit} {ARROWS[shown.higher_is_better]}"


def caption(table: Table, *, intervals: bool) -> list[str]:
    """The caption's lines; what brackets hold is said where there are some."""
    told = [table.brackets] if intervals and table.brackets else []
    return [table.caption[0], *told, *table.caption[1:]]


def head_lines(head: Head, axis: Sequence[str], *, grouped: bool = False) -> list[str]:
    """Labels, each thing that sets it apart, measure and n, each on a line of its own.

    `axis`: what the labels are, as the table's `rows_by` or `cols_by` has it. A metric that the
    measure names is said once; `grouped`: the first label stands above the group.
    """
    lines = []
    for at, (kind, label) in enumerate(zip(axis, head.labels, strict=True)):
        if (grouped and at == 0) or (kind == "metric" and head.measure is not None):
            continue
        bound = kind == "model" and head.role != "model"
        lines.append(f"{label} ({head.role})" if bound else label)
    lines += [f"{field}: {value}" for field, value in head.apart if field != "metric"]
    if head.measure is not None:
        lines.append(_measure(head.measure))
    if head.n is not None:
        lines.append(f"n {head.n}")
    return lines


def groups(heads: Sequence[Head], axis: Sequence[str]) -> list[tuple[str | None, list[int]]]:
    """Title and numbers of the heads that stand together: those of one task, by several things."""
    if len(axis) < 2 or axis[0] != "task":
        return [(None, list(range(len(heads))))]
    found: list[tuple[str | None, list[int]]] = []
    for at, head in enumerate(heads):
        if not found or found[-1][0] != head.labels[0]:
            found.append((head.labels[0], []))
        found[-1][1].append(at)
    return found


def sections(table: Table) -> list[list[int]]:
    """Numbers of the rows: models, then ceilings, then floors, each set apart from the others."""
    found: list[list[int]] = []
    for at, head in enumerate(table.rows):
        if not found or table.rows[found[-1][-1]].role != head.role:
            found.append([])
        found[-1].append(at)
    return found
