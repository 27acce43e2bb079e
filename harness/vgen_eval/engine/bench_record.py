"""The efficiency record of what was measured: sums, reasons for what is missing, the machine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.engine.memory import accelerators
from vgen_eval.engine.plan import Job
from vgen_eval.engine.usage import sum_usage
from vgen_eval.machine import hardware, now, versions
from vgen_eval.results.bench import (
    BenchRecord,
    Calls,
    Each,
    Memory,
    summarise_latency,
    summarise_times,
)
from vgen_eval.types import Usage

__all__ = ["LEAST_WARMUP", "LONG_SIDE", "MOST_SAMPLES", "Asked", "make_record"]

LONG_SIDE = 1024
LEAST_WARMUP = 3
"""The first calls compile, allocate and open connections."""
MOST_REASONS = 5
MOST_SAMPLES = 1_000_000
"""Every call has its line in the record."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    samples: int = 20
    """Calls that are timed; a task with fewer samples has them asked again, by another seed."""
    warmup: int = LEAST_WARMUP
    long_side: int | None = LONG_SIDE
    """Pictures are resized to it, smaller ones too; None: as the protocol shows them."""


class Measured(msgspec.Struct):
    """What the calls of one measurement came to, as it grows."""

    endpoint: str | None
    synchronised: str
    warmup: list[Each] = []
    each: list[Each] = []
    seen: dict[tuple[int, int], int] = {}
    """(height, width) of the first picture -> measured calls."""
    usages: list[Usage] = []
    costs: list[Decimal | None] = []

    def cost(self) -> float | None:
        """US dollars of all calls, warm-up too; None when that of one is not known."""
        known = [cost for cost in self.costs if cost is not None]
        return float(sum(known)) if known and len(known) == len(self.costs) else None


def make_record(
    job: Job, asked: Asked, run: Measured, memory: Memory, *, device: str | None, load_s: float,
    started: str,
) -> BenchRecord:  # fmt: skip
    generated = [one.generate_s for one in run.each if one.generate_s is not None]
    decoded = [one.decode_s for one in run.each if one.decode_s is not None]
    generate, decode = summarise_times(generated), summarise_times(decoded)
    endpoint = run.endpoint
    reasons: dict[str, str] = {}
    if generate is None:
        reasons |= dict.fromkeys(("generate", "images_per_minute"), "no call was answered")
    elif endpoint is not None:
        reasons["images_per_minute"] = (
            f"{endpoint} is a service: sequential calls tell its latency, not its throughput"
        )
    if decode is None:
        reasons["decode"] = "no answer was decoded"
    if endpoint is None:
        reasons["latency"] = "the model runs here"
    both = [
        one.generate_s + one.decode_s
        for one in run.each
        if one.generate_s is not None and one.decode_s is not None
    ]
    is_here = endpoint is None
    facts = _what_was_asked(job, asked, device=device)
    return BenchRecord(
        digest=jsonio.digest(facts)[:12],
        model=job.model.qualified,
        task=job.task.ref.name,
        protocol=job.task.ref.protocol,
        answer=job.codec.answer.form,
        prompt=job.variant,
        input=_input(job, asked, run),
        calls=_count(job, asked, run),
        load_s=load_s,
        first_call_s=run.warmup[0].generate_s if run.warmup else None,
        generate=generate,
        decode=decode,
        images_per_minute=generate.per_minute if generate and is_here else None,
        images_per_minute_decoded=_rate(both) if is_here else None,
        latency=None if is_here else summarise_latency(generated),
        reasons=reasons,
        memory=memory,
        synchronised=run.synchronised,
        endpoint=endpoint,
        usage=sum_usage(run.usages),
        cost_usd=run.cost(),
        device=device,
        model_info=facts["model"],
        versions=versions(),
        hardware=facts["hardware"],
        started=started,
        finished=now(),
        each=tuple(run.each),
    )


def _rate(seconds: list[float]) -> float | None:
    total = math.fsum(seconds)
    return 60 * len(seconds) / total if total > 0 else None


def _what_was_asked(job: Job, asked: Asked, *, device: str | None) -> dict[str, Any]:
    """All that tells one record from another: a second measurement of the same replaces it."""
    card = msgspec.to_builtins(job.model.card)
    kept = ("checkpoint", "options", "generation")
    return {
        "identity": job.identity,
        "asked": msgspec.to_builtins(asked),
        "device": device,
        "model": {
            "adapter": job.model.adapter,
            "adapter_version": job.model.adapter_version,
            **{key: card[key] for key in kept},
            "facts": dict(job.model.facts),
            "identity_digest": job.model.identity_digest(),
        },
        "versions": versions(),
        "hardware": {**hardware(), "accelerators": accelerators()},
    }


def _input(job: Job, asked: Asked, run: Measured) -> Mapping[str, Any]:
    rule = cards.identity(job.task.protocol.input)
    seen = [[*size, count] for size, count in sorted(run.seen.items())]
    return {"asked_long_side": asked.long_side, **rule, "seen": seen}


def _count(job: Job, asked: Asked, run: Measured) -> Calls:
    failed = [one for one in run.each if one.generate_s is None]
    reasons = dict.fromkeys(one.reason for one in run.each if one.status != "ok")
    return Calls(
        asked=len(run.each),
        answered=len(run.each) - len(failed),
        failed=len(failed),
        failures=dict(Counter(one.status for one in failed)),
        reasons=tuple(reasons)[:MOST_REASONS],
        undecodable=sum(one.status == "undecodable" for one in run.each),
        samples=min(len(job.items), len(run.each)),
        warmup=asked.warmup,
        warmup_failed=sum(one.generate_s is None for one in run.warmup),
    )
