"""What a plan would do: calls, answers that are there already, price, directories."""

from __future__ import annotations

import msgspec

from vgen_eval._version import __version__
from vgen_eval.cli import terminal
from vgen_eval.cli.outcome import print_skipped
from vgen_eval.cli.run_facts import count_done
from vgen_eval.engine.plan import Job, Plan

__all__ = ["count_finished", "show_plan"]

EXIT_NOTHING_RUNS = 3


def count_finished(job: Job) -> int:
    """Attempts of the job that are over, as its run directory has them."""
    asked = {"samples": [item.id for item in job.items], "attempts": job.attempts}
    return count_done(job.path, asked)[0]


def show_plan(plan: Plan, *, as_json: bool) -> int:
    """Prints the plan and returns the exit code."""
    finished = [count_finished(job) for job in plan.jobs]
    left = [job.size - done for job, done in zip(plan.jobs, finished, strict=True)]
    prices = [_price(job, calls) for job, calls in zip(plan.jobs, left, strict=True)]
    known = [price for price in prices if price is not None]
    total = sum(known) if known else None
    missing = list(dict.fromkeys(j.model.missing_key for j in plan.jobs if j.model.missing_key))
    code = 0 if plan.jobs and not any(skip.exact for skip in plan.skipped) else EXIT_NOTHING_RUNS
    if as_json:
        terminal.say_json(
            {
                "jobs": [
                    _record(job, done, price)
                    for job, done, price in zip(plan.jobs, finished, prices, strict=True)
                ],
                "skipped": [msgspec.to_builtins(skip) for skip in plan.skipped],
                "calls": sum(left),
                "estimated_usd": total,
                "missing": missing,
                "notices": list(plan.notices),
                "exit_code": code,
            }
        )
        return code
    terminal.say(f"vgen-eval {__version__}   dry run: nothing is called or written", "")
    if plan.jobs:
        _print_jobs(plan, finished, prices)
        there = f", {sum(finished):,} answered already" if any(finished) else ""
        price = "" if total is None else f", about ${total:,.2f}"
        bounds = "" if not any(job.ceiling or job.floor for job in plan.jobs) else (
            "   ceiling and floor run beside them"
        )  # fmt: skip
        calls = terminal.plural(sum(left), "call")
        terminal.say(f"  total {calls}{price}{there}{bounds}")
    for name in missing:
        terminal.say(f"  missing: {name} is not set")
    print_skipped(plan.skipped)
    if not plan.jobs:
        terminal.note("error: nothing can run: every pair is skipped")
    return code


def _print_jobs(plan: Plan, finished: list[int], prices: list[float | None]) -> None:
    rows = [["task", "model", "answer", "prompt", "calls", "", "there", "price", "run directory"]]
    for job, done, price in zip(plan.jobs, finished, prices, strict=True):
        times = f"x {job.attempts} attempts" if job.attempts > 1 else ""
        samples = terminal.plural(len(job.items), "sample")
        rows.append(
            [
                job.task.ref.label,
                job.model.name,
                job.codec.answer.form,
                job.variant or "-",
                f"{job.size:,}",
                f"= {samples} {times}".rstrip(),
                f"{done:,}",
                "" if price is None else f"${price:,.2f}",
                str(job.path),
            ]
        )
    if not any(row[7] for row in rows[1:]):
        rows[0][7] = ""
    terminal.say(*terminal.layout(rows, right="llllrlrrl", indent="  "), "")


def _price(job: Job, calls: int) -> float | None:
    """US dollars of the calls by the card's price an image; None when it names none."""
    price = job.model.card.price
    if price is None or price.per_image_usd is None or job.codec.answer.form != "image":
        return None
    return price.per_image_usd * calls


def _record(job: Job, finished: int, price: float | None) -> dict[str, object]:
    return {
        "task": job.task.ref.label,
        "model": job.model.qualified,
        "answer": job.codec.answer.form,
        "prompt": job.variant,
        "samples": len(job.items),
        "attempts": job.attempts,
        "finished": finished,
        "calls": job.size - finished,
        "estimated_usd": price,
        "run": str(job.path),
        "ceiling": str(job.ceiling.path) if job.ceiling else None,
        "floor": str(job.floor.path) if job.floor else None,
    }
