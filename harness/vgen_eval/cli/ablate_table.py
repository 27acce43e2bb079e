"""The table of an ablation, readable at 80 columns: a block a run, a line a value; then ranks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from vgen_eval.wording import plural

__all__ = ["table"]

Record = Mapping[str, Any]

COLUMNS = 80
LONGEST_VALUE = 24
MOST_SWAPS = 6


def table(record: Record) -> list[str]:
    """The lines that say what `describe_ablation` found."""
    from vgen_eval.cli import terminal
    from vgen_eval.engine.ablation import show_value

    values = [terminal.clip(show_value(value), LONGEST_VALUE) for value in record["values"]]
    lines = [
        f"{record['key']}: kept answers of {terminal.plural(len(record['runs']), 'run')} read under"
        f" {terminal.plural(len(values), 'value')}, no model asked",
        f"differences: to {values[0]}, paired by sample, with 95 % intervals",
    ]
    by_task = sorted(record["runs"], key=lambda run: _heading(run, record))
    for heading, runs in groupby(by_task, key=lambda run: _heading(run, record)):
        lines += ["", heading, *_block(list(runs), values)]
    for ranking in record["ranking"]:
        lines += ["", *_order(ranking, values)]
    if any(run["own"] is not None for run in record["runs"]):
        lines += ["", "* as the run itself is scored"]
    return lines


def _heading(run: Record, record: Record) -> str:
    cell = run["values"][0]
    task = cell["task"].partition("@")[0] if record["key"] == "protocol" else cell["task"]
    measures = {(c["metric"], c["unit"], c["higher_is_better"]) for c in run["values"]}
    told = "each protocol's own measure"
    if len(measures) == 1:
        unit = f" in {cell['unit']}" if cell["unit"] else ""
        better = "higher" if cell["higher_is_better"] else "lower"
        told = f"{cell['metric']}{unit}, {better} is better"
    return f"{task}   {told}   {plural(run['samples'], 'sample')}, {plural(run['groups'], 'group')}"


def _block(runs: Sequence[Record], values: Sequence[str]) -> list[str]:
    from vgen_eval.cli import terminal
    from vgen_eval.cli.numbers import number

    several = len({cell["metric"] for run in runs for cell in run["values"]}) > 1
    rows = [["", "measure" if several else "", "score", "difference", "n", "failed", "faults"]]
    notes: list[str] = []
    for run in runs:
        for at, cell in enumerate(run["values"]):
            counts = cell["counts"]
            faults = counts["infrastructure"] + counts["not_run"]
            rows.append(
                [
                    f"{values[at]}{' *' if at == run['own'] else ''}",
                    cell["metric"] if several else "",
                    number(cell["value"]),
                    "" if at == 0 else _gap(cell),
                    f"{cell['samples']:,}",
                    f"{counts['model_failure']:,}",
                    f"{faults:,}" if faults else "",
                ]
            )
            notes += _notes(cell, run["values"][0], values[at], is_base=at == 0)
    if not any(row[-1] for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    head, *body = terminal.layout(rows, right="llrlrrr", indent="    ")
    lines = [head]
    for at, run in enumerate(runs):  # its name may be longer than any value: it is no column
        lines.append(f"  {terminal.clean(run['label'])}")
        lines += body[at * len(values) : (at + 1) * len(values)]
    return lines + [line for note in dict.fromkeys(notes) for line in _wrap(note, 2)]


def _wrap(text: str, indent: int) -> list[str]:
    from vgen_eval.cli import terminal

    return textwrap.wrap(
        terminal.clean(text),
        COLUMNS,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_on_hyphens=False,
    )


def _gap(cell: Record) -> str:
    """ "+0.02 [0.01, 0.03]": the difference and its interval."""
    from vgen_eval.cli.numbers import number

    if cell["difference"] is None:
        return "-"
    told = f"{'+' if cell['difference'] > 0 else ''}{number(cell['difference'])}"
    interval = cell["interval"]
    if interval["low"] is None:
        return told
    return f"{told} [{number(interval['low'])}, {number(interval['high'])}]"


def _notes(cell: Record, base: Record, value: str, *, is_base: bool) -> Iterator[str]:
    """What has to be said of a number beside the number."""
    if not is_base and cell["interval"]["reason"]:
        what = "no difference" if cell["difference"] is None else "no interval"
        yield f"{what}: {cell['interval']['reason']}"
    common = cell["n"] < max(cell["samples"], base["samples"])
    if not is_base and cell["difference"] is not None and common:
        yield f"{value}: differences over the {plural(cell['n'], 'sample')} scored both ways"
    if cell["dropped_options"]:
        yield f"{value}: takes no {', '.join(cell['dropped_options'])}; left out"
    for fault in cell["faults"][:1]:
        yield f"{value}: {fault['attempts']:,} without a score: {fault['reason']}"


def _order(ranking: Record, values: Sequence[str]) -> Iterator[str]:
    from vgen_eval.cli import terminal

    labels = ranking["labels"]
    yield f"order of {len(labels)} runs, {ranking['task']}"
    for at, places in enumerate(ranking["places"]):
        if places is None:
            yield f"  {values[at]}: no order"
            continue
        by_place = sorted(zip(places, labels, strict=True))
        tied = groupby(by_place, key=lambda entry: entry[0])
        names = " > ".join(" = ".join(label for _, label in group) for _, group in tied)
        yield from _wrap(f"{values[at]}: {names}", 2)
        if at and ranking["moves"][at] is not None:
            yield from _wrap(_moved(ranking["moves"][at], labels), 6)
    for entry in ranking["left_out"]:
        yield f"  no place: {terminal.clean(entry['label'])} ({terminal.clean(entry['reason'])})"


def _moved(moves: Record, labels: Sequence[str]) -> str:
    from vgen_eval.cli.numbers import number

    tau = "-" if moves["tau"] is None else number(moves["tau"])
    told = f"tau-b {tau}, moved by {moves['largest']:g} at most"
    swaps = [f"{labels[a]} / {labels[b]}" for a, b in moves["swapped"]]
    if swaps:
        more = f" and {len(swaps) - MOST_SWAPS} more" if len(swaps) > MOST_SWAPS else ""
        told += f"; swapped: {', '.join(swaps[:MOST_SWAPS])}{more}"
    return told
