"""How fast a model answers: one request a call, one call after the other, warm-up left out.

The rule of ProbeGen's efficiency table: batch 1, inputs of long side 1024, images per minute as
60 * N / sum(t), peak device memory; services by latency and apart from it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.answers import AnswerFault, clean, pack, unpack
from vgen_eval.engine.adapter_life import close_adapter, load_adapter
from vgen_eval.engine.bench_record import LEAST_WARMUP, MOST_SAMPLES, Asked, Measured, make_record
from vgen_eval.engine.faults import describe
from vgen_eval.engine.memory import MemoryWatch, find_synchronise
from vgen_eval.engine.models import Model
from vgen_eval.engine.plan import Job, make_plan
from vgen_eval.engine.pricing import cost_of
from vgen_eval.engine.request import make_request, prepare, seed_of
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.usage import read_usage
from vgen_eval.errors import (
    CallError,
    CardError,
    MissingKey,
    NotRunnable,
    StorageError,
    UsageError,
    VgenEvalError,
)
from vgen_eval.machine import now
from vgen_eval.results.bench import BenchRecord, Each, write_record
from vgen_eval.types import Adapter, Output, Request, Scene, Usage

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Asked", "bench_folder", "plan_bench", "run_bench"]

log = logging.getLogger(__name__)

WARMUP_SEEDS = 10_000
"""Attempts from which warm-up takes its seeds, so that no measured call has them."""
Progress = Callable[[str, int, int], None]


def plan_bench(
    settings: Settings, catalog: Catalog, asked: Asked, *, models: Sequence[Model] = ()
) -> tuple[Job, tuple[str, ...]]:
    """The one pair to measure, and what the user should know; `models`: those without a name.

    UsageError for numbers that cannot be and for more than one pair; NotRunnable for a pair that
    does not fit, or needs what is not here.
    """
    if not 1 <= asked.samples <= MOST_SAMPLES:
        raise UsageError(f"--samples: {asked.samples} must be from 1 to {MOST_SAMPLES:,}")
    if not LEAST_WARMUP <= asked.warmup <= MOST_SAMPLES:
        raise UsageError(
            f"--warmup: {asked.warmup} must be at least {LEAST_WARMUP}"
            f"{f', and {MOST_SAMPLES:,} at most' if asked.warmup > MOST_SAMPLES else ''}",
            cure="the first calls compile and allocate, so that their times say little",
        )
    shown: dict[str, Any] = {}
    if asked.long_side is not None:
        shown = {
            "protocol.input.size": None,
            "protocol.input.long_side": asked.long_side,
            "protocol.input.upsample": True,
        }
    narrowed = msgspec.structs.replace(
        settings, set={**shown, **settings.set}, bounds=False,
        limit=None if settings.samples else asked.samples,
    )  # fmt: skip
    plan = make_plan(narrowed, catalog, models)
    if not plan.jobs:
        raise NotRunnable("; ".join(dict.fromkeys(skip.reason for skip in plan.skipped)))
    if len(plan.jobs) > 1:
        pairs = [f"{job.task.ref.label} with {job.model.name}" for job in plan.jobs[:3]]
        raise UsageError(
            f"one pair is measured at a time, {len(plan.jobs)} are meant: {', '.join(pairs)}",
            cure="one --model, one --task, one --prompt",
        )
    job = plan.jobs[0]
    if job.model.missing_key:
        raise MissingKey(job.model.missing_key)
    return job, plan.notices


def bench_folder(results: Path, job: Job) -> Path:
    """Where the records of a pair lie."""
    return results / "bench" / job.model.folder / job.task.ref.path


def run_bench(
    job: Job, asked: Asked, settings: Settings, *,
    on_progress: Progress = lambda _what, _done, _total: None,
) -> tuple[BenchRecord, Path | None]:  # fmt: skip
    """Measures a pair and writes its record; what came before it is neither read nor reused.

    The path is None where nothing was measured and a record of the same, that says more, stays.

    A call without an answer is counted and in no time; none is tried again. What the adapter
    raises while loading, and AccessDenied at any time, ends it: NotRunnable.
    """
    started = now()
    on_progress("loading", 0, 1)
    start = time.perf_counter()
    adapter = load_adapter(job.model, settings)
    load_s = time.perf_counter() - start
    try:
        run = _Run(job, adapter, on_progress)
        run.warm_up(asked.warmup)
        with MemoryWatch() as watch:
            run.measure(asked.samples)
            memory = watch.read(adapter)
        record = make_record(
            job, asked, run.found, memory, device=settings.device, load_s=load_s, started=started
        )
    finally:
        close_adapter(job.model, adapter)
    return record, write_record(bench_folder(Path(settings.output), job), record)


class _Run:
    """The calls of one measurement."""

    def __init__(self, job: Job, adapter: Adapter, on_progress: Progress) -> None:
        self.job = job
        self.adapter = adapter
        who, self._wait = find_synchronise(adapter)
        self.found = Measured(endpoint=getattr(adapter, "endpoint", None), synchronised=who)
        self._progress = on_progress

    def warm_up(self, count: int) -> None:
        """Calls that are in no time: about the last samples, by seeds of their own."""
        for number in range(-count, 0):
            self._progress("warming up", number + count, count)
            self.found.warmup.append(self._measure(number))
        # the device is in use from here on, if it ever is
        self.found.synchronised, self._wait = find_synchronise(self.adapter)

    def measure(self, count: int) -> None:
        """The calls that are timed, about the samples in turn."""
        for number in range(count):
            self._progress("measuring", number, count)
            self.found.each.append(self._measure(number))

    def _measure(self, number: int) -> Each:
        """One call; a sample that is asked again is asked by the next seed."""
        items, job = self.job.items, self.job
        turn, at = divmod(number, len(items))
        attempt = turn if turn >= 0 else WARMUP_SEEDS - turn
        try:
            prepared = prepare(job, job.task.dataset.load(items[at]))
            request = make_request(job, prepared, attempt)
        except NotRunnable:
            raise  # a library or the data is missing: no fault of this sample alone
        except (Exception, SystemExit) as exc:  # readers are anyone's code
            seed, reason = seed_of(job, items[at].id, attempt), _words(exc)
            return Each(sample=items[at].id, seed=seed, status="bad_sample", reason=reason)
        if number >= 0 and request.images:
            size = (request.images[0].height, request.images[0].width)
            self.found.seen[size] = self.found.seen.get(size, 0) + 1
        return self._ask(request, prepared.scene)

    def _ask(self, request: Request, scene: Scene) -> Each:
        shown = Each(sample=request.sample, seed=request.seed, status="ok")
        self._wait()
        start = time.perf_counter()
        output, status, reason = self._call(request)
        self._wait()
        seconds = time.perf_counter() - start
        if output is None:
            return msgspec.structs.replace(shown, status=status, reason=reason)
        self._add_usage(output.usage, request, answered=output.answer is not None)
        form, background = request.form, self.job.codec.answer.background
        try:
            kept = pack(form, output.answer)
        except AnswerFault as exc:
            if exc.status == "no_answer":
                told = clean(output.reason or exc.reason)
                return msgspec.structs.replace(shown, status="no_answer", reason=told)
            return msgspec.structs.replace(
                shown, status=exc.status, reason=exc.reason, generate_s=seconds
            )
        start = time.perf_counter()
        try:
            answer = unpack(form, value=kept.value, data=kept.data, background=background)
            self.job.codec.decoder.decode(answer, scene)
        except (Exception, SystemExit) as exc:  # so are decoders
            return msgspec.structs.replace(
                shown, status="undecodable", reason=_words(exc), generate_s=seconds
            )
        decoded = time.perf_counter() - start
        return msgspec.structs.replace(shown, generate_s=seconds, decode_s=decoded)

    def _call(self, request: Request) -> tuple[Output | None, str, str]:
        """The output, or None with a status and its reason."""
        try:
            outputs = list(self.adapter.generate([request]))
        except (CardError, NotRunnable, StorageError, UsageError, KeyboardInterrupt):
            raise
        except BaseException as exc:  # an adapter may raise anything, SystemExit too
            if isinstance(exc, CallError):
                self._add_usage(getattr(exc, "usage", None), request, answered=False)
            elif not isinstance(exc, TimeoutError):
                log.warning("%s: the call failed", request.id, exc_info=exc)
            status, _, reason = describe(exc)
            return None, status, reason
        for output in outputs:
            if isinstance(output, Output) and output.id == request.id:
                return output, "ok", ""
        status, _, reason = describe(None)
        return None, status, reason

    def _add_usage(self, usage: Usage | None, request: Request, *, answered: bool) -> None:
        """Takes in what a call used and cost, whatever it came to; None for what nobody knows."""
        read = read_usage(usage, request.id)
        if read is not None:
            self.found.usages.append(read)
        if answered or read is not None:
            price = self.job.model.card.price
            cost = cost_of(read, price, form=request.form, answered=answered)
            self.found.costs.append(cost)


def _words(fault: BaseException) -> str:
    """What was raised; of our own errors their words alone."""
    if isinstance(fault, VgenEvalError):
        return clean(fault.what)
    log.warning("sample or decoder failed", exc_info=fault)
    return describe(fault)[2]
