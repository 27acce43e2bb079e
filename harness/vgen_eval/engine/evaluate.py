"""Runs a plan: one job after the other, ceiling and floor beside each, a card when each ends."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from vgen_eval.engine.keeping import Keeper
from vgen_eval.engine.models import Model, from_function
from vgen_eval.engine.pipeline import Pipeline, Stop
from vgen_eval.engine.plan import Job, Plan, Skip, make_plan
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.todo import Todo
from vgen_eval.errors import (
    CardError,
    MissingKey,
    NotRunnable,
    RunLocked,
    StorageError,
    UsageError,
)
from vgen_eval.results.build import build_card, describe_run
from vgen_eval.results.card import Bound, ResultCard, read_card, write_card
from vgen_eval.store.index import ResponseIndex
from vgen_eval.store.run import RunStore
from vgen_eval.types import Adapter, AnswerForm, Request

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Reporter", "Results", "evaluate", "run_plan"]

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


class Results(list[ResultCard]):
    """The result cards of an evaluation, in the order run."""

    def __repr__(self) -> str:
        return f"Results({list(self)!r}, skipped={len(self.skipped)})"

    def __init__(
        self,
        cards: Iterable[ResultCard] = (),
        *,
        skipped: Sequence[Skip] = (),
        suites: Mapping[str, Sequence[str]] | None = None,
        stopped: bool = False,
    ) -> None:
        super().__init__(cards)
        self.skipped = tuple(skipped)
        """Pairs that were asked for and not run, each with its reason."""
        self.suites = dict(suites or {})
        self.stopped = stopped
        """Whether a signal ended it early."""

    def exit_code(self, fail_over: float | None = None) -> int:
        """0 done; 1 incomplete, unscored, or over `fail_over`; 3 a named pair could not run."""
        if any(not card.complete or not _scored(card) for card in self):
            return 1
        if fail_over is not None and any(_failed_share(card) > fail_over for card in self):
            return 1
        return 3 if not self or any(skip.exact for skip in self.skipped) else 0


def _scored(card: ResultCard) -> int:
    return card.counts.answered + card.counts.model_failure


def _failed_share(card: ResultCard) -> float:
    counts = card.counts
    asked = counts.expected - counts.data_fault
    return (counts.model_failure + counts.infrastructure) / asked if asked else 0.0


def evaluate(
    *,
    tasks: str | Sequence[str],
    model: str | Callable[[Request], Any] | None = None,
    models: Sequence[str | Callable[[Request], Any]] = (),
    forms: Sequence[AnswerForm] = (),
    model_name: str | None = None,
    catalog: Catalog | None = None,
    reporter: Reporter | None = None,
    stop: Stop | None = None,
    **settings: Any,
) -> Results:
    """Runs tasks with models and returns their result cards.

    Args:
        tasks: names, globs, card files, `suite:NAME`, or "all".
        model: a model's name, or a plain function from a Request to an answer.
        models: several of them.
        forms: the answer forms a plain function gives, best first.
        model_name: what to call a plain function in cards and paths. It vouches for the function:
            its run is resumed while its own code and what it holds are the same. Without it each
            call asks anew.
        catalog: the plugins to use; those installed when None.
        reporter: told what happens.
        stop: lets another thread stop the run.
        settings: the other fields of `vgen_eval.engine.settings.Settings`, such as limit=10,
            output="results", set={"generation.seed": 1}.

    Raises:
        UsageError, CardError: what was asked cannot be meant.
        NotRunnable: something named exactly cannot run here.
    """
    from vgen_eval.cards import convert
    from vgen_eval.plugins import Catalog as Plugins

    asked = [*([] if model is None else [model]), *_listed(models)]
    functions = [entry for entry in asked if not isinstance(entry, str)]
    for entry in functions:
        if not callable(entry):
            raise UsageError(f"a model is a name or a function, {type(entry).__name__} given")
    names = tuple(entry for entry in asked if isinstance(entry, str))
    if functions and len(functions) > 1 and model_name:
        raise UsageError("model_name names one plain function, several were given")
    fields = {**settings, "tasks": tasks, "models": names}
    for key in ("output", "data_root"):
        if isinstance(fields.get(key), os.PathLike):
            fields[key] = os.fspath(fields[key])
    for key in ("tasks", "prompt", "samples", "retry_failed"):
        if key in fields:
            fields[key] = _listed(fields[key])
    read = convert(Settings, fields, file="evaluate")
    catalog = catalog or Plugins.discover()
    given = tuple(_listed(forms))
    made = [from_function(function, name=model_name, forms=given) for function in functions]
    plan = make_plan(read, catalog, made)
    if not plan.jobs and any(skip.exact for skip in plan.skipped):
        reasons = dict.fromkeys(
            f"{skip.task} with {skip.model}: {skip.reason}" for skip in plan.skipped if skip.exact
        )
        raise NotRunnable("; ".join(reasons))
    return run_plan(plan, read, catalog, reporter=reporter, stop=stop)


def _listed(value: Any) -> list[Any]:
    """One name, path or function stands for a list of one."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)


def run_plan(
    plan: Plan,
    settings: Settings,
    catalog: Catalog,
    *,
    reporter: Reporter | None = None,
    stop: Stop | None = None,
    unknown_ids: Sequence[str] = (),
) -> Results:
    """Runs the jobs of a plan in order; a stop leaves valid, incomplete cards.

    `unknown_ids`: ids of imported predictions that no sample has, for the cards.
    """
    reporter = reporter or Silent()
    stop = stop or Stop()
    for job in plan.jobs:
        if job.model.missing_key:
            raise MissingKey(job.model.missing_key)
    reporter.plan(plan)
    cards: list[ResultCard] = []
    skipped = list(plan.skipped)
    with _Session(settings, catalog, reporter, stop) as session:
        for job in plan.jobs:
            if stop.soft.is_set():
                break
            try:
                cards.append(session.run(job, unknown_ids=unknown_ids))
                _warn_of_failure(cards[-1])
            except NotRunnable as exc:
                if len(plan.jobs) == 1:
                    raise
                # the others' runs do not hang on this one
                log.warning(
                    "%s, %s: %s", job.task.ref.label, job.model.name, exc.what, exc_info=exc
                )
                reason = f"{exc.what} ({exc.cure})" if exc.cure else exc.what
                skipped.append(Skip(job.task.ref.label, job.model.name, reason, exact=True))
    return Results(cards, skipped=skipped, suites=plan.suites, stopped=stop.soft.is_set())


def _warn_of_failure(card: ResultCard) -> None:
    """Who calls from Python sees no table: a score of substitutes alone must not pass for one."""
    counts = card.counts
    if counts.model_failure and not counts.answered:
        log.warning("%s, %s: no answer could be scored: %s", card.task, card.model, counts.statuses)


class _Session:
    """What the jobs of a plan share: the response index and the adapter that is loaded."""

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
        self._loaded: tuple[Model, Adapter] | None = None
        self._bounds: dict[Path, Bound] = {}

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._unload()
        self.index.close()

    # --- adapters -------------------------------------------------------------------------

    def _adapter(self, model: Model) -> Adapter:
        """The model's adapter, loaded; one at a time stays in memory."""
        if self._loaded is not None and self._loaded[0] is model:
            return self._loaded[1]
        self._unload()
        try:
            adapter = model.build(self.settings.device)
            load = getattr(adapter, "load", None)
            if load is not None:
                load()
        except (CardError, NotRunnable, StorageError, UsageError, KeyboardInterrupt):
            raise
        # whatever an adapter raises while loading, SystemExit too, ends its model's run with a
        # named cause
        except BaseException as exc:
            raise NotRunnable(
                f"model '{model.name}' cannot be loaded: {type(exc).__name__}: {exc}",
                cure="see the log for the traceback",
            ) from exc
        self._loaded = (model, adapter)
        return adapter

    def _unload(self) -> None:
        if self._loaded is None:
            return
        (model, adapter), self._loaded = self._loaded, None
        if self.stop.hard.is_set():
            return  # a call may still be running inside it
        try:
            close = getattr(adapter, "close", None)
            if close is not None:
                close()
        except KeyboardInterrupt:
            raise
        except BaseException:
            log.exception("model '%s': close failed", model.name)

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
        store = RunStore(job.path)
        store.lock()
        started = time.monotonic()
        try:
            if not store.has_record():
                store.write_record(describe_run(job, self.settings if report else self._bare))
            todo = Todo(job, store, retry=self.settings.retry_failed)
            reporter.job_start(job, todo.finished)
            if todo and not self.stop.soft.is_set():
                pipeline = Pipeline(
                    job,
                    store,
                    Keeper(
                        job, store, self.index, self.settings.keep, reuse=not self.settings.fresh
                    ),
                    workers=self.settings.workers,
                    batch_size=self.settings.batch_size,
                    stop=self.stop,
                    on_attempt=lambda status: reporter.attempt(job, status),
                )
                try:
                    pipeline.run(todo, self._adapter(job.model) if todo.needs_model else None)
                finally:
                    self.index.flush()
            wall = time.monotonic() - started
            del todo  # some 8 MB at 100,000 samples, and the card needs its own
            card = build_card(
                job, store, self.results, catalog=self.catalog, bounds=bounds,
                wall_s=wall, device=self.settings.device, unknown_ids=unknown_ids,
            )  # fmt: skip
            write_card(job.path, card)
        finally:
            store.close()
        reporter.job_end(job, card)
        return card
