"""Runs jobs one after the other, ceiling and floor beside each, a card when each ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from vgen_eval.distributions import HOME
from vgen_eval.engine.adapter_life import close_adapter, load_adapter
from vgen_eval.engine.budget import Purse
from vgen_eval.engine.calibration import calibrate, first_samples, is_calibrated_on, recall
from vgen_eval.engine.calling import count_callers, make_caller
from vgen_eval.engine.judges import Judging
from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.limits import Gate
from vgen_eval.engine.models import BOUNDS, Model
from vgen_eval.engine.pipeline import Pipeline, Stop
from vgen_eval.engine.plan import Job, Plan
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.todo import Todo
from vgen_eval.errors import AccessDenied, NotRunnable, RunLocked
from vgen_eval.results.build import Sitting, build_card, describe_run
from vgen_eval.results.card import Bound, ResultCard, read_card, write_card
from vgen_eval.store.index import ResponseIndex
from vgen_eval.store.run import RunStore
from vgen_eval.store.transcript import Transcript
from vgen_eval.types import Adapter

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Reporter", "Session", "Silent"]

log = logging.getLogger(__name__)

BOUND_WAIT_S = 60.0
"""How long to wait for a ceiling or floor that another process is making."""


class Reporter(Protocol):
    """Told what happens while a plan runs; `attempt` comes from several threads."""

    def plan(self, plan: Plan) -> None:
        """The plan is made and about to be run."""

    def job_start(self, job: Job, finished: int) -> None:
        """A run begins; `finished` of its attempts are there already."""

    def attempt(self, job: Job, status: str) -> None:
        """An attempt is scored."""

    def job_end(self, job: Job, card: ResultCard) -> None:
        """A run has its card."""


class Silent:
    """A reporter that says nothing."""

    def plan(self, plan: Plan) -> None: ...
    def job_start(self, job: Job, finished: int) -> None: ...
    def attempt(self, job: Job, status: str) -> None: ...
    def job_end(self, job: Job, card: ResultCard) -> None: ...


class Session:
    """What the jobs of a plan share: response index, loaded adapter, gates and purse."""

    def __init__(
        self, settings: Settings, catalog: Catalog, reporter: Reporter, stop: Stop
    ) -> None:
        self.settings = settings
        # of what was asked, ceiling and floor follow what is said of the protocol alone
        protocol = {k: v for k, v in settings.set.items() if k.startswith("protocol.")}
        self._bare = msgspec.structs.replace(settings, set=protocol, model_args={})
        self.catalog = catalog
        self.reporter = reporter
        self.stop = stop
        self.results = Path(settings.output)
        self.index = ResponseIndex(self.results)
        self.purse = Purse.of(settings, stop)
        self._gates: dict[tuple[str, str | None], Gate] = {}
        self._loaded: dict[str, tuple[Model, Adapter]] = {}
        """Part that it plays, model or judge -> the model that plays it now, loaded."""
        self._bounds: dict[Path, Bound] = {}
        self._faults: dict[int, NotRunnable] = {}
        """id of a model -> why it is not called any more."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for part in tuple(self._loaded):
            self._unload(part)
        self.index.close()

    def refuse(self, model: Model, fault: NotRunnable) -> None:
        """From here on the model is not called: what needs it ends with this fault."""
        self._faults[id(model)] = fault

    # --- adapters -------------------------------------------------------------------------

    def _adapter(self, model: Model, part: str = "model") -> Adapter:
        """The model's adapter, loaded; one at a time stays in memory of those that play a part."""
        if id(model) in self._faults:
            raise self._faults[id(model)]
        if part in self._loaded and self._loaded[part][0] is model:
            return self._loaded[part][1]
        self._unload(part)
        try:
            adapter = load_adapter(model, self.settings)
        except NotRunnable as exc:
            self.refuse(model, exc)
            raise
        self._loaded[part] = (model, adapter)
        return adapter

    def _gate(self, model: Model, adapter: Adapter) -> Gate | None:
        """The gate that the model's calls go through; None where nothing is limited.

        Jobs that call one host with one key share it, and what it found out.
        """
        card = model.card
        endpoint = getattr(adapter, "endpoint", None)
        if endpoint is None and card.limits.per_minute is None:
            return None  # as many threads call as there may be calls
        key = (endpoint or f" {model.identity_digest()}", card.needs.key_env)
        gate = self._gates.setdefault(key, Gate())
        gate.begin(
            most=count_callers(adapter, card),
            per_minute=card.limits.per_minute,
            adapts=endpoint is not None,
        )
        return gate

    def _purse(self, model: Model) -> Purse | None:
        """The purse that the model's calls are paid from: ceiling, floor and baselines are free."""
        card, own = model.card, model.distribution == HOME
        free = card.role in BOUNDS or (own and card.availability == "code")
        return None if free else self.purse

    def _judging(self, job: Job, store: RunStore, todo: Todo) -> Judging | None:
        """The job's judge, its model loaded; None where its answers are not judged."""
        if job.judge is None or job.codec.judge is None:
            return None
        adapter = self._adapter(job.judge, "judge")
        gate = self._gate(job.judge, adapter)
        caller = make_caller(
            adapter, job.judge.card, "text",
            stop=self.stop, gate=gate, purse=self._purse(job.judge),
        )  # fmt: skip
        return Judging(
            job.codec.judge,
            job.judge,
            Transcript(store),
            family=job.task.ref.card.family,
            adapter=adapter,
            caller=caller,
            gate=gate,
            stop=self.stop,
            anew=todo.misjudged if "judge_error" in self.settings.retry_failed else (),
        )

    def _unload(self, part: str) -> None:
        if part not in self._loaded:
            return
        model, adapter = self._loaded.pop(part)
        if self.stop.hard.is_set():
            return  # a call may still be running inside it
        close_adapter(model, adapter)

    # --- one job --------------------------------------------------------------------------

    def run(self, job: Job, *, unknown_ids: Sequence[str] = ()) -> ResultCard:
        """Runs a job and its bounds, and writes its card."""
        bounds = {
            role: self._bound(companion)
            for role, companion in (("ceiling", job.ceiling), ("floor", job.floor))
            if companion is not None
        }
        return self._run(job, report=True, bounds=bounds, unknown_ids=unknown_ids)

    def _bound(self, job: Job) -> Bound | None:
        """The primary value of the ceiling or floor; its run is made once, or found complete."""
        if job.path not in self._bounds:
            card = self._finished_card(job) or self._make_bound(job)
            if card is None:
                return None
            self._bounds[job.path] = Bound(
                model=job.model.name, run=card.run, metric=card.primary, value=card.score().value
            )
        return self._bounds[job.path]

    def _make_bound(self, job: Job) -> ResultCard | None:
        """Runs the ceiling or floor, or waits while another process does."""
        deadline = time.monotonic() + BOUND_WAIT_S
        while not self.stop.soft.is_set():
            try:
                card = self._run(job, report=False, bounds={})
            except RunLocked as exc:
                if time.monotonic() > deadline:
                    log.warning("no %s for %s: %s", job.model.card.role, job.task.ref.label, exc)
                    return None
                time.sleep(0.2)
            except NotRunnable as exc:
                log.warning("no %s for %s: %s", job.model.card.role, job.task.ref.label, exc.what)
                return None
            else:
                return card if card.complete else None
        return None

    def _finished_card(self, job: Job) -> ResultCard | None:
        """The card of a run that is complete under today's decoders and metrics."""
        try:
            card = read_card(job.path)
        except NotRunnable:
            return None
        same = card.protocol_info.get("score_digest") == job.score_digest
        return card if card.complete and same else None

    def _run(
        self, job: Job, *, report: bool, bounds: Mapping[str, Bound | None],
        unknown_ids: Sequence[str] = (),
    ) -> ResultCard:  # fmt: skip
        reporter = self.reporter if report else Silent()
        is_new, has_card = not job.path.exists(), False
        store = RunStore(job.path)
        store.lock()
        started = time.monotonic()
        fault: NotRunnable | None = None
        try:
            if not store.has_record():
                store.write_record(describe_run(job, self.settings if report else self._bare))
            store.write_samples(job.items)
            job, sitting, fault = self._finish(job, store, reporter)
            is_begun = store.predictions_path.exists()
            if fault is not None and not (is_begun or sitting.unfinished):
                raise fault
            sitting = msgspec.structs.replace(sitting, wall_s=time.monotonic() - started)
            card = build_card(
                job, store, self.results, catalog=self.catalog, bounds=bounds,
                sitting=sitting, unknown_ids=unknown_ids,
            )  # fmt: skip
            write_card(job.path, card)
            has_card = True
        finally:
            if is_new and not has_card and not store.predictions_path.exists():
                self._discard(store)
            store.close()
        if fault is None or is_begun:
            reporter.job_end(job, card)
        if fault is not None:
            raise fault
        return card

    def _discard(self, store: RunStore) -> None:
        """Takes away the folder of a run that asked for nothing, and what it left empty above."""
        try:
            for name in ("run.json", "samples.jsonl", "lock"):
                (store.path / name).unlink(missing_ok=True)
            folder = store.path
            while folder != self.results:
                folder.rmdir()
                folder = folder.parent
        except OSError:
            return  # not empty

    def _finish(
        self, job: Job, store: RunStore, reporter: Reporter
    ) -> tuple[Job, Sitting, NotRunnable | None]:
        """Makes what is left of a run, its decoder calibrated first where the protocol says so.

        The job as it was scored, what that took, and why it could not go on, if so.
        """
        known = recall(job, store)
        retry = self.settings.retry_failed
        todo = Todo(known or job, store, retry=retry)
        reporter.job_start(job, todo.finished)
        sitting, fault = Sitting(device=self.settings.device), None
        first = first_samples(job) if known is None else None
        if first is not None:
            asking = Todo(first, store)
            if asking.needs_model and not self.stop.soft.is_set():
                sitting, fault = self._do(first, store, asking, Silent(), scores=False)
        while True:
            if first is not None:
                job = calibrate(job, store)
                todo = Todo(job, store, retry=retry)
            elif known is not None:
                job = known
            if todo and fault is None and not self.stop.soft.is_set():
                more, fault = self._do(job, store, todo, reporter)
                sitting = sitting.plus(more)
            ended = fault is not None or self.stop.soft.is_set()
            if ended or is_calibrated_on(job, store):
                return job, sitting, fault
            # an answer that it was calibrated on was made again
            first, retry = job, ()

    def _do(
        self, job: Job, store: RunStore, todo: Todo, reporter: Reporter, *, scores: bool = True
    ) -> tuple[Sitting, NotRunnable | None]:
        """Makes what a todo lists: what that took, and why it could not go on, if so."""
        adapter: Adapter | None = None
        pipeline: Pipeline | None = None
        fault: NotRunnable | None = None
        try:
            judging = self._judging(job, store, todo) if scores else None  # before any is generated
            adapter = self._adapter(job.model) if todo.needs_model else None
            pipeline = Pipeline(
                job,
                store,
                Keeper(job, store, self.index, self.settings.keep, reuse=not self.settings.fresh),
                workers=self.settings.workers,
                batch_size=self.settings.batch_size,
                stop=self.stop,
                on_attempt=lambda status: reporter.attempt(job, status),
                gate=None if adapter is None else self._gate(job.model, adapter),
                purse=self._purse(job.model),
                scores=scores,
                judging=judging,
            )
            pipeline.run(todo, adapter)
        except NotRunnable as exc:
            fault = exc
            if isinstance(exc, AccessDenied):
                self.refuse(job.model, exc)
        finally:
            self.index.flush()
        sitting = Sitting(device=self.settings.device, endpoint=getattr(adapter, "endpoint", None))
        if pipeline is not None:
            sitting = msgspec.structs.replace(
                sitting,
                calls=pipeline.calls,
                calling_s=pipeline.calling_s,
                unfinished=tuple(pipeline.unfinished),
            )
        return sitting, fault
