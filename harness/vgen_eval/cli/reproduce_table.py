"""A reproduced table in words: columns, notes below them, the difference report, its numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vgen_eval import jsonio
from vgen_eval.cli import terminal
from vgen_eval.exporting import csv_text
from vgen_eval.results.reproducing.digits import Digits, find_digits, spell
from vgen_eval.results.reproducing.record import ELSEWHERE, NOT_KNOWN
from vgen_eval.results.reproducing.sheet import Listing, Sheet

__all__ = ["as_csv", "beside", "sources", "table_sheet", "write_csv"]

Record = dict[str, Any]
HEAD = ("data", "model", "value", "paper", "ours", "95 % interval", "difference", "n", "verdict")
LEGEND = "ours with its 95 % interval; difference: ours less the paper's"
SHORT = 44
"""Columns of a reason that stands beside its verdict; longer ones stand below, by number."""
LONGEST = 70
"""Columns of a fact in the report."""
FIELDS = (
    "data", "label", "model", "value", "selection", "published", "tolerance", "ours", "low",
    "high", "difference", "n", "n_paper", "verdict", "number", "by", "reason", "source", "making",
    "runs", "report",
)  # fmt: skip


def table_sheet(record: Record) -> Sheet:
    """The table of a record, to be written in any format."""
    notes: list[str] = []
    digits = find_digits(record["cells"])
    pairs = zip(record["cells"], digits, strict=True)
    rows = tuple(tuple(_row(cell, places, notes)) for cell, places in pairs)
    counts = ", ".join(f"{count} {word}" for word, count in record["verdicts"].items())
    awaits = record["awaits"]
    remarks = [
        *([f"not run: task not present: {awaits}"] if awaits else []),
        *([record["note"]] if record["note"] else []),
        *record["notes"],
        *([LEGEND] if rows else []),
        *sources(record),
        *([counts] if counts else []),
    ]
    return Sheet(
        name=record["target"],
        title=record["title"],
        head=HEAD,
        rows=rows,
        right="lllrrlrrl",
        notes=tuple(f"[{at}] {note}" for at, note in enumerate(notes, 1)),
        listings=tuple(_report(record)),
        remarks=tuple(remarks),
    )


def sources(record: Mapping[str, Any]) -> list[str]:
    """Where the published figures are from."""
    arxiv = f", arXiv {record['arxiv']}" if record["arxiv"] else ""
    return [f"source: {record['source']}{arxiv}"]


def _row(cell: Record, digits: Digits, notes: list[str]) -> Iterator[str]:
    ours, published, places = cell["ours"], cell["published"], digits.ours
    yield cell["data"]
    yield cell["label"]
    best_of = "" if cell["selection"] == "mean" else f" {cell['selection']}"
    yield f"{cell['value']}{best_of}"
    yield "-" if published is None else spell(published, digits.published)
    yield "-" if ours is None else spell(ours["value"], places)
    has_one = ours is not None and ours["low"] is not None
    yield f"[{spell(ours['low'], places)}, {spell(ours['high'], places)}]" if has_one else ""
    yield "" if cell["difference"] is None else spell(cell["difference"], places, signed=True)
    yield "" if ours is None or ours["n"] is None else f"{ours['n']:,}"
    yield _verdict(cell, notes)


def _verdict(cell: Record, notes: list[str]) -> str:
    word, reason = cell["verdict"], cell["reason"]
    if word in ("approximate", "not comparable") and cell["number"]:
        word = f"{word}, {cell['number']} by number"
    if cell["ours"] is not None and cell["making"] == NOT_KNOWN:
        word = f"{word}, {ELSEWHERE}"
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


def _report(record: Record) -> Iterator[Listing]:
    """In what the runs of cells that are outside depart from the paper, a run once."""
    told = set()
    for cell in record["cells"]:
        key = (cell["data"], cell["label"])
        if cell["number"] != "outside" or key in told:
            continue
        told.add(key)
        word = "outside"
        if cell["verdict"] != word:
            word = f"{cell['verdict']} ({word} by number)"
        yield Listing(
            f"{cell['data']}, {cell['label']} is {word}{_how(cell)}",
            tuple(
                (each["field"], f"paper {_fact(each['paper'])}", f"ours {_fact(each['ours'])}")
                for each in cell["report"]
            ),
        )


def _how(cell: Record) -> str:
    departs = "departs from the paper in"
    if cell["making"] == NOT_KNOWN:
        how = f": {ELSEWHERE}, of whose making nothing is known"
        return f"{how}; what is known {departs}" if cell["report"] else how
    if cell["report"]:
        return f" and {departs}"
    if cell["verdict"] == "outside":
        return f" and {departs} nothing"
    # what the table says, or a run that is not complete: no field holds it
    return f": {cell['reason']}" if cell["reason"] else ""


def _fact(value: Any) -> str:
    text = value if isinstance(value, str) else jsonio.dumps(value).decode()
    return terminal.clip(terminal.clean(text), LONGEST)


def as_csv(record: Record) -> str:
    """One line a value, numbers in full."""
    return write_csv(FIELDS, map(_line, record["cells"]))


def _line(cell: Record) -> Record:
    ours = cell["ours"] or {}
    return {
        **cell,
        "ours": ours.get("value"),
        "low": ours.get("low"),
        "high": ours.get("high"),
        "n": ours.get("n"),
        "runs": " ".join(source["run"] for source in cell["sources"]),
        "report": jsonio.dumps(cell["report"]).decode() if cell["report"] else "",
    }


def write_csv(fields: Sequence[str], lines: Iterator[Record]) -> str:
    """The fields of each line; texts as a cell may hold them."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fields, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for line in lines:
        writer.writerow({key: csv_text(v) if isinstance(v, str) else v for key, v in line.items()})
    return stream.getvalue()
