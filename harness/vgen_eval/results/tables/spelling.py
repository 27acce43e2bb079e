"""Numbers, heads and marks as all formats of a table show them."""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval.results.tables.record import MARKS, Cell, Head, Measure, Table

__all__ = ["all_decimals", "head_lines", "interval", "marks", "number", "own_measure", "sections"]

ARROWS = {True: "↑", False: "↓"}


def all_decimals(table: Table) -> list[list[int | None]]:
    """Of each cell: as its column has them, or its row, whichever shares one measure."""
    by_col = [_decimals([line[at] for line in table.cells]) for at in range(len(table.cols))]
    found = []
    for row, line in zip(table.rows, table.cells, strict=True):
        by_row = _decimals(line)
        found.append(
            [
                by_col[at] if col.measure else by_row if row.measure else _decimals([line[at]])
                for at, col in enumerate(table.cols)
            ]
        )
    return found


def _decimals(cells: Sequence[Cell | None]) -> int | None:
    """How many decimals the numbers of one column have; None: too large or too small for any."""
    numbers = (n for cell in cells if cell is not None for n in (cell.value, cell.low, cell.high))
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


def head_lines(head: Head) -> list[str]:
    """Labels, each thing that sets it apart, measure and n, each on a line of its own."""
    lines = [*head.labels, *(f"{field}: {value}" for field, value in head.apart)]
    if head.role != "model":
        lines[0] += f" ({head.role})"
    if head.measure is not None:
        lines.append(_measure(head.measure))
    if head.n is not None:
        lines.append(f"n {head.n}")
    return lines


def sections(table: Table) -> list[list[int]]:
    """Numbers of the rows: models, then ceilings, then floors, each set apart from the others."""
    found: list[list[int]] = []
    for at, head in enumerate(table.rows):
        if not found or table.rows[found[-1][-1]].role != head.role:
            found.append([])
        found[-1].append(at)
    return found
