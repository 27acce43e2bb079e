"""`vgen-eval reproduce --dry-run`: what each cell would take, and what is missing for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vgen_eval.cli import terminal
from vgen_eval.cli.demands import Wanted, ask_demands
from vgen_eval.cli.dry_run import count_finished
from vgen_eval.cli.numbers import duration
from vgen_eval.cli.reproduce_table import beside
from vgen_eval.engine.estimates import Estimates
from vgen_eval.engine.plan import Job, Plan
from vgen_eval.engine.pricing import add_up, format_usd
from vgen_eval.results.published import Table
from vgen_eval.results.reproducing.asking import Asked
from vgen_eval.results.reproducing.finding import Library
from vgen_eval.results.reproducing.planning import Need, Outlook
from vgen_eval.results.reproducing.speeds import find_speed, how_to_measure

__all__ = ["show_outlook"]

Record = dict[str, Any]


def show_outlook(table: Table, outlook: Outlook, library: Library, *, as_json: bool) -> int:
    """Prints it and returns the exit code, 0."""
    plan = Plan(jobs=(), skipped=(), notices=(), models=outlook.models)
    wanted = ask_demands(plan, outlook.settings)
    estimates = Estimates(Path(outlook.settings.output))
    jobs = {str(job.path): _job(job, estimates, wanted) for _, js in outlook.groups for job in js}
    cells = [_cell(asked, outlook) for asked in outlook.asked]
    missing = list(dict.fromkeys(m for each in wanted.values() for m in each.missing))
    usd = [job["usd"] for job in jobs.values() if job["usd"] is not None]
    seconds = [job["seconds"] for job in jobs.values() if job["seconds"] is not None]
    record = {
        "target": table.name,
        "awaits": table.awaits,
        "cells": cells,
        "runs": list(jobs.values()),
        "calls": sum(job["calls"] for job in jobs.values()),
        "estimated_usd": float(add_up(usd)) if usd else None,
        "estimated_hours": round(sum(seconds) / 3600, 4) if seconds else None,
        "missing": missing,
        "faults": library.faults,
        "exit_code": 0,
    }
    if as_json:
        terminal.say_json(record)
        return 0
    _print(table, record, jobs)
    return 0


def _job(job: Job, estimates: Estimates, wanted: dict[int, Wanted]) -> Record:
    calls = job.size - count_finished(job)
    estimate = estimates.of(job)
    paid = wanted[id(job.model)].is_paid
    cost = estimate.cost(calls)
    return {
        "task": job.task.ref.label,
        "model": job.model.qualified,
        "prompt": job.variant,
        "samples": len(job.items),
        "calls": calls,
        "usd": cost if paid or estimate.call_usd is not None else 0.0,
        "seconds": estimate.seconds(calls),
        "missing": wanted[id(job.model)].missing_names,
        "run": str(job.path),
    }


def _cell(asked: Asked, outlook: Outlook) -> Record:
    record: Record = {
        "data": asked.row.data,
        "label": asked.cell.label,
        "values": list(asked.row.names(asked.cell)),
        "does": "nothing",
        "reason": asked.why_not,
        "reuses": [],
        "runs": [],
    }
    if not asked.parts:
        return record
    if asked.row.measure == "speed":
        speed = find_speed(asked.parts[0], Path(outlook.settings.output))
        if speed is None:
            return record | {"reason": how_to_measure(asked.parts[0])}
        return record | {"does": "reuse", "reuses": [speed.digest]}
    needs = outlook.of(asked)
    runs = [str(need.job.path) for need in needs if need.job is not None]
    reuses = [str(n.found.path) for n in needs if n.job is None and n.found is not None]
    lacking = [need for need in needs if need.job is None and need.found is None]
    does = "nothing" if lacking else "run" if runs else "reuse"
    reasons = dict.fromkeys(_why(need, several=len(needs) > 1) for need in lacking)
    return record | {
        "does": does,
        "reason": "; ".join(reasons) or None,
        "reuses": reuses,
        "runs": runs,
        "reads_again": any(map(_is_read_again, needs)),
    }


def _is_read_again(need: Need) -> bool:
    is_bare = need.job is not None or (need.found is not None and need.found.is_bare)
    return need.setting is not None and is_bare


def _why(need: Need, *, several: bool) -> str:
    return f"{need.part.ref.name}: {need.why_not}" if several else str(need.why_not)


def _print(table: Table, record: Record, jobs: dict[str, Record]) -> None:
    terminal.say(terminal.clean(f"{table.name}   {table.title}   dry run: nothing is called"))
    if table.awaits:
        terminal.say(terminal.clean(f"  not run: task not present: {table.awaits}"))
        return
    notes: list[str] = []
    rows = [["data", "model", "values", "calls", "price", "time", "what"]]
    for cell in record["cells"]:
        own = [jobs[path] for path in cell["runs"]]
        calls = sum(job["calls"] for job in own)
        rows.append(
            [
                cell["data"],
                cell["label"],
                ", ".join(cell["values"]),
                f"{calls:,}" if own else "",
                _price(own),
                _time(own),
                _what(cell, own, notes),
            ]
        )
    terminal.say(*terminal.layout(rows, right="lllrrrl", indent="  "))
    terminal.say(*(terminal.clean(f"  [{at}] {note}") for at, note in enumerate(notes, 1)))
    terminal.say("  " + _total(record))
    terminal.say(*(f"  missing: {terminal.clean(line)}" for line in record["missing"]))
    terminal.note(*(f"note: left out: {fault}" for fault in record["faults"]))


def _price(jobs: list[Record]) -> str:
    if any(job["usd"] is None for job in jobs):
        return "unknown"
    known = [job["usd"] for job in jobs if job["usd"]]
    return format_usd(add_up(known)) if known else ""


def _time(jobs: list[Record]) -> str:
    known = [job["seconds"] for job in jobs if job["seconds"] is not None]
    return duration(sum(known)) if known and len(known) == len(jobs) else ""


def _what(cell: Record, jobs: list[Record], notes: list[str]) -> str:
    if cell["does"] == "nothing":
        return beside("not run", cell["reason"], notes)
    reused = ", ".join(Path(path).name for path in cell["reuses"])
    word = f"reuse {reused}" if cell["does"] == "reuse" else "run"
    missing = list(dict.fromkeys(name for job in jobs for name in job["missing"]))
    word += f", missing {', '.join(missing)}" if missing else ""
    return f"{word}, read again" if cell.get("reads_again") else word


def _total(record: Record) -> str:
    parts = [f"total {terminal.plural(record['calls'], 'call')}"]
    if record["estimated_usd"]:
        parts.append(f"about {format_usd(record['estimated_usd'])}")
    if record["calls"]:
        hours = record["estimated_hours"]
        parts.append(f"about {duration(hours * 3600)}" if hours else "no measured rate yet")
    return ", ".join(parts)
