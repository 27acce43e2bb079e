"""What a plan would do: calls, answers that are there already, price, time, who gets a key."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval._version import __version__
from vgen_eval.cli import terminal
from vgen_eval.cli.demands import Wanted, ask_demands
from vgen_eval.cli.numbers import duration, number
from vgen_eval.cli.outcome import print_skipped
from vgen_eval.cli.run_facts import count_done
from vgen_eval.engine.estimates import Estimate, Estimates
from vgen_eval.engine.plan import Job, Plan
from vgen_eval.engine.pricing import add_up, format_usd, has_price
from vgen_eval.wording import part_of

if TYPE_CHECKING:
    from vgen_eval.engine.settings import Settings

__all__ = ["count_finished", "show_plan"]

log = logging.getLogger(__name__)

EXIT_NOTHING_RUNS = 3


def count_finished(job: Job, *, retry: Collection[str] = ()) -> int:
    """Attempts of the job that are there; `retry`: statuses that are made again."""
    asked = {"samples": [item.id for item in job.items], "attempts": job.attempts}
    return count_done(job.path, asked, retry=retry)[0]


class _Expected(msgspec.Struct, frozen=True):
    """A job and what is expected of it."""

    job: Job
    finished: int
    estimate: Estimate
    is_paid: bool

    @property
    def calls(self) -> int:
        return self.job.size - self.finished

    @property
    def judge_calls(self) -> int | None:
        """Calls of the judge, about; None where its way of judging does not say."""
        expects = getattr(self.job.codec.judge, "expected_calls", None)
        try:
            return None if expects is None else round(float(expects()) * self.calls)
        except Exception:  # a way of judging is anyone's code, and this only an estimate
            log.warning("%s: its judge expects no number of calls", self.job.task.ref.label)
            return None

    @property
    def usd(self) -> float | None:
        return self.estimate.cost(self.calls)

    @property
    def has_price(self) -> bool:
        """Is there a price to tell, or to miss?"""
        return self.is_paid or self.estimate.call_usd is not None

    @property
    def seconds(self) -> float | None:
        return self.estimate.seconds(self.calls)


def show_plan(plan: Plan, settings: Settings, *, as_json: bool) -> int:
    """Prints the plan and returns the exit code."""
    wanted = ask_demands(plan, settings)
    estimates = Estimates(Path(settings.output))
    expected = [
        _Expected(
            job,
            count_finished(job, retry=settings.retry_failed),
            estimates.of(job),
            wanted[id(job.model)].is_paid,
        )
        for job in plan.jobs
    ]
    code = 0 if plan.jobs and not any(skip.exact for skip in plan.skipped) else EXIT_NOTHING_RUNS
    if as_json:
        terminal.say_json(_as_record(plan, expected, list(wanted.values()), code))
        return code
    terminal.say(f"vgen-eval {__version__}   dry run: nothing is called or written", "")
    if expected:
        _print_jobs(expected)
        terminal.say(_total(expected))
    terminal.say(*(f"  {terminal.clean(line)}" for line in _judges(expected)))
    for entry in wanted.values():
        terminal.say(*(f"  {terminal.clean(line)}" for line in entry.lines()))
    missing = dict.fromkeys(line for entry in wanted.values() for line in entry.missing)
    terminal.say(*(f"  missing: {terminal.clean(line)}" for line in missing))
    terminal.say(*(f"  {terminal.clean(line)}" for line in _unpriced(expected, settings)))
    print_skipped(plan.skipped)
    if not plan.jobs:
        terminal.note("error: nothing can run: every pair is skipped")
    return code


def _judges(expected: list[_Expected]) -> Iterator[str]:
    """Who judges, and how often about: their calls and their price come on top."""
    judges = {id(entry.job.judge): entry.job.judge for entry in expected if entry.job.judge}
    for key, judge in judges.items():
        judged = [entry for entry in expected if id(entry.job.judge) == key]
        tasks = ", ".join(dict.fromkeys(entry.job.task.ref.label for entry in judged))
        known = [entry.judge_calls for entry in judged]
        total = terminal.plural(sum(filter(None, known)), "call")
        more = "" if None in known else f", about {total} more"
        yield f"{judge.name} judges {tasks}{more}"


def _unpriced(expected: list[_Expected], settings: Settings) -> Iterator[str]:
    """Says of which models nobody knows the price that --max-cost would be kept by."""
    for name in dict.fromkeys(
        entry.job.model.name
        for entry in expected
        if entry.is_paid and entry.calls and not has_price(entry.job.model.card.price)
    ):
        if settings.max_cost is not None:
            yield (
                f"--max-cost cannot be kept: the card of {name} names no price, so that it ends at "
                "the first call whose cost the service does not tell"
            )


def _print_jobs(expected: list[_Expected]) -> None:
    rows = [
        ["task", "model", "answer", "prompt", "calls", "", "there", "price", "", "run directory"]
    ]
    for entry in expected:
        job = entry.job
        times = f"x {terminal.plural(job.attempts, 'attempt')}" if job.attempts > 1 else ""
        samples = part_of(len(job.items), job.task.promised, "sample")
        rows.append(
            [
                job.task.ref.label,
                job.model.name,
                job.codec.answer.form,
                job.variant or "-",
                f"{job.size:,}",
                f"= {samples} {times}".rstrip(),
                f"{entry.finished:,}",
                _price(entry),
                _source_of_price(entry),
                str(job.path),
            ]
        )
    if not any(row[7] for row in rows[1:]):
        rows[0][7] = ""
    terminal.say(*terminal.fitted(rows, right="llllrlrrll", indent="  "), "")


def _price(entry: _Expected) -> str:
    if entry.usd is not None and entry.has_price:
        return format_usd(entry.usd)
    return "unknown" if entry.is_paid else ""


def _source_of_price(entry: _Expected) -> str:
    each = entry.estimate
    if each.call_usd is None:
        return ""
    if each.price_from == "card":
        return f"card price {format_usd(each.call_usd)} an image"
    return f"{format_usd(each.call_usd)} a call in earlier runs"


def _total(expected: list[_Expected]) -> str:
    """ "total 1,154 calls, about $46.16, about 3 h 10 min at 6 a minute (no measured rate yet)"."""
    calls = sum(entry.calls for entry in expected)
    finished = sum(entry.finished for entry in expected)
    known = [entry.usd for entry in expected if entry.usd is not None and entry.has_price]
    unknown = sum(entry.usd is None and entry.is_paid for entry in expected)
    parts = [f"total {terminal.plural(calls, 'call')}"]
    if known:
        parts.append(f"about {format_usd(add_up(known))}")
    if unknown:
        parts.append(f"price of {terminal.plural(unknown, 'pair')} unknown")
    if calls:
        parts.append(_time(expected))
    if finished:
        parts.append(f"{finished:,} answered already")
    bounds = any(entry.job.ceiling or entry.job.floor for entry in expected)
    return f"  {', '.join(parts)}" + ("   ceiling and floor run beside them" if bounds else "")


def _time(expected: list[_Expected]) -> str:
    left = [entry for entry in expected if entry.calls]
    timed = [entry for entry in left if entry.seconds is not None]
    if not timed:
        return "no measured rate yet"
    text = f"about {duration(sum(entry.seconds or 0.0 for entry in timed))}"
    rates = {(entry.estimate.per_minute, entry.estimate.rate_from) for entry in timed}
    if len(timed) < len(left):
        pairs = f"{len(timed)} of {terminal.plural(len(left), 'pair')}"
        return f"{text} for {pairs} (no measured rate yet of the others)"
    if len(rates) == 1:
        text += f" at {number(next(iter(rates))[0])} a minute"
    sources = {source for _, source in rates}
    if "limit" in sources:
        return f"{text} (no measured rate yet)"
    return f"{text} (as measured{' by bench, one call at a time' if 'bench' in sources else ''})"


def _as_record(
    plan: Plan, expected: list[_Expected], wanted: list[Wanted], code: int
) -> Mapping[str, Any]:
    usd = [entry.usd for entry in expected if entry.usd is not None]
    seconds = [entry.seconds for entry in expected if entry.seconds is not None]
    return {
        "jobs": [_record(entry) for entry in expected],
        "skipped": [msgspec.to_builtins(skip) for skip in plan.skipped],
        "calls": sum(entry.calls for entry in expected),
        "estimated_usd": float(add_up(usd)) if usd else None,
        "estimated_hours": round(sum(seconds) / 3600, 4) if seconds else None,
        "models": [entry.record() for entry in wanted],
        "missing": list(dict.fromkeys(m for entry in wanted for m in entry.missing_names)),
        "notices": list(plan.notices),
        "exit_code": code,
    }


def _record(entry: _Expected) -> dict[str, object]:
    job, seconds = entry.job, entry.seconds
    return {
        "task": job.task.ref.label,
        "model": job.model.qualified,
        "answer": job.codec.answer.form,
        "prompt": job.variant,
        "samples": len(job.items),
        "attempts": job.attempts,
        "finished": entry.finished,
        "calls": entry.calls,
        "estimated_usd": entry.usd,
        "call_usd": entry.estimate.call_usd,
        "price_from": entry.estimate.price_from,
        "estimated_hours": None if seconds is None else round(seconds / 3600, 4),
        "calls_per_minute": entry.estimate.per_minute,
        "rate_from": entry.estimate.rate_from,
        "run": str(job.path),
        "judge": (
            None
            if job.judge is None
            else {"model": job.judge.qualified, "calls": entry.judge_calls}
        ),
        "ceiling": str(job.ceiling.path) if job.ceiling else None,
        "floor": str(job.floor.path) if job.floor else None,
    }
