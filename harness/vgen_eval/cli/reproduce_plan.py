"""`vgen-eval reproduce --dry-run`: what each cell would take, and what is missing for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from vgen_eval.cli import terminal
from vgen_eval.cli.demands import Wanted, ask_demands
from vgen_eval.cli.dry_run import count_finished
from vgen_eval.cli.numbers import duration
from vgen_eval.cli.reproduce_table import beside, sources, write_csv
from vgen_eval.engine.estimates import Estimates
from vgen_eval.engine.plan import Job, Plan
from vgen_eval.engine.pricing import add_up, format_usd, is_paid
from vgen_eval.results.published import Table
from vgen_eval.results.reproducing.asking import Asked
from vgen_eval.results.reproducing.finding import Library
from vgen_eval.results.reproducing.planning import Need, Outlook, note_whole_runs
from vgen_eval.results.reproducing.record import ELSEWHERE
from vgen_eval.results.reproducing.sheet import Sheet
from vgen_eval.results.reproducing.speeds import find_speed, how_to_measure

__all__ = ["show_outlook"]

Record = dict[str, Any]
STAR = "*"
MODEL = "the model"
FIELDS = (
    "data", "label", "values", "does", "calls", "usd", "hours", "if_data_were_here", "reuses",
    "source", "runs", "reads_again", "missing", "reason",
)  # fmt: skip


def show_outlook(
    table: Table, outlook: Outlook, library: Library, *, show: Callable[..., None], as_json: bool,
    is_apart: bool,
) -> int:  # fmt: skip
    """Prints it and returns the exit code, 0; `is_apart`: notes go to stderr too."""
    plan = Plan(jobs=(), skipped=(), notices=(), models=outlook.models)
    wanted = ask_demands(plan, outlook.settings)
    estimates = Estimates(Path(outlook.settings.output))
    runs = {}
    for job in (job for _, jobs in outlook.groups for job in jobs):
        calls = job.size - count_finished(job)
        entry = _entry(job, len(job.items), calls, estimates, wanted)
        runs[str(job.path)] = entry | {"run": str(job.path)}
    supposed = {
        each.key: _entry(each.job, each.samples, each.calls, estimates, wanted)
        for each in (need.supposed for need in outlook.needs.values())
        if each is not None
    }
    cells = [_cell(asked, outlook, runs, supposed) for asked in outlook.asked]
    missing = [m for each in wanted.values() for m in each.missing]
    missing += [n.model_fault for n in outlook.needs.values() if n.model_fault is not None]
    record = {
        "target": table.name,
        "title": table.title,
        "source": table.source,
        "arxiv": table.arxiv,
        "awaits": table.awaits,
        "cells": cells,
        "runs": list(runs.values()),
        **_sum(runs.values()),
        "if_data_were_here": {"runs": list(supposed.values()), **_sum(supposed.values())},
        "missing": list(dict.fromkeys(missing)),
        "notes": note_whole_runs(outlook),
        "faults": library.faults,
        "exit_code": 0,
    }
    show(_sheet(record), write_csv(FIELDS, map(_line, cells)))
    if as_json:
        terminal.say_json(record)
    terminal.note(*(f"note: {note}" for note in record["notes"] if is_apart))
    terminal.note(*(f"note: left out: {fault}" for fault in record["faults"]))
    return 0


def _entry(
    job: Job, samples: int | None, calls: int | None, estimates: Estimates,
    wanted: dict[int, Wanted],
) -> Record:  # fmt: skip
    """A run: what its calls cost and take, None where that is not known."""
    estimate = estimates.of(job)
    own = wanted.get(id(job.model))  # none of a model that cannot be had here
    is_service = is_paid(job.model.card, None) if own is None else own.is_paid
    has_price = is_service or estimate.call_usd is not None
    return {
        "task": job.task.ref.label,
        "model": job.model.qualified,
        "prompt": job.variant,
        "samples": samples,
        "calls": calls,
        "usd": 0.0 if not has_price else None if calls is None else estimate.cost(calls),
        "seconds": None if calls is None else estimate.seconds(calls),
        "missing": [] if own is None else own.missing_names,
    }


def _sum(runs: Iterable[Record]) -> Record:
    """Of what is known of several runs; None where nothing is."""
    each = list(runs)
    calls = [run["calls"] for run in each if run["calls"] is not None]
    usd = [run["usd"] for run in each if run["usd"] is not None]
    seconds = [run["seconds"] for run in each if run["seconds"] is not None]
    return {
        "calls": sum(calls),
        "estimated_usd": float(add_up(usd)) if usd else None,
        "estimated_hours": round(sum(seconds) / 3600, 4) if seconds else None,
        "without_price": sum(run["usd"] is None for run in each),
        "without_rate": sum(run["seconds"] is None and run["calls"] != 0 for run in each),
    }


def _cell(
    asked: Asked, outlook: Outlook, jobs: dict[str, Record], supposed: dict[str, Record]
) -> Record:
    record: Record = {
        "data": asked.row.data,
        "label": asked.cell.label,
        "values": list(asked.row.names(asked.cell)),
        "does": "nothing",
        "reason": asked.why_not,
        "reuses": [],
        "source": None,
        "runs": [],
        "reads_again": False,
        "calls": None,
        "usd": None,
        "seconds": None,
        "if_data_were_here": False,
        "missing": [],
    }
    if not asked.parts:
        return record
    if asked.row.measure == "speed":
        speed = find_speed(asked.parts[0], Path(outlook.settings.output))
        if speed is None:
            return record | {"reason": how_to_measure(asked.parts[0])}
        return record | {"does": "reuse", "reuses": [speed.digest], "source": "bench"}
    needs = outlook.of(asked)
    runs = list(dict.fromkeys(str(need.job.path) for need in needs if need.job is not None))
    reused = [n.found for n in needs if n.job is None and n.found is not None]
    lacking = [need for need in needs if need.job is None and need.found is None]
    reasons = dict.fromkeys(_why(need, several=len(needs) > 1) for need in lacking)
    keys = dict.fromkeys(need.supposed.key for need in lacking if need.supposed is not None)
    is_supposed = bool(lacking) and all(need.supposed is not None for need in lacking)
    would = [jobs[path] for path in runs] + [supposed[key] for key in keys]
    return record | {
        "does": "nothing" if lacking else "run" if runs else "reuse",
        "reason": "; ".join(reasons) or None,
        "reuses": [str(found.path) for found in reused],
        "source": "; ".join(dict.fromkeys(found.source for found in reused)) or None,
        "runs": runs,
        "reads_again": any(map(_is_read_again, needs)),
        "if_data_were_here": is_supposed,
        **(_of_cell(would, needs) if is_supposed or (runs and not lacking) else {}),
    }


def _of_cell(runs: list[Record], needs: list[Need]) -> Record:
    """Calls, money and time of all the runs that a cell takes; None where one's is not known."""

    def total(key: str) -> Any:
        found = [run[key] for run in runs]
        return None if None in found else float(add_up(found)) if key == "usd" else sum(found)

    missing = dict.fromkeys(name for run in runs for name in run["missing"])
    missing |= dict.fromkeys(MODEL for need in needs if need.model_fault is not None)
    return {key: total(key) for key in ("calls", "usd", "seconds")} | {"missing": list(missing)}


def _is_read_again(need: Need) -> bool:
    is_bare = need.job is not None or (need.found is not None and need.found.is_bare)
    return need.setting is not None and is_bare


def _why(need: Need, *, several: bool) -> str:
    return f"{need.part.ref.name}: {need.why_not}" if several else str(need.why_not)


def _sheet(record: Record) -> Sheet:
    notes: list[str] = []
    rows = tuple(_row(cell, notes) for cell in record["cells"])
    awaits, there = record["awaits"], record["if_data_were_here"]
    remarks = [
        *([f"not run: task not present: {awaits}"] if awaits else []),
        *([f"{STAR} if the data were here"] if there["runs"] else []),
        *([_total("total", record)] if rows else []),
        *([_total("if the data were here, besides:", there)] if there["runs"] else []),
        *(f"missing: {line}" for line in record["missing"]),
        *record["notes"],
        *sources(record),
    ]
    return Sheet(
        name=record["target"],
        title=f"{record['title']} (dry run)",
        head=("data", "model", "values", "calls", "price", "time", "what"),
        rows=rows,
        right="lllrrrl",
        notes=tuple(f"[{at}] {note}" for at, note in enumerate(notes, 1)),
        remarks=tuple(remarks),
    )


def _row(cell: Record, notes: list[str]) -> tuple[str, ...]:
    star = f" {STAR}" if cell["if_data_were_here"] else ""
    has_runs = cell["does"] == "run" or cell["if_data_were_here"]
    numbers = (_calls(cell), _price(cell), _time(cell)) if has_runs else ("", "", "")
    return (
        cell["data"],
        cell["label"],
        ", ".join(cell["values"]),
        *(f"{number}{star}" if number else "" for number in numbers),
        _what(cell, notes),
    )


def _calls(cell: Record) -> str:
    return "unknown" if cell["calls"] is None else f"{cell['calls']:,}"


def _price(cell: Record) -> str:
    if cell["usd"] is None:
        return "unknown"
    return format_usd(cell["usd"]) if cell["usd"] else ""


def _time(cell: Record) -> str:
    return duration(cell["seconds"]) if cell["seconds"] is not None else ""


def _what(cell: Record, notes: list[str]) -> str:
    missing = f", missing {', '.join(cell['missing'])}" if cell["missing"] else ""
    if cell["does"] == "nothing":
        return beside(f"not run{missing}", cell["reason"], notes)
    reused = ", ".join(Path(path).name for path in cell["reuses"])
    word = f"reuse {reused}" if cell["does"] == "reuse" else "run"
    word += f", {ELSEWHERE}" if (cell["source"] or "").startswith(ELSEWHERE) else ""
    word += missing
    return f"{word}, read again" if cell["reads_again"] else word


def _total(word: str, told: Record) -> str:
    parts = [f"{word} {terminal.plural(told['calls'], 'call')}"]
    if told["estimated_usd"]:
        parts.append(f"about {format_usd(told['estimated_usd'])}")
    if told["without_price"]:
        parts.append(f"price of {terminal.plural(told['without_price'], 'run')} unknown")
    if told["calls"]:
        hours, lacking = told["estimated_hours"], told["without_rate"]
        some = f" without {terminal.plural(lacking, 'run')} of no measured rate" if lacking else ""
        parts.append(f"about {duration(hours * 3600)}{some}" if hours else "no measured rate yet")
    return ", ".join(parts)


def _line(cell: Record) -> Record:
    seconds = cell["seconds"]
    return {
        **cell,
        "values": " ".join(cell["values"]),
        "reuses": " ".join(cell["reuses"]),
        "runs": " ".join(cell["runs"]),
        "missing": " ".join(cell["missing"]),
        "hours": None if seconds is None else round(seconds / 3600, 4),
        "if_data_were_here": int(cell["if_data_were_here"]),
        "reads_again": int(cell["reads_again"]),
    }
