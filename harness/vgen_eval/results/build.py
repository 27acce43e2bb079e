"""Builds run.json and the result card of a job from what the run holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.conformance import short_record
from vgen_eval.distributions import HOME, IMPORTED, LOCAL
from vgen_eval.engine.models import Model
from vgen_eval.engine.plan import Job
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.tries import Tries
from vgen_eval.errors import NotRunnable
from vgen_eval.machine import hardware, now, peak_memory_mb, versions
from vgen_eval.results.card import Bound, ResultCard, read_card
from vgen_eval.results.summarise import summarise
from vgen_eval.results.tally import Tally
from vgen_eval.results.volatile import Earlier, read_volatile
from vgen_eval.store.journal import read_lines
from vgen_eval.store.record import RUN_SCHEMA
from vgen_eval.store.run import RunStore
from vgen_eval.store.transcript import read_replies

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Plugin

__all__ = ["RUN_SCHEMA", "Sitting", "build_card", "describe_protocol", "describe_run"]


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """What one process did for a run, which may take several."""

    wall_s: float = 0.0
    device: str | None = None
    endpoint: str | None = None
    """The service that was called."""
    calls: int = 0
    """Attempts that the model was asked for, and the seconds from start to end of that."""
    calling_s: float = 0.0
    unfinished: tuple[Tries, ...] = ()
    """Tries of attempts that were then not made."""

    def plus(self, other: Sitting) -> Sitting:
        """Both, one after the other."""
        return msgspec.structs.replace(
            self,
            endpoint=other.endpoint or self.endpoint,
            calls=self.calls + other.calls,
            calling_s=self.calling_s + other.calling_s,
            unfinished=self.unfinished + other.unfinished,
        )


def describe_run(job: Job, settings: Settings) -> dict[str, Any]:
    """run.json: what was asked, in full, so that the run can be understood and re-scored alone."""
    return {
        "schema": RUN_SCHEMA,
        "run": job.run_id,
        "task": job.task.ref.label,
        "model": job.model.qualified,
        "answer": job.codec.answer.form,
        "prompt": {"variant": job.variant, "text": job.prompt},
        "selection": dict(job.selection),
        "attempts": job.attempts,
        "samples": [item.id for item in job.items],
        "identity": job.identity,
        "model_identity": job.model.identity(),
        "score_digest": job.score_digest,
        **({} if job.judge is None else {"judge": _record_judge(job.judge)}),
        "cards": {
            "task": msgspec.to_builtins(job.task.ref.card),
            "task_folder": (
                str(job.task.ref.folder.resolve()) if job.task.ref.distribution == LOCAL else None
            ),
            "model": msgspec.to_builtins(job.model.card),
        },
        "settings": {
            key: value
            for key, value in msgspec.to_builtins(settings).items()
            if key in ("set", "model_args", "data_root", "keep", "device", "batch_size")
            or (key == "judge" and value is not None)
        },
        "versions": versions(),
        "hardware": hardware(),
        "created": now(),
    }


def _record_judge(judge: Model) -> dict[str, Any]:
    """Who judges, so that a run can be scored again from its transcript."""
    return {
        "model": judge.qualified,
        "identity": judge.identity(),
        "card": msgspec.to_builtins(judge.card),
    }


def build_card(
    job: Job,
    store: RunStore,
    results: Path,
    *,
    catalog: Catalog,
    bounds: Mapping[str, Bound | None],
    sitting: Sitting,
    unknown_ids: Sequence[str] = (),
) -> ResultCard:
    """The result card of a run, from its scores file; `sitting` is what was done just now."""
    scores, counts = summarise(job, store, unknown_ids=unknown_ids)
    return ResultCard(
        run=str(job.path.relative_to(results)),
        complete=counts.infrastructure == 0 and counts.not_run == 0,
        task=job.task.ref.name,
        protocol=job.task.ref.protocol,
        model=job.model.name,
        answer=job.codec.answer.form,
        prompt=job.variant,
        primary=job.task.protocol.primary,
        counts=counts,
        scores=scores,
        ceiling=bounds.get("ceiling"),
        floor=bounds.get("floor"),
        content_digest=store.content_digest(job.score_digest, job.rows()),
        task_info=_task_info(job),
        protocol_info=describe_protocol(job),
        model_info=_model_info(job),
        dataset_info=_dataset_info(job),
        selection={
            "rule": dict(job.selection) or "all",
            "samples": len(job.items),
            "of": job.task.promised,
            "attempts": job.attempts,
        },
        plugins=_plugins(job, catalog, results),
        versions=versions(),
        hardware=hardware(),
        volatile=_volatile(job, store, sitting),
    )


def _task_info(job: Job) -> dict[str, Any]:
    ref = job.task.ref
    return {
        "distribution": ref.distribution,
        "version": ref.card.version,
        "family": ref.card.family,
        "title": ref.card.title,
        "card_digest": ref.card_digest,
        "identity_digest": cards.identity_digest(ref.card),
    }


def describe_protocol(job: Job) -> dict[str, Any]:
    """`protocol_info`: every part of the protocol that can change a number, options in full."""
    protocol = job.task.protocol
    base = int(job.model.card.generation.get("seed", 0))
    return {
        "title": protocol.title,
        "source": protocol.source,
        "prompt_text": job.prompt,
        "choices": list(job.codec.answer.choices),
        "input": msgspec.to_builtins(protocol.input),
        "data": msgspec.to_builtins(protocol.data),
        "answer": {
            "fit": job.codec.answer.fit,
            "background": list(job.codec.answer.background),
            "reencode": job.codec.answer.reencode,
            **({"prefix": job.codec.answer.prefix} if job.codec.answer.prefix else {}),
        },
        "calibration": _calibration(job),
        "decoder": job.codec.info["decoder"],
        "encoder": job.codec.info["encoder"],
        "judge": _judge_info(job),
        "metrics": {metric.key: metric.info for metric in job.task.metrics},
        "failure_value": job.task.failure_info,
        "seed_rule": protocol.seed,
        "seed_base": base,
        "sampling": msgspec.to_builtins(protocol.sampling),
        "score_digest": job.score_digest,
    }


def _judge_info(job: Job) -> Mapping[str, Any] | None:
    """Who judged, and how: way and options, digest of the prompts, model and its revision."""
    judge, info = job.judge, job.codec.info["judge"]
    if judge is None or info is None:
        return None
    checkpoint = judge.card.checkpoint
    return {
        **info,
        "model": judge.qualified,
        "role": judge.card.role,
        "checkpoint": None if checkpoint is None else msgspec.to_builtins(checkpoint),
        "model_options": dict(judge.options or {}),
        "generation": dict(judge.card.generation),
        "facts": dict(judge.facts),
        "identity_digest": judge.identity_digest(),
    }


def _calibration(job: Job) -> Mapping[str, Any] | None:
    """On which samples the decoder was calibrated, and to what."""
    found = job.codec.calibration
    return found and {"samples": found["samples"], "decoder": found["decoder"]}


def _model_info(job: Job) -> dict[str, Any]:
    model, card = job.model, msgspec.to_builtins(job.model.card)
    kept = (
        "title", "role", "checkpoint", "options", "generation", "licence", "source", "developer",
        "availability", "exposure", "verified", "price",
    )  # fmt: skip
    return {
        "distribution": model.distribution,
        "adapter": model.adapter,
        "adapter_version": model.adapter_version,
        **{key: card[key] for key in kept},
        "facts": dict(model.facts),
        "card_digest": model.card_digest,
        "identity_digest": model.identity_digest(),
    }


def _dataset_info(job: Job) -> dict[str, Any]:
    dataset = msgspec.to_builtins(job.task.ref.card.dataset)
    dropped = ("hashes", "sizes")
    return {
        **{key: value for key, value in dataset.items() if key not in dropped},
        "reader": job.task.reader,
        "fingerprint": job.task.fingerprint,
        "n": len(job.task.items),
    }


def _plugins(job: Job, catalog: Catalog, results: Path) -> tuple[Mapping[str, Any], ...]:
    """The distributions whose cards or components took part: version, origin, conformance."""
    used = {HOME, job.task.ref.distribution, job.model.distribution}
    infos = [
        job.task.reader, job.codec.info["decoder"], job.codec.info["encoder"],
        *(metric.info for metric in job.task.metrics), {"name": job.model.adapter},
        job.codec.info["judge"], *([{"name": job.judge.adapter}] if job.judge else []),
    ]  # fmt: skip
    used |= {info["name"].partition(":")[0] for info in infos if info and ":" in info["name"]}
    return tuple(
        {
            "name": plugin.name,
            "version": plugin.version,
            "origin": dict(catalog.provenance(plugin)),
            **_conformance(results, plugin),
        }
        for plugin in catalog.plugins
        if plugin.name in used
    )


def _conformance(results: Path, plugin: Plugin) -> Mapping[str, Any]:
    """What `check plugin` wrote down of it below this results folder; nothing when it did not."""
    record = short_record(results, plugin)
    return {} if record is None else {"conformance": record}


_OF_A_JUDGE = ("calls", "tries", "model_s", "usage", "cost_usd", "unpriced", "reported_models")


def _judging(job: Job, store: RunStore) -> dict[str, Any]:
    """What the judge took, apart from what the model did; nothing where nobody judged."""
    if job.judge is None:
        return {}
    tally = Tally(serves=False, unfinished={})
    for _, line in read_replies(store):
        tally.add(line)
    record = tally.record()
    return {"judge": {name: record[name] for name in _OF_A_JUDGE}}


_SPEEDS = ("calling", "calls_per_minute", "model_s", "images_per_minute")
"""In `volatile`, what tells how fast a model is."""


def _volatile(job: Job, store: RunStore, sitting: Sitting) -> dict[str, Any]:
    """What the run took: in its lines, and in the sittings before and now.

    Of predictions made elsewhere no speed: the time to read files is none of their model's.
    """
    try:
        before = read_volatile(read_card(job.path).volatile)
    except NotRunnable:
        before = Earlier()
    peaks = [peak for peak in (before.peak_memory_mb, peak_memory_mb()) if peak]
    endpoint = sitting.endpoint or before.endpoint
    tally = Tally(serves=endpoint is not None, unfinished=before.unfinished)
    for tries in sitting.unfinished:
        tally.add_unfinished(tries)
    for _, line in read_lines(store.predictions_path):  # superseded ones were paid for as well
        tally.add(line)
    calls = before.calls + sitting.calls
    seconds = before.calling_s + sitting.calling_s
    took = {
        "finished": now(),
        "wall_s": round(before.wall_s + sitting.wall_s, 3),
        "calling": {"calls": calls, "seconds": round(seconds, 3)},
        "calls_per_minute": round(60 * calls / seconds, 2) if seconds > 0 else None,
        **tally.record(),
        "peak_memory_mb": max(peaks, default=None),
        "device": sitting.device,
        "endpoint": endpoint,
        **_judging(job, store),
    }
    if job.model.distribution == IMPORTED:
        took |= dict.fromkeys(_SPEEDS)
    return took
