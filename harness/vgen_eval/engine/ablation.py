"""What a choice of reading does to a run's numbers: kept answers scored again under others.

No model is asked, and the runs stay as they are: what is found lives in memory alone. Only the
reading changes. What the model was shown and asked (pictures, prompt, choices, samples, seeds)
stays the run's own, whatever another protocol would have asked.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.answers import clean
from vgen_eval.cards.records import ProtocolCard
from vgen_eval.distributions import home_of
from vgen_eval.engine.ablation_keys import ALIASES, PROTOCOL, answer_place, resolve_key
from vgen_eval.engine.calibration import calibrate
from vgen_eval.engine.judges import Judging
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.lost import Lost
from vgen_eval.engine.plan import Job
from vgen_eval.engine.request import prepare
from vgen_eval.engine.rescore import reopen, replay
from vgen_eval.engine.scorer import score_attempt, unscored
from vgen_eval.engine.tasks import SKIP, Task, open_task
from vgen_eval.errors import (
    BadSample,
    CardError,
    NotRunnable,
    NoValidTarget,
    UsageError,
    VgenEvalError,
    nearest,
)
from vgen_eval.results.card import read_card
from vgen_eval.results.lines import check_counts
from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import AttemptTable
from vgen_eval.store.run import RunStore
from vgen_eval.types import STATUS_GROUP, Item, Status
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["ALIASES", "Reading", "Stopped", "read_variants", "resolve_key", "show_value"]

log = logging.getLogger(__name__)


class Stopped(Exception):
    """It was asked to stop."""


class Reading(msgspec.Struct, frozen=True):
    """One run under one value of what is varied."""

    path: Path
    job: Job
    summary: Summary
    is_own: bool
    """Is it how the run itself is scored?"""
    dropped: tuple[str, ...] = ()
    """Options of the protocol that the component put in the place of another does not have."""
    faults: Mapping[str, int] = {}
    """Why attempts have no score -> how many."""


class _Variant(msgspec.Struct, frozen=True):
    """A reading that was opened and not yet made."""

    path: Path
    job: Job
    is_own: bool
    dropped: tuple[str, ...]


def show_value(value: Any) -> str:
    """A value as `--ablate` takes it."""
    return value if isinstance(value, str) else jsonio.dumps(value).decode()


def read_variants(
    paths: Sequence[Path], catalog: Catalog, *, key: str, values: Sequence[Any],
    metric: str | None = None, data_root: str | None = None, workers: int | None = None,
    stopped: Callable[[], bool] | None = None, told: Callable[[str], None] | None = None,
) -> list[list[Reading]]:  # fmt: skip
    """Of each run, its readings under each value; `told` hears what is read now.

    All variants are opened before anything is scored: UsageError for a key, a value or a `metric`
    that a run's protocol does not take, NotRunnable where answers were not kept.
    """
    variants: list[list[_Variant]] = []
    for path in paths:
        base = reopen(path, catalog, data_root=data_root)
        _check_all_there(path)
        _check_kept(base, RunStore(path))
        _check_metric(base, metric if key != PROTOCOL else None)
        full = resolve_key(key, base, metric=metric)
        row = [_vary(path, catalog, base, (key, full), value, data_root) for value in values]
        for variant in row:
            _check_metric(variant.job, metric)
        variants.append(row)
    readings: list[list[Reading]] = []
    for row in variants:
        readings.append([])
        for variant, value in zip(row, values, strict=True):
            if told is not None:
                told(f"{variant.job.model.name} {variant.job.task.ref.label}: {show_value(value)}")
            readings[-1].append(_read(variant, workers=workers, stopped=stopped))
    return readings


def _check_metric(job: Job, metric: str | None) -> None:
    known = [value.name for named in job.task.metrics for value in named.values]
    if metric is not None and metric not in known:
        raise UsageError(
            f"{job.task.ref.label} reports no '{metric}'.{nearest(metric, known)}",
            cure=f"it reports: {', '.join(known)}",
        )


def _check_all_there(path: Path) -> None:
    """NotRunnable where predictions are gone that the run's card knows of."""
    try:
        card = read_card(path)
    except NotRunnable:
        return  # a run that has not ended may be read another way all the same
    check_counts(path, card, scores=False)


def _check_kept(job: Job, store: RunStore) -> None:
    lost = Lost(store)
    count = sum(lost.has(line) for line in store.predictions(job.rows()))
    if count:
        raise lost.fault(
            count,
            so="so the run cannot be read another way",
            cure="run the task again with --keep all",
        )


# --- the same run under another reading


def _vary(
    path: Path, catalog: Catalog, base: Job, keys: tuple[str, str], value: Any,
    data_root: str | None,
) -> _Variant:  # fmt: skip
    """The run under one value; `keys`: as it was given, and the path that it means."""
    key, full = keys
    name = base.task.ref.protocol
    dropped: tuple[str, ...] = ()
    try:
        if full == PROTOCOL:
            name = str(value)
            protocol = _other_protocol(base, name)
        else:
            protocol = cards.override(base.task.protocol, {full: value})
            protocol, dropped = _without_strange_options(protocol, full, base, catalog)
        job = _under(base, name, protocol, catalog, data_root)
    except CardError as exc:
        problem = exc.problems[0]
        where = f"{problem.path}: " if problem.path else ""
        raise UsageError(f"{key}={show_value(value)}: {where}{problem.message}") from exc
    except UsageError as exc:
        raise UsageError(f"{key}={show_value(value)}: {exc.what}", cure=exc.cure) from exc
    return _Variant(path, job, job.score_digest == base.score_digest, dropped)


def _other_protocol(base: Job, name: str) -> ProtocolCard:
    """Another protocol of the task, about answers to what the run asked."""
    own, form = base.task.protocol, base.codec.answer.form
    if name == base.task.ref.protocol:
        return own  # what --set changed of it included
    card = base.task.ref.card
    other = cards.protocol(card, name)
    if form not in [answer.form for answer in other.answers]:
        takers = [
            known
            for known in card.protocols
            if form in [answer.form for answer in cards.protocol(card, known).answers]
        ]
        raise UsageError(
            f"it takes no {form}, which the run's answers are", cure=f"{', '.join(takers)} do"
        )
    asked = {
        key: getattr(base.codec.answer, key) for key in ("choices", "prefix", "choice_scoring")
    }
    answers = [msgspec.structs.replace(answer, **asked) for answer in other.answers]
    return msgspec.structs.replace(
        other,
        answers=tuple(answers),
        input=own.input,
        seed=own.seed,
        sampling=own.sampling,
        attempts=own.attempts,
    )


def _home(job: Job) -> str:
    distribution = job.task.ref.distribution
    return home_of(distribution)


def _without_strange_options(
    protocol: ProtocolCard, path: str, base: Job, catalog: Catalog
) -> tuple[ProtocolCard, tuple[str, ...]]:
    """A component that takes another's place takes those of its options that it knows."""
    place = answer_place(base)
    answer = protocol.answers[place]
    if path == f"answers.{place}.decoder":
        where, options = f"answers.{place}.options", answer.options
        name = answer.decoder or answer.form
    elif path == "failure_value" and protocol.failure_value != SKIP:
        where, options = "failure_options", protocol.failure_options
        name = protocol.failure_value
    else:
        return protocol, ()
    known = catalog.component("decoder", name, home=_home(base)).obj.Options.__struct_fields__
    kept = {option: value for option, value in options.items() if option in known}
    dropped = tuple(option for option in options if option not in kept)
    return cards.override(protocol, {where: kept}), dropped


def _under(
    base: Job, name: str, protocol: ProtocolCard, catalog: Catalog, data_root: str | None
) -> Job:
    """The run's job under another protocol; CardError and UsageError where it cannot be."""
    card = base.task.ref.card
    named = {**card.protocols, name: msgspec.structs.replace(protocol, extends=None)}
    ref = msgspec.structs.replace(
        base.task.ref, card=msgspec.structs.replace(card, protocols=named), protocol=name
    )
    if protocol.data == base.task.protocol.data:
        reader = catalog.component("dataset", card.dataset.reader, home=_home(base))
        task = Task(ref, protocol, base.task.dataset, base.task.items, catalog, reader)
    else:
        task = open_task(ref, catalog, overrides={}, data_root=data_root, partial=True)
    known = {item.id: item for item in task.items}
    gone = [item.id for item in base.items if item.id not in known]
    if gone:
        raise UsageError(f"sample '{gone[0]}' is not in its part of the data")
    form = base.codec.answer.form
    codec = task.codec(next(answer for answer in protocol.answers if answer.form == form))
    # nothing is asked: no prompt is filled, and no truth is encoded for a ceiling
    asks_nothing = msgspec.structs.replace(base.model.card, role="model")
    return msgspec.structs.replace(
        base,
        task=task,
        codec=codec,
        model=msgspec.structs.replace(base.model, card=asks_nothing),
        prompt="",
        items=tuple(known[item.id] for item in base.items),
    )


# --- scoring


def _read(variant: _Variant, *, workers: int | None, stopped: Callable[[], bool] | None) -> Reading:
    store = RunStore(variant.path)
    job = calibrate(variant.job, store, keep=False)
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for line in store.predictions(job.rows()):
        lines.setdefault(line["sample"], []).append(line)
    keeper = Keeper(job, store, None, keep="all")
    judging = replay(job, store)
    table = AttemptTable(job.task.metrics, job.rows())
    faults: Counter[str] = Counter()

    def score(item: Item) -> list[dict[str, Any]]:
        if stopped is not None and stopped():
            raise Stopped
        return list(_score(job, keeper, judging, item, lines.get(item.id, ())))

    with ThreadPoolExecutor(workers or min(4, os.cpu_count() or 1)) as pool:
        for records in pool.map(score, job.items):
            table.fill(records)
            faults.update(
                record.get("reason", record["status"])
                for record in records
                if STATUS_GROUP[record["status"]] in ("infrastructure", "data_fault")
            )
    return Reading(
        variant.path, job, Summary(job, table), variant.is_own, variant.dropped, dict(faults)
    )


def _score(
    job: Job,
    keeper: Keeper,
    judging: Judging | None,
    item: Item,
    lines: Sequence[Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    if not lines:
        return
    try:
        sample = job.task.dataset.load(item)
        if sample.id != item.id:
            raise BadSample(f"the reader gave sample '{sample.id}' for '{item.id}'")
        prepared = prepare(job, sample)
    except NotRunnable:
        raise  # a library or the data is missing: no fault of this sample
    # readers are anyone's code: what they raise spoils their sample alone
    except (Exception, SystemExit) as exc:
        if not isinstance(exc, VgenEvalError):
            log.warning("%s: loading failed", item.id, exc_info=True)
        status: Status = "no_valid_target" if isinstance(exc, NoValidTarget) else "bad_sample"
        for line in lines:
            yield unscored(
                line,
                job.codec,
                status,
                clean(exc.what if isinstance(exc, VgenEvalError) else describe(exc)),
            )
        return
    for line in lines:
        answer = keeper.read(line)
        yield score_attempt(
            job.task, job.codec, line, answer, prepared.sample, prepared.scene, judging
        )
