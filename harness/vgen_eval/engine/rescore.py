"""Scores a run again from the answers it kept: no model is asked."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards
from vgen_eval.cards.records import ModelCard, TaskCard
from vgen_eval.engine.calibration import calibrate
from vgen_eval.engine.formats import reopen_imported
from vgen_eval.engine.judges import Judging
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.models import Model
from vgen_eval.engine.naming import TaskRef
from vgen_eval.engine.pipeline import Pipeline, Stop
from vgen_eval.engine.plan import Job
from vgen_eval.engine.session import Reporter, Silent
from vgen_eval.engine.tasks import open_recorded, open_task
from vgen_eval.engine.todo import Rescoring
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.pairing import Unpaired, pair
from vgen_eval.results.build import Sitting, build_card
from vgen_eval.results.card import Bound, ResultCard, read_card, write_card
from vgen_eval.store.journal import read_lines
from vgen_eval.store.record import AGAIN
from vgen_eval.store.run import RunStore
from vgen_eval.store.transcript import Transcript
from vgen_eval.types import Adapter

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["reopen", "replay", "rescore", "results_folder"]

log = logging.getLogger(__name__)


def _recorded_model(record: Mapping[str, Any], card: ModelCard) -> Model:
    """The model that a run was made with; it answers nothing any more."""
    identity = record["model_identity"]
    return Model(
        name=card.model,
        distribution=record["model"].partition(":")[0],
        card=card,
        adapter=identity["adapter"],
        adapter_version=identity["adapter_version"],
        build=_no_adapter,
        card_digest=cards.card_digest(card),
        facts=identity.get("facts", {}),
        options=identity["card"].get("options", {}),
        reusable=False,
    )


def _recorded_judge(record: Mapping[str, Any]) -> Model | None:
    """Who judged, as the run's record has it; None where nobody did."""
    told = record.get("judge")
    if told is None:
        return None
    try:
        card = msgspec.convert(told["card"], ModelCard)
        return _recorded_model({"model": told["model"], "model_identity": told["identity"]}, card)
    except (KeyError, TypeError, ValueError) as exc:
        raise NotRunnable(f"run.json: 'judge' is damaged: {exc}", cure=AGAIN) from exc


def reopen(
    path: Path, catalog: Catalog, *, data_root: str | None = None, with_data: bool = True,
    first: int | None = None,
) -> Job:  # fmt: skip
    """The job of a run, from its run.json: same samples, same protocol, today's components.

    Without `with_data` its samples are those that the run wrote down, and none can be loaded; the
    data is opened all the same for a run that wrote none down. `first`: of so many samples, the
    first of the run, alone.
    """
    store = RunStore(path)
    record = store.asked
    try:
        task_card = msgspec.convert(record["cards"]["task"], TaskCard)
        model_card = msgspec.convert(record["cards"]["model"], ModelCard)
        distribution = record["identity"]["task"]["task"].partition(":")[0]
        protocol = record["task"].rpartition("@")[2]
        ref = TaskRef(
            name=task_card.task,
            distribution=distribution,
            card=task_card,
            card_digest=cards.card_digest(task_card),
            folder=_card_folder(record, distribution, task_card.task, catalog),
            protocol=protocol,
            exact=True,
        )
        model = _recorded_model(record, model_card)
        overrides = {
            key.removeprefix("protocol."): value
            for key, value in record["settings"]["set"].items()
            if key.startswith("protocol.")
        }
        root = data_root or record["settings"]["data_root"]
    except (KeyError, TypeError, ValueError) as exc:
        raise NotRunnable(
            f"{path}/run.json: damaged or of another version: {exc}", cure=AGAIN
        ) from exc
    chosen = record["samples"][:first]
    items = None if with_data else store.samples(slice(first))
    if items is None and model_card.options.get("own_samples") is True:
        task = reopen_imported(ref, catalog, model_card.options, overrides=overrides)
    elif items is None:
        task = open_task(ref, catalog, overrides=overrides, data_root=root, partial=True)
    else:
        task = open_recorded(
            ref, catalog, overrides=overrides, items=items,
            fingerprint=record["identity"]["task"]["data"],
        )  # fmt: skip
    judge = _recorded_judge(record)
    try:
        codec = task.codec(pair(task.protocol, model_card, form=record["answer"]))
    except Unpaired as exc:
        raise NotRunnable(f"{path}: {exc}") from exc
    if (judge is None) != (codec.judge is None):
        raise NotRunnable(f"{path}/run.json: damaged: 'judge' is missing", cure=AGAIN)
    known = {item.id: item for item in task.items}
    gone = [sample for sample in chosen if sample not in known]
    if gone:
        raise NotRunnable(f"{path}: sample '{gone[0]}' is no longer in the data")
    return Job(
        task=task,
        model=model,
        codec=codec,
        variant=record["prompt"]["variant"],
        prompt=record["prompt"]["text"],
        items=tuple(known[sample] for sample in chosen),
        selection=record["selection"],
        attempts=record["attempts"],
        identity=record["identity"],
        run_id=record["run"],
        path=path,
        judge=judge,
    )


def _card_folder(record: Any, distribution: str, name: str, catalog: Catalog) -> Path:
    """Where the task card lies today: with its plugin, or where it lay when it was a file."""
    if distribution == "local":
        return Path(record["cards"]["task_folder"])
    _, head = catalog.find("task", f"{distribution}:{name}")
    return head.path.parent


def _no_adapter(_device: str | None) -> Adapter:
    raise UsageError("scoring asks no model")


def rescore(
    path: Path,
    catalog: Catalog,
    *,
    data_root: str | None = None,
    workers: int | None = None,
    reporter: Reporter | None = None,
    stop: Stop | None = None,
) -> ResultCard | None:
    """Scores the kept answers of a run anew and replaces its scores and card; None when stopped.

    The old scores stay in place until the new ones are complete. Attempts that were never made
    stay missing; answers that were not kept keep no score.
    """
    reporter = reporter or Silent()
    stop = stop or Stop()
    path = path.resolve()
    job = reopen(path, catalog, data_root=data_root)
    store = RunStore(path)
    store.lock()
    started = time.monotonic()
    try:
        store.write_samples(job.items)
        job = calibrate(job, store)
        store.begin_rescore(job.score_digest)
        todo = Rescoring(job, store)
        if todo.stand:
            log.warning("%s: %s: the old scores stand", path, todo.stand)
        reporter.job_start(job, 0)
        pipeline = Pipeline(
            job,
            store,
            Keeper(job, store, None, keep="all"),
            workers=workers,
            stop=stop,
            on_attempt=lambda status: reporter.attempt(job, status),
            judging=replay(job, store),
        )
        pipeline.run(todo, None)
        if stop.soft.is_set():
            return None
        store.end_rescore(job.score_digest)
        card = build_card(
            job, store, results_folder(job), catalog=catalog, bounds=_old_bounds(path),
            sitting=Sitting(wall_s=time.monotonic() - started),
        )  # fmt: skip
        write_card(path, card)
    finally:
        store.close()
    reporter.job_end(job, card)
    return card


def replay(job: Job, store: RunStore) -> Judging | None:
    """The job's judge, answered by the transcript alone; None where nothing is judged."""
    if job.judge is None or job.codec.judge is None:
        return None
    lines = (line for path in store.all_scores() for _, line in read_lines(path))
    return Judging(
        job.codec.judge,
        job.judge,
        Transcript(store),
        family=job.task.ref.card.family,
        judged={(line["sample"], line["attempt"]) for line in lines if line["status"] == "ok"},
    )


def _old_bounds(path: Path) -> dict[str, Bound | None]:
    """Ceiling and floor as the run's last card has them."""
    try:
        card = read_card(path)
    except NotRunnable:
        return {}
    return {"ceiling": card.ceiling, "floor": card.floor}


def results_folder(job: Job) -> Path:
    """The results folder that a run lies in, above runs/<model>/<task>@<protocol>/<run>.

    Of a run that was copied elsewhere it is the folder that it lies in.
    """
    path = job.path.resolve()
    within = ("runs", *Path(job.model.folder).parts, *Path(job.task.ref.path).parts)
    is_in_place = path.parts[-len(within) - 1 : -1] == within
    return path.parents[len(within)] if is_in_place else path.parent
