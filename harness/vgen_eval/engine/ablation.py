"""What a choice of reading does to a run's numbers: kept answers scored again under others.

No model is asked, and the runs stay as they are: what is found lives in memory alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.answers import clean
from vgen_eval.engine.calibration import calibrate
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import prepare
from vgen_eval.engine.rescore import reopen
from vgen_eval.engine.scorer import score_attempt, unscored
from vgen_eval.errors import (
    CardError,
    NotRunnable,
    NoValidTarget,
    UsageError,
    VgenEvalError,
    nearest,
)
from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import AttemptTable
from vgen_eval.store.run import RunStore
from vgen_eval.types import Item, Status

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["ALIASES", "Reading", "Stopped", "read_variants", "resolve_key"]

ALIASES: Mapping[str, str] = {"binariser": "method"}
"""Other words for options."""

PROTOCOL = "protocol"
OWN_FIELDS = ("reencode", "background", "decoder", "encoder")
"""Fields of an answer that a short name may mean, when no component has such an option."""

PROTOCOL_FIELDS = ("failure_value", "failure_options", "calibration")


class Stopped(Exception):
    """It was asked to stop."""


class Reading(msgspec.Struct, frozen=True):
    """One run under one value of what is varied."""

    path: Path
    job: Job
    summary: Summary


def read_variants(
    paths: Sequence[Path], catalog: Catalog, *, key: str, values: Sequence[Any],
    data_root: str | None = None, workers: int | None = None, stopped: Any = None,
) -> list[list[Reading]]:  # fmt: skip
    """Of each run, its readings under each value.

    All variants are opened before anything is scored: UsageError and CardError for a key or a value
    that a run's protocol does not take, NotRunnable where answers were not kept.
    """
    jobs: list[list[tuple[Path, Job]]] = []
    for path in paths:
        base = reopen(path, catalog, data_root=data_root)
        _check_kept(base, RunStore(path))
        full = resolve_key(key, base)
        jobs.append(
            [(path, _vary(path, catalog, base, full, value, data_root)) for value in values]
        )
    return [
        [_read(path, job, workers=workers, stopped=stopped) for path, job in row] for row in jobs
    ]


def _vary(
    path: Path, catalog: Catalog, base: Job, key: str, value: Any, data_root: str | None
) -> Job:
    if key == PROTOCOL:
        known = base.task.ref.card.protocols
        if value not in known:
            raise UsageError(
                f"{base.task.ref.name} has no protocol '{value}'.{nearest(str(value), known)}"
            )
        return reopen(path, catalog, data_root=data_root, protocol=value)
    try:
        return reopen(path, catalog, data_root=data_root, overrides={key: value})
    except CardError as exc:
        raise UsageError(f"{key}={value}: {exc.problems[0].message}") from exc


def resolve_key(key: str, job: Job) -> str:
    """The dotted path below the protocol that a key means for a run; `protocol` for itself.

    A short name is that of an option of the run's decoder or of its metrics, the one that reports
    the primary first, or a field of the answer or the protocol. UsageError for any other.
    """
    if key == PROTOCOL:
        return key
    if key.startswith(f"{PROTOCOL}."):
        return key.removeprefix(f"{PROTOCOL}.")
    word = ALIASES.get(key, key)
    protocol, answer = job.task.protocol, job.codec.answer
    place = next(at for at, a in enumerate(protocol.answers) if a.form == answer.form)
    found = []
    known = set(OWN_FIELDS) | set(PROTOCOL_FIELDS) | {PROTOCOL, *ALIASES}
    fields = job.codec.decoder.Options.__struct_fields__
    known |= set(fields)
    if word in fields:
        found.append(f"answers.{place}.options.{word}")
    metrics = [
        (at, named.metric.Options.__struct_fields__, job.task.primary in named.values)
        for at, named in enumerate(job.task.metrics)
    ]
    for _, names, _ in metrics:
        known |= set(names)
    takers = [(at, ranks) for at, names, ranks in metrics if word in names]
    ranking = [at for at, ranks in takers if ranks] or [at for at, _ in takers]
    found += [f"metrics.{at}.options.{word}" for at in ranking[:1]]
    if not found and word in OWN_FIELDS:
        found.append(f"answers.{place}.{word}")
    if not found and word in PROTOCOL_FIELDS:
        found.append(word)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"'{key}' is an option of the decoder and of a metric of {job.task.ref.label}",
            cure=f"name one: {', '.join(f'{PROTOCOL}.{path}' for path in found)}",
        )
    raise UsageError(
        f"nothing in {job.task.ref.label} is called '{key}'.{nearest(word, known)}",
        cure="an option of its decoder or metrics, or a full key: protocol.metrics.0.options.NAME",
    )


def _check_kept(job: Job, store: RunStore) -> None:
    lost = sum(
        line["status"] == "ok" and not store.intact(line["answer"])
        for line in store.predictions(job.rows())
    )
    if lost:
        raise NotRunnable(
            f"{store.path}: {lost:,} answers were not kept, so they cannot be read another way",
            cure="run the task again with --keep all",
        )


def _read(path: Path, job: Job, *, workers: int | None, stopped: Any) -> Reading:
    store = RunStore(path)
    job = calibrate(job, store, keep=False)
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for line in store.predictions(job.rows()):
        lines.setdefault(line["sample"], []).append(line)
    keeper = Keeper(job, store, None, keep="all")
    table = AttemptTable(job.task.metrics, job.rows())

    def score(item: Item) -> list[dict[str, Any]]:
        if stopped is not None and stopped():
            raise Stopped
        return list(_score(job, keeper, item, lines.get(item.id, ())))

    with ThreadPoolExecutor(workers or 2) as pool:
        for records in pool.map(score, job.items):
            table.fill(records)
    return Reading(path, job, Summary(job, table))


def _score(
    job: Job, keeper: Keeper, item: Item, lines: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    if not lines:
        return
    try:
        prepared = prepare(job, job.task.dataset.load(item))
    except NotRunnable:
        raise
    except (VgenEvalError, ValueError, OSError) as exc:
        status: Status = "no_valid_target" if isinstance(exc, NoValidTarget) else "bad_sample"
        for line in lines:
            yield unscored(line, job.codec, status, clean(str(exc)))
        return
    for line in lines:
        answer = keeper.read(line)
        yield score_attempt(job.task, job.codec, line, answer, prepared.sample, prepared.scene)
