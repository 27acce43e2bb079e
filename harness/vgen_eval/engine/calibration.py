"""Decoders that learn one thing from the truth of a run's first samples, before any is scored.

Some papers read an answer under whichever of several conventions fits a few samples best. The
samples are the first of the run in the data's order, whatever the workers; what was settled is kept
beside the scores, and each score names it, so that another calibration makes the scores anew.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.cards.records import Calibration
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import prepare
from vgen_eval.engine.scorer import score_key
from vgen_eval.errors import BadSample, BrokenPlugin, NoValidTarget, Undecodable
from vgen_eval.store.regular import read_regular
from vgen_eval.store.rows import Rows
from vgen_eval.store.run import RunStore, write_atomic
from vgen_eval.types import Example, Item
from vgen_eval.wording import describe

__all__ = ["calibrate", "first_samples", "is_calibrated_on", "recall"]

log = logging.getLogger(__name__)

THREADS = min(4, os.cpu_count() or 1)

Lines = Mapping[str, Mapping[str, Any]]


def _rule(job: Job) -> Calibration | None:
    rule = job.task.protocol.calibration
    return rule if rule is not None and hasattr(job.codec.decoder, "calibrate") else None


def first_samples(job: Job) -> Job | None:
    """The job of the samples that its decoder is calibrated on; None where it is on none."""
    rule = _rule(job)
    if rule is None:
        return None
    return msgspec.structs.replace(job, items=job.items[: rule.samples])


def recall(job: Job, store: RunStore) -> Job | None:
    """The job under the calibration that is kept, if it was made of the answers that are there."""
    first = first_samples(job)
    if first is None:
        return job
    lines = _read_lines(first, store)
    kept = _read_kept(job, store)
    if kept is None or len(lines) < len(first.items) or kept["of"] != _keys(job, lines):
        return None
    try:
        return _under(job, first, lines, kept["decoder"])
    except Exception:  # a file that somebody changed: it is made anew
        log.warning("%s: no calibration of its decoder", store.calibration_path(job.score_digest))
        return None


def calibrate(job: Job, store: RunStore, *, keep: bool = True) -> Job:
    """The job with its decoder calibrated on what is answered by now.

    `keep`: write down what it was calibrated to; the store is locked then.
    """
    first = first_samples(job)
    if first is None:
        return job
    found = recall(job, store)
    if found is not None:
        return found
    lines = _read_lines(first, store)
    base = job.task.codec(job.codec.answer)
    decoder: Any = base.decoder
    examples = _examples(msgspec.structs.replace(first, codec=base), store, lines)
    try:
        record = jsonio.plain(dict(decoder.calibrate(examples)), "calibration")
    except Exception as exc:  # a decoder is anyone's code
        name = base.info["decoder"]["name"]
        raise BrokenPlugin(f"decoder '{name}' cannot calibrate: {describe(exc)}") from exc
    kept = {"of": _keys(job, lines), "decoder": record}
    if keep:
        write_atomic(store.calibration_path(job.score_digest), jsonio.pretty(kept).encode())
    return _under(job, first, lines, record)


def is_calibrated_on(job: Job, store: RunStore) -> bool:
    """Is the job's calibration that of the answers which are there now?"""
    first = first_samples(job)
    if first is None or job.codec.calibration is None:
        return True
    return bool(job.codec.calibration["of"] == _keys(job, _read_lines(first, store)))


def _read_lines(first: Job, store: RunStore) -> Lines:
    """The prediction line of each sample's first attempt."""
    rows = Rows([item.id for item in first.items], 1)
    return {line["sample"]: line for line in store.predictions(rows)}


def _keys(job: Job, lines: Lines) -> dict[str, str]:
    base = job.task.codec(job.codec.answer)
    return {sample: score_key(line, base) for sample, line in lines.items()}


def _read_kept(job: Job, store: RunStore) -> Any:
    try:
        kept = jsonio.loads(read_regular(store.calibration_path(job.score_digest)))
    except (OSError, ValueError):
        return None  # it is made anew
    return kept if isinstance(kept, dict) and {"of", "decoder"} <= kept.keys() else None


def _examples(first: Job, store: RunStore, lines: Lines) -> list[Example]:
    """In the data's order, read by several threads."""
    keeper = Keeper(first, store, None, keep="all")

    def example(item: Item) -> Example | None:
        line = lines.get(item.id)
        answer = None if line is None else keeper.read(line)
        if answer is None or isinstance(answer, Undecodable):
            return None  # no answer, no evidence
        try:
            sample = first.task.dataset.load(item)
            scene = prepare(first, sample).scene
        except (BadSample, NoValidTarget):
            return None
        return Example(answer=answer, scene=scene, target=sample.target, valid=sample.valid)

    with ThreadPoolExecutor(THREADS) as pool:
        return [found for found in pool.map(example, first.items) if found is not None]


def _under(job: Job, first: Job, lines: Lines, record: Mapping[str, Any]) -> Job:
    base = job.task.codec(job.codec.answer)
    decoder: Any = base.decoder
    calibration = {
        "samples": [item.id for item in first.items],
        "decoder": record,
        "of": _keys(job, lines),
    }
    codec = msgspec.structs.replace(
        base, decoder=decoder.calibrated(record), calibration=calibration
    )
    return msgspec.structs.replace(job, codec=codec)
