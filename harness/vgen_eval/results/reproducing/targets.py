"""The tables that can be reproduced: those that ship, and files of the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vgen_eval import cards
from vgen_eval.cards.problems import Problems, join, join_index
from vgen_eval.cards.records import ProtocolCard
from vgen_eval.cards.yaml_nodes import read_text
from vgen_eval.distributions import home_of
from vgen_eval.engine.naming import TaskRef, expand_tasks
from vgen_eval.errors import UsageError, VgenEvalError, nearest
from vgen_eval.results.published import Row, Table, find_table, read_table
from vgen_eval.results.reproducing.model_names import Brought, find_model, no_models

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["SPEEDS", "check_row", "check_table", "find_refs", "open_target", "row_protocol"]

SPEEDS = ("images_per_minute", "images_per_minute_decoded", "allocator_peak_mib",
          "nvml_process_peak_mib")  # fmt: skip
"""What a row of speeds may report: fields of an efficiency record."""

PREFIX = "protocol."


def open_target(word: str, catalog: Catalog, brought: Brought = no_models) -> Table:
    """The table that PAPER:TABLE or a YAML file means, all that it names being there.

    `brought`: models that runs are here of, which need no card.

    UsageError with the nearest name; CardError with every fault, file and line.
    """
    if word.endswith((".yaml", ".yml")):
        path = Path(word).expanduser()
        problems = Problems(str(path))
        _check_readable(path)
        table, rows, lines = read_table(read_text(path), problems)
    else:
        try:
            table = find_table(word)
        except UsageError as exc:
            own = f"{word}.yaml" if Path(f"{word}.yaml").is_file() else "FILE.yaml"
            raise UsageError(
                exc.what, cure=f"vgen-eval reproduce list shows them; a table of your own is {own}"
            ) from exc
        problems = Problems(f"{table.paper}/{table.table}.yaml")
        rows, lines = dict(enumerate(table.rows)), {}
    for at, row in rows.items():
        check_row(row, join_index("rows", at), catalog, problems, lines, brought)
    problems.check()
    assert table is not None
    return table


def _check_readable(path: Path) -> None:
    """UsageError, with the cure, where the file cannot be opened."""
    try:
        with path.open("rb"):
            return
    except OSError as exc:
        cure = "mend its permissions"
        if isinstance(exc, (FileNotFoundError, IsADirectoryError, NotADirectoryError)):
            cure = (
                "give the file of a table of your own (docs/reproduce.md says what is in it) or a "
                "PAPER:TABLE; vgen-eval reproduce list shows them"
            )
        raise UsageError(f"{path}: cannot be read: {exc.strerror or exc}", cure=cure) from exc


def check_table(table: Table, catalog: Catalog) -> None:
    """CardError with all that a table names and that is not there."""
    problems = Problems(f"{table.paper}/{table.table}.yaml")
    for at, row in enumerate(table.rows):
        check_row(row, join_index("rows", at), catalog, problems, {})
    problems.check()


def check_row(
    row: Row, path: str, catalog: Catalog, problems: Problems, lines: Mapping[str, int],
    brought: Brought = no_models,
) -> None:  # fmt: skip
    """Notes what of a row's task, protocol, settings, models and values is not there."""

    def fault(below: str, message: str) -> None:
        place = f"{path}.{below}"
        line = lines.get(place, lines.get(path))
        problems.add(message, line=line, path=place)

    for at, cell in enumerate(row.cells):
        if cell.model is not None:
            try:
                find_model(cell.model, catalog, brought)
            except VgenEvalError as exc:
                fault(f"cells[{at}].model", f"{exc.what} ({exc.cure})" if exc.cure else exc.what)
    names = {name for cell in row.cells for name in row.names(cell)}
    place = "mean_of" if row.mean_of else "task"
    try:
        refs = find_refs(row, catalog)
        for ref in refs:
            cards.protocol(ref.card, ref.protocol)
    except VgenEvalError as exc:
        fault("protocol" if "has no protocol" in exc.what else place, exc.what)
        return
    if row.measure == "speed":
        for name in sorted(names - set(SPEEDS)):
            fault(_place_of(row, name), f"no speed is called '{name}'.{nearest(name, SPEEDS)}")
        return
    for ref in refs:
        for below, message in _faults(row, ref, names, catalog):
            fault(below, f"{ref.label}: {message}")
        for at, cell in enumerate(row.cells):
            try:
                row_protocol(row.of(cell), ref, catalog)
            except VgenEvalError as exc:
                if cell.set:  # else it was told of the row
                    fault(f"cells[{at}].set", f"{ref.label}: {exc.what}")


def _faults(row: Row, ref: TaskRef, names: set[str], catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Place and message of what a row asks of a task and the task does not have."""
    try:
        protocol = row_protocol(row, ref, catalog)
        known = _values_of(protocol, ref, catalog)
    except VgenEvalError as exc:
        yield "set", exc.what
        return
    for name in sorted(names - known):
        yield _place_of(row, name), f"reports no '{name}'.{nearest(name, known)}"
    forms = [answer.form for answer in protocol.answers]
    if row.answer is not None and row.answer not in forms:
        yield "answer", f"takes no {row.answer} (only {', '.join(forms)})"
    variants = {variant for answer in protocol.answers for variant in answer.prompt}
    if row.prompt is not None and row.prompt not in variants:
        have = ", ".join(sorted(variants)) or "none"
        yield "prompt", f"no prompt variant '{row.prompt}' (there is: {have})"


def _place_of(row: Row, name: str) -> str:
    """Where a row names a value."""
    if name in row.reports:
        return "reports"
    at = next(at for at, cell in enumerate(row.cells) if name in cell.values)
    return join(f"cells[{at}].values", name)


def find_refs(row: Row, catalog: Catalog) -> tuple[TaskRef, ...]:
    """The tasks that a row is measured on; none where it names none. UsageError, CardError."""
    words = row.mean_of
    if row.task is not None and row.protocol is not None:
        words = (f"{row.task}@{row.protocol}",)
    refs = []
    for word in words:
        (ref,) = expand_tasks([word], catalog, notices=[])
        refs.append(ref)
    return tuple(refs)


def row_protocol(row: Row, ref: TaskRef, catalog: Catalog) -> ProtocolCard:
    """The protocol of a row, with what it sets; UsageError for what cannot be set."""
    own = cards.protocol(ref.card, ref.protocol)
    strange = next((key for key in row.set if not key.startswith(PREFIX)), None)
    if strange is not None:
        raise UsageError(f"{strange}: a row sets what is of its protocol: {PREFIX}...")
    if not row.set:
        return own
    found = cards.override(own, {k.removeprefix(PREFIX): v for k, v in row.set.items()})
    home = home_of(ref.distribution)
    cards.check_setting(ref.card, own, found, catalog, label=ref.label, home=home)
    return found


def _values_of(protocol: ProtocolCard, ref: TaskRef, catalog: Catalog) -> set[str]:
    """What the metrics of a protocol report."""
    home = home_of(ref.distribution)
    found: set[str] = set()
    for metric in protocol.metrics:
        prefix = f"{metric.label}." if metric.label else ""
        component = catalog.component("metric", metric.name, home=home)
        found |= {prefix + value.name for value in component.obj.values}
    return found
