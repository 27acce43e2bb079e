"""A reproduced table for people: columns, notes below them, and the difference report."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from vgen_eval import jsonio
from vgen_eval.cli import terminal
from vgen_eval.cli.numbers import number

__all__ = ["beside", "show_record"]

Record = dict[str, Any]
HEAD = ("data", "model", "value", "paper", "ours", "95 % interval", "difference", "n", "verdict")
SHORT = 44
"""Columns of a reason that stands beside its verdict; longer ones stand below, by number."""
LONGEST = 70
"""Columns of a fact in the report."""


def show_record(record: Record, form: str) -> None:
    """Prints the table."""
    if form == "csv":
        terminal.say_text(_as_csv(record))
        return
    notes: list[str] = []
    rows = [list(_row(cell, notes)) for cell in record["cells"]]
    if form == "markdown":
        terminal.say(*_as_markdown(record, rows, notes))
        return
    terminal.say(terminal.clean(f"{record['target']}   {record['title']}"))
    if record["awaits"]:
        terminal.say(terminal.clean(f"  not run: task not present: {record['awaits']}"))
        return
    _blank_repeats(rows)
    lines = terminal.layout([list(HEAD), *rows], right="lllrrlrrl", indent="  ")
    terminal.say(*lines)
    terminal.say(*(terminal.clean(f"  [{at}] {note}") for at, note in enumerate(notes, 1)))
    if record["note"]:
        terminal.say(terminal.clean(f"  {record['note']}"))
    terminal.say(*map(terminal.clean, _report(record)))
    counts = ", ".join(f"{count} {word}" for word, count in record["verdicts"].items())
    terminal.say(f"  {counts}")


def _row(cell: Record, notes: list[str]) -> Iterator[str]:
    ours = cell["ours"]
    yield cell["data"]
    yield cell["label"]
    best_of = "" if cell["selection"] == "mean" else f" {cell['selection']}"
    yield f"{cell['value']}{best_of}"
    yield _figure(cell["published"], cell["tolerance"])
    yield "-" if ours is None else number(ours["value"])
    has_one = ours is not None and ours["low"] is not None
    yield f"[{number(ours['low'])}, {number(ours['high'])}]" if has_one else ""
    yield "" if cell["difference"] is None else f"{cell['difference']:+.3g}"
    yield "" if ours is None or ours["n"] is None else f"{ours['n']:,}"
    yield _verdict(cell, notes)


def _figure(value: float | None, tolerance: float | None) -> str:
    """A published figure with as many digits as were printed."""
    if value is None:
        return "-"
    digits, step = 0, 2 * (tolerance or 0.5)
    while step < 1 - 1e-9 and digits < 6:
        step, digits = step * 10, digits + 1
    return f"{value:.{digits}f}"


def _verdict(cell: Record, notes: list[str]) -> str:
    word, reason = cell["verdict"], cell["reason"]
    if word in ("approximate", "not comparable") and cell["number"]:
        word = f"{word}, {cell['number']} by number"
    return beside(str(word), reason, notes)


def beside(word: str, reason: str | None, notes: list[str]) -> str:
    """The word with its reason, or with the number of a note that holds it."""
    if not reason:
        return word
    if len(reason) <= SHORT:
        return f"{word}: {reason}"
    if reason not in notes:
        notes.append(reason)
    return f"{word} [{notes.index(reason) + 1}]"


def _blank_repeats(rows: Sequence[list[str]]) -> None:
    """What stands in the row above already is left out."""
    before: list[str] = ["", ""]
    for row in rows:
        own = row[:2]
        if own[0] == before[0]:
            row[0] = ""
            if own[1] == before[1]:
                row[1] = ""
        before = own


def _report(record: Record) -> Iterator[str]:
    """In what the runs of cells that are outside depart from the paper, a run once."""
    told = set()
    for cell in record["cells"]:
        key = (cell["data"], cell["label"])
        if cell["number"] != "outside" or key in told:
            continue
        told.add(key)
        how = "departs from the paper in" if cell["report"] else "departs from the paper in nothing"
        yield f"  {cell['data']}, {cell['label']} is outside and {how}"
        rows = [
            [each["field"], f"paper {_fact(each['paper'])}", f"ours {_fact(each['ours'])}"]
            for each in cell["report"]
        ]
        yield from terminal.layout(rows, indent="    ")


def _fact(value: Any) -> str:
    text = value if isinstance(value, str) else jsonio.dumps(value).decode()
    return terminal.clip(terminal.clean(text), LONGEST)


def _as_markdown(
    record: Record, rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> Iterator[str]:
    yield f"**{record['target']}** {terminal.clean(record['title'])}"
    yield ""
    if record["awaits"]:
        yield f"not run: task not present: {record['awaits']}"
        return
    for line in (HEAD, ["---"] * len(HEAD), *rows):
        yield "| " + " | ".join(terminal.clean(word).replace("|", "\\|") for word in line) + " |"
    for at, note in enumerate(notes, 1):
        yield from ("", f"[{at}] {terminal.clean(note)}")


def _as_csv(record: Record) -> str:
    fields = (
        "data", "label", "model", "value", "selection", "published", "tolerance", "ours", "low",
        "high", "difference", "n", "n_paper", "verdict", "number", "by", "reason", "runs", "report",
    )  # fmt: skip
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fields, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for cell in record["cells"]:
        ours = cell["ours"] or {}
        writer.writerow(
            {
                **{key: terminal.clean(v) if isinstance(v, str) else v for key, v in cell.items()},
                "ours": ours.get("value"),
                "low": ours.get("low"),
                "high": ours.get("high"),
                "n": ours.get("n"),
                "runs": " ".join(source["run"] for source in cell["sources"]),
                "report": jsonio.dumps(cell["report"]).decode() if cell["report"] else "",
            }
        )
    return stream.getvalue()
