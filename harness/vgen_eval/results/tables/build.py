"""Makes a table of runs: numbers in their places, the best of each comparison, footnotes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from vgen_eval.errors import UsageError
from vgen_eval.results.card import ResultCard
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.alike import keep_newest
from vgen_eval.results.tables.axes import Dimension, read_axes, role_of
from vgen_eval.results.tables.best import mark_best
from vgen_eval.results.tables.caption import tell_brackets, tell_numbers
from vgen_eval.results.tables.entries import Entry, read_entries
from vgen_eval.results.tables.grid import lay_out
from vgen_eval.results.tables.record import MARKS, Cell, Head, Measure, Note, Table

__all__ = ["make_table"]

Place = tuple[int, int]


def make_table(
    runs: Sequence[Run], *, rows: Sequence[str] = ("model",), cols: Sequence[str] = ("task",),
    metrics: Sequence[str] = (),
) -> Table:  # fmt: skip
    """The table of the runs' scores, laid out by `rows` and `cols` (see `axes.DIMENSIONS`).

    `metrics`: values to show, each run's primary when there are none. Results that differ in
    protocol, samples, prompt, answer form or data never share a column, and those of several
    tasks are laid out by task first. UsageError for an axis, a metric or a tag that there is not.
    """
    row_axis, col_axis = read_axes(rows, cols)
    if len(metrics) > 1 and not any(d.kind == "metric" for d in (*row_axis, *col_axis)):
        col_axis = (*col_axis, Dimension("metric"))
    entries, left_out = read_entries(runs, (*row_axis, *col_axis), metrics)
    if not entries:
        raise UsageError("there is no run to make a table of", cure="vgen-eval runs list")
    entries, alike = keep_newest(entries)
    if len({entry.run.card.task for entry in entries}) > 1:
        row_axis, col_axis = _by_task(row_axis, col_axis)
    turned = any(dimension.kind == "model" for dimension in col_axis)
    main, other = (col_axis, row_axis) if turned else (row_axis, col_axis)
    grid = lay_out(entries, main, other)
    cells = {place: _cell(entry) for place, entry in grid.entries.items()}
    cells, too_few = mark_best(cells, grid, main)
    cells, reasons = _number_reasons(cells)
    mains, others = _tell_shared(grid.main, grid.other, cells)
    lines = [[cells.get((m, o)) for o in range(len(others))] for m in range(len(mains))]
    if turned:
        lines = [list(line) for line in zip(*lines, strict=True)]
    return Table(
        rows_by=tuple(dimension.name for dimension in row_axis),
        cols_by=tuple(dimension.name for dimension in col_axis),
        rows=others if turned else mains,
        cols=mains if turned else others,
        cells=tuple(map(tuple, lines)),
        caption=tell_numbers(
            list(cells.values()), entries, (*row_axis, *col_axis), too_few=too_few
        ),
        brackets=tell_brackets(list(cells.values())),
        notes=(
            *_mark_notes(cells.values()), *reasons,
            *(Note("", text) for text in (*grid.notes, *alike, *left_out)),
        ),
    )  # fmt: skip


def _by_task(
    rows: tuple[Dimension, ...], cols: tuple[Dimension, ...]
) -> tuple[tuple[Dimension, ...], tuple[Dimension, ...]]:
    """The axes, by task where neither would say so: before metrics or tags, else across models."""
    kinds = [{dimension.kind for dimension in axis} for axis in (rows, cols)]
    if kinds[0] & {"task", "family"} or kinds[1] & {"task", "family"}:
        return rows, cols
    task = Dimension("task")
    parts = [bool(kind & {"metric", "tag"}) for kind in kinds]
    in_rows = parts[0] if parts[0] != parts[1] else "model" in kinds[1]
    return ((task, *rows), cols) if in_rows else (rows, (task, *cols))


def _cell(entry: Entry) -> Cell:
    card, score = entry.run.card, entry.score
    exposure = _exposure(card)
    # an interval of an incomplete run is of the part that there is
    marks = [
        *(["exposure"] if exposure else []),
        *([] if card.complete else ["incomplete"]),
        *(["unanswered"] if card.counts.answered == 0 and score.value is not None else []),
    ]
    return Cell(
        value=score.value,
        low=score.ci95.low if score.value is not None else None,
        high=score.ci95.high if score.value is not None else None,
        n=score.n,
        measure=Measure(
            metric=score.metric, unit=score.unit, higher_is_better=score.higher_is_better
        ),
        marks=tuple(marks),
        reason=None if score.value is not None else score.reason or "the card holds no value",
        subset=score.subset,
        model=card.model,
        role=role_of(card),
        task=card.task,
        protocol=card.protocol,
        prompt=card.prompt,
        answer=card.answer,
        complete=card.complete,
        exposure=exposure,
        run=card.run,
    )


def _exposure(card: ResultCard) -> tuple[str, ...]:
    """Who reports that the model was trained on this task's data, or its family's."""
    names = {card.task, card.task.rpartition("/")[0], card.task_info.get("family")}
    return tuple(
        f"{card.model}, {entry.get('task')}: {entry.get('source')}"
        for entry in card.model_info.get("exposure") or ()
        if entry.get("status") == "reported" and entry.get("task") in names
    )


# --- heads and notes


def _tell_shared(
    mains: Sequence[Head], others: Sequence[Head], cells: dict[Place, Cell]
) -> tuple[tuple[Head, ...], tuple[Head, ...]]:
    """Puts measure and n into the heads of the axis along which they are the same."""

    def groups(axis: int, count: int) -> list[list[Cell]]:
        return [[c for place, c in cells.items() if place[axis] == at] for at in range(count)]

    by_main, by_other = groups(0, len(mains)), groups(1, len(others))
    measures_other = [_one(group, lambda cell: cell.measure) for group in by_other]
    measures_main: list[Measure | None] = [None] * len(mains)
    if None in measures_other:
        measures_main = [_one(group, lambda cell: cell.measure) for group in by_main]
        if None not in measures_main:
            measures_other = [None] * len(others)
    in_main = len({_span(group) for group in by_main}) > 1 and all(
        len({cell.n for cell in group if cell.n}) == 1 for group in by_main
    ) and any(len({cell.n for cell in group if cell.n}) > 1 for group in by_other)  # fmt: skip
    return tuple(
        msgspec.structs.replace(head, measure=measure, n=_span(group) if in_main else None)
        for head, measure, group in zip(mains, measures_main, by_main, strict=True)
    ), tuple(
        msgspec.structs.replace(head, measure=measure, n=None if in_main else _span(group))
        for head, measure, group in zip(others, measures_other, by_other, strict=True)
    )


def _one(cells: Iterable[Cell], of: Callable[[Cell], Measure]) -> Measure | None:
    """What all cells that have a value share; those of a card without one know no unit."""
    cells = list(cells)
    found = {of(cell) for cell in cells if cell.value is not None} or {of(c) for c in cells}
    return found.pop() if len(found) == 1 else None


def _span(cells: Iterable[Cell]) -> str | None:
    counts = sorted({cell.n for cell in cells if cell.n})
    if not counts:
        return None
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"


def _number_reasons(cells: dict[Place, Cell]) -> tuple[dict[Place, Cell], list[Note]]:
    """Gives each reason for no value a letter, at its cells and in a note."""
    letters: dict[str, str] = {}
    marked = dict(cells)
    for place in sorted(cells):
        reason = cells[place].reason
        if reason is not None:
            letter = letters.setdefault(reason, _letter(len(letters)))
            marks = (*cells[place].marks, letter)
            marked[place] = msgspec.structs.replace(cells[place], marks=marks)
    return marked, [Note(letter, f"no value: {reason}") for reason, letter in letters.items()]


def _letter(number: int) -> str:
    text = ""
    while number >= 0:
        text, number = chr(ord("a") + number % 26) + text, number // 26 - 1
    return text


def _mark_notes(cells: Iterable[Cell]) -> list[Note]:
    cells = list(cells)
    sources = dict.fromkeys(source for cell in cells for source in cell.exposure)
    notes = [Note(MARKS["exposure"], f"trained on such data, as reported: {s}") for s in sources]
    count = sum(not cell.complete for cell in cells)
    if count:
        notes.append(Note(MARKS["incomplete"], "the run is incomplete, and not ranked"))
    if any("unanswered" in cell.marks for cell in cells):
        told = "no answer of the run was scored: the value is that of failures, and not ranked"
        notes.append(Note(MARKS["unanswered"], told))
    return notes
