"""The figures that papers print, as data: of which table and protocol, and how they compare."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal

import msgspec

from vgen_eval.cards.problems import Problems
from vgen_eval.cards.walk import walk_record
from vgen_eval.cards.yaml_nodes import compose
from vgen_eval.errors import UsageError, nearest
from vgen_eval.types import AnswerForm

__all__ = ["Cell", "Row", "Table", "find_table", "load_published", "read_table"]

Comparability = Literal["comparable", "approximate", "not_comparable"]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of a table: immutable, unknown keys refused."""


class Cell(Record, frozen=True, kw_only=True):
    """One model's figures."""

    label: str
    """As the paper names it."""
    model: str | None = None
    """Its model card; None where there is none, or the paper does not name it."""
    values: Mapping[str, float] = {}
    """Value of ours -> figure in its unit: shares in 0..1, metres, degrees, counts."""
    set: Mapping[str, Any] = {}
    """What of the protocol is another for this model alone, over what the row sets."""
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
    mean_of: tuple[str, ...] = ()
    """task@protocol of several sets, where the figure is the mean of theirs."""
    prompt: str | None = None
    """The prompt's variant, where a table compares them."""
    answer: AnswerForm | None = None
    """The answer's form, where the protocol takes several and the figures are of one."""
    subset: Annotated[str, msgspec.Meta(pattern=r"^(all|[^=]+=.+)$")] = "all"
    """The samples of one tag, as a result card names them: type=how."""
    set: Mapping[str, Any] = {}
    """What of the protocol is another here, as `--set` takes it: protocol.answers.0.options.x."""
    selection: Annotated[str, msgspec.Meta(pattern=r"^(mean|best_of_[1-9][0-9]*)$")] = "mean"
    """Of several attempts: their mean, or the best of the first p."""
    reports: tuple[str, ...] = ()
    """Values that the table has of every cell, known here or not."""
    measure: Literal["score", "speed"] = "score"
    """Numbers of runs, or of `vgen-eval bench`."""
    machine: str | None = None
    """Where the paper measured its speed."""
    versions: Mapping[str, str] = {}
    """Libraries whose versions the paper states."""
    n_paper: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Samples, as the paper says."""
    tag: Literal["S", "C", "W"]
    """Read in the paper's text, in its public code or files, or on another public page."""
    tolerance: Mapping[str, Annotated[float, msgspec.Meta(ge=0)]] = {}
    """Of each figure: half a step of the last digit printed."""
    comparability: Comparability
    reason: str | None = None
    """Why ours would differ although nothing is wrong."""
    cells: Annotated[tuple[Cell, ...], msgspec.Meta(min_length=1)]

    @property
    def least_attempts(self) -> int:
        """Of each sample, for its selection to have a number."""
        return 1 if self.selection == "mean" else int(self.selection.removeprefix("best_of_"))

    def of(self, cell: Cell) -> Row:
        """The row as one of its cells has it: with what the cell sets."""
        if not cell.set:
            return self
        return msgspec.structs.replace(self, set={**self.set, **cell.set})

    def names(self, cell: Cell) -> tuple[str, ...]:
        """The values of a cell, those without a figure too."""
        return tuple(dict.fromkeys((*self.reports, *cell.values)))


class Table(Record, frozen=True, kw_only=True):
    """A table of a paper."""

    paper: str
    table: str
    also: tuple[str, ...] = ()
    """Other names of it, after the colon."""
    title: str
    source: str
    arxiv: str | None = None
    note: str | None = None
    awaits: str | None = None
    """The task that is not there yet, where a table has no rows for that reason."""
    rows: tuple[Row, ...] = ()

    @property
    def name(self) -> str:
        """PAPER:TABLE."""
        return f"{self.paper}:{self.table}"


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
    table, _, lines = read_table(text, problems)
    if table is not None and f"{table.paper}/{table.table}.yaml" != name:
        problems.add("paper and table name another file", line=lines.get("table"))
    problems.check()
    assert table is not None
    return table


def read_table(
    text: str, problems: Problems
) -> tuple[Table | None, dict[int, Row], Mapping[str, int]]:
    """The table, its readable rows by place, and path -> line; faults go to `problems`.

    None for the table, and fewer rows, where the schema is broken.
    """
    node, lines = compose(text, problems)
    data = walk_record(Table, node, problems)
    rows: dict[int, Row] = {}
    listed = data.get("rows") if isinstance(data, dict) else None
    for at, row in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
        try:
            rows[at] = msgspec.convert(row, Row)
        except msgspec.ValidationError:  # its faults are told already
            continue
        _check_row(rows[at], f"rows[{at}]", problems, lines)
    if not problems.found:
        table = msgspec.convert(data, Table)
        if not table.rows and not table.awaits:
            problems.add("a table has rows, or says which task it awaits", line=lines.get("table"))
        return table, rows, lines
    return None, rows, lines


def _check_row(row: Row, path: str, problems: Problems, lines: Mapping[str, int]) -> None:
    """What of a row contradicts itself."""

    def fault(message: str, below: str = "") -> None:
        place = f"{path}.{below}" if below else path
        line = lines.get(place, lines.get(path))
        problems.add(f"{row.data}: {message}", line=line, path=place)

    values = {value for cell in row.cells for value in cell.values}
    if without := sorted(values - row.tolerance.keys()):
        fault(
            f"`tolerance` has to give {', '.join(without)}: half a step of the last digit printed "
            "(0.05 for 2.0), as the figure may be off by its rounding",
            "tolerance",
        )
    if needless := sorted(row.tolerance.keys() - values):
        fault(f"`tolerance` of {', '.join(needless)}: no cell has such a value", "tolerance")
    levels: tuple[Row | Cell, ...] = (row, *row.cells)
    if any(e.comparability not in (None, "comparable") and not e.reason for e in levels):
        fault("what does not compare needs a reason", "comparability")
    if row.mean_of and (row.task or row.protocol):
        fault("`mean_of` names the tasks: no `task` or `protocol` beside it", "mean_of")
    for at, word in enumerate(row.mean_of):
        if word in row.mean_of[:at]:
            fault(f"'{word}' is named twice; a mean has each set once", f"mean_of[{at}]")
    for at, cell in enumerate(row.cells):
        if not row.names(cell):
            fault("neither `values` nor `reports` says what is measured", f"cells[{at}]")


def find_table(name: str) -> Table:
    """The table `paper:table`; UsageError with the nearest."""
    known = {
        f"{table.paper}:{word}": table
        for table in load_published()
        for word in (table.table, *table.also)
    }
    if name not in known:
        raise UsageError(f"no published table '{name}'.{nearest(name, known)}")
    return known[name]
