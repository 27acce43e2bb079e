"""Speeds of a table, from the efficiency records of `vgen-eval bench`."""

from __future__ import annotations

from pathlib import Path

from vgen_eval.results.bench import BenchRecord, read_records
from vgen_eval.results.published import Row
from vgen_eval.results.reproducing.asking import Part
from vgen_eval.results.reproducing.departures import Departure
from vgen_eval.results.reproducing.verdicts import Measured

__all__ = ["find_speed", "how_to_measure", "read_speed", "speed_departures"]

LONG_SIDE = 1024


def find_speed(part: Part, output: Path) -> BenchRecord | None:
    """The newest record of the model on the task that measured anything; None without one."""
    folder = part.model.as_model().folder
    records = read_records(output / "bench" / folder)
    timed = [
        record
        for record in records
        if record.generate is not None and record.task.rpartition(":")[2] == part.ref.name
    ]
    return timed[-1] if timed else None


def read_speed(record: BenchRecord, value: str) -> Measured | None:
    """The record's number of a value; it has no interval."""
    if value.startswith("images_per_minute"):
        number, unit = getattr(record, value), "images/min"
    else:
        number, unit = getattr(record.memory, value), "MiB"
    if number is None:
        return None
    return Measured(
        value=number,
        n=record.calls.answered,
        unit=unit,
        higher_is_better=unit != "MiB",
        no_interval="a rate has none",
    )


def speed_departures(row: Row, record: BenchRecord) -> tuple[Departure, ...]:
    """Another machine, batch or size of pictures than the paper's."""
    found = []
    told = str(record.hardware).lower()
    if row.machine is not None and row.machine.rpartition(" ")[2].lower() not in told:
        machine = record.hardware.get("accelerators") or record.hardware.get("processor")
        found.append(Departure("hardware", row.machine, machine))
    if record.batch != 1:
        found.append(Departure("batch", 1, record.batch))
    long_side = record.input.get("asked_long_side")
    if long_side != LONG_SIDE:
        found.append(Departure("input.long_side", LONG_SIDE, long_side))
    return tuple(found)


def how_to_measure(part: Part) -> str:
    """The command that makes the record."""
    return f"not measured: vgen-eval bench --model {part.model.word} --task {part.word}"
