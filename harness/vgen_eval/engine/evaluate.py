"""Runs what was asked: makes a plan, lets its jobs through one after the other, gives the cards."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.engine.calibration import recall
from vgen_eval.engine.models import Model, build_adapter, from_function
from vgen_eval.engine.pipeline import Stop
from vgen_eval.engine.plan import Job, Plan, Skip, make_plan
from vgen_eval.engine.session import Reporter, Session, Silent
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.todo import Todo
from vgen_eval.engine.trust import refuse, refuse_keys
from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.results.card import ResultCard
from vgen_eval.secrets import read_secret, redact
from vgen_eval.store.run import RunStore
from vgen_eval.types import AnswerForm, Request

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Results", "evaluate", "run_plan"]

log = logging.getLogger(__name__)


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
        stop_reason: str | None = None,
    ) -> None:
        super().__init__(cards)
        self.skipped = tuple(skipped)
        """Pairs that were asked for and not run, each with its reason."""
        self.suites = dict(suites or {})
        self.stopped = stopped
        """Whether a signal or a budget ended it early."""
        self.stop_reason = stop_reason
        """What a budget that ended it says: what was reached, and how it goes on."""

    def exit_code(self, fail_over: float | None = None) -> int:
        """0 done; 1 incomplete, unscored, or over `fail_over`; 3 a named pair could not run."""
        if self.stop_reason or any(not card.complete or not _scored(card) for card in self):
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
    from vgen_eval.plugins import Catalog as Plugins

    asked = [*([] if model is None else [model]), *_listed(models)]
    functions = [entry for entry in asked if not isinstance(entry, str)]
    for entry in functions:
        if not callable(entry):
            raise UsageError(f"a model is a name or a function, {type(entry).__name__} given")
    names = tuple(entry for entry in asked if isinstance(entry, str))
    if functions and len(functions) > 1 and model_name:
        raise UsageError("model_name names one plain function, several were given")
    read = _read_settings({**settings, "tasks": tasks, "models": names})
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


def _read_settings(fields: dict[str, Any]) -> Settings:
    """Settings from arguments of Python: a path where a name is wanted, one where a list is."""
    from vgen_eval.cards import convert

    for key in ("output", "data_root"):
        if isinstance(fields.get(key), os.PathLike):
            fields[key] = os.fspath(fields[key])
    for key in ("tasks", "prompt", "samples", "retry_failed", "allow_host"):
        if key in fields:
            fields[key] = _listed(fields[key])
    return convert(Settings, fields, file="evaluate")


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
    models = {id(model): model for job in plan.jobs for model in job.models}
    refused = _ask_access(models.values(), settings)
    jobs, skipped = _allowed(plan, settings, refused)
    reporter.plan(msgspec.structs.replace(plan, jobs=jobs, skipped=tuple(skipped)))
    cards: list[ResultCard] = []
    told: set[int] = set()
    with Session(settings, catalog, reporter, stop) as session:
        for job in jobs:
            if id(job.model) in refused:  # it is all there; should it not be, nothing is called
                session.refuse(job.model, refused[id(job.model)])
        for job in jobs:
            if stop.soft.is_set():
                break
            try:
                cards.append(session.run(job, unknown_ids=unknown_ids))
                _warn_of_failure(cards[-1])
            except NotRunnable as exc:
                if len(plan.jobs) == 1:
                    raise
                # the others' runs do not hang on this one
                if id(exc) not in told:  # a model that is out is so for all of its jobs
                    told.add(id(exc))
                    log.warning(
                        "%s, %s: %s", job.task.ref.label, job.model.name, exc.what, exc_info=exc
                    )
                skipped.append(_skip(job, exc))
        reason_to_stop = session.purse.reason if session.purse is not None else None
    if reason_to_stop is not None:
        log.warning("%s", reason_to_stop)
    return Results(
        cards,
        skipped=skipped,
        suites=plan.suites,
        stopped=stop.soft.is_set(),
        stop_reason=reason_to_stop,
    )


def _ask_access(models: Collection[Model], settings: Settings) -> dict[int, NotRunnable]:
    """id of a model -> why it may not be called: a key is not set, or nobody allowed what it wants.

    UsageError when an option holds a key.
    """
    refused: dict[int, NotRunnable] = {}
    for model in models:
        if model.card.needs.key_env is not None:
            try:
                read_secret(model.card.needs.key_env)  # cut out of all that is kept from here on
            except NotRunnable as exc:
                refused[id(model)] = exc
    for model in models:
        refuse_keys(model, settings)
        options = model.card.options
        wants = model.card.needs.key_env or options.get("env") or options.get("pass_env")
        if wants and not model.trusted and id(model) not in refused:
            try:
                refuse(model, build_adapter(model, settings.device), settings)
            except NotRunnable as exc:
                refused[id(model)] = exc
    return refused


def _allowed(
    plan: Plan, settings: Settings, refused: Mapping[int, NotRunnable]
) -> tuple[tuple[Job, ...], list[Skip]]:
    """The jobs that may be run, and what is skipped: what is answered already needs no model.

    NotRunnable when that leaves none, or there is one model alone.
    """
    jobs: list[Job] = []
    faults: list[NotRunnable] = []
    skipped = list(plan.skipped)
    is_alone = len({id(job.model) for job in plan.jobs}) == 1
    for job in plan.jobs:
        fault = _refusal(job, refused, settings)
        if fault is None:
            jobs.append(job)
        elif is_alone and (job.task.ref.exact or id(job.model) in refused):
            raise fault
        else:
            faults.append(fault)
            skipped.append(_skip(job, fault, exact=job.task.ref.exact or not is_alone))
    if faults and not jobs:
        raise faults[0]
    return tuple(jobs), skipped


def _refusal(
    job: Job, refused: Mapping[int, NotRunnable], settings: Settings
) -> NotRunnable | None:
    """Why a job cannot be run: its model may not be called, or its judge, and something is left."""
    of_model = refused.get(id(job.model))
    of_judge = None if job.judge is None else refused.get(id(job.judge))
    if of_model is None and of_judge is None:
        return None
    store = RunStore(job.path)
    todo = Todo(recall(job, store) or job, store, retry=settings.retry_failed)
    if of_model is not None and todo.needs_model:
        return of_model
    if of_judge is None or job.judge is None or not todo:
        return None
    return NotRunnable(f"its judge, {job.judge.name}: {of_judge.what}", cure=of_judge.cure)


def _skip(job: Job, fault: NotRunnable, *, exact: bool = True) -> Skip:
    reason = redact(f"{fault.what} ({fault.cure})" if fault.cure else fault.what)
    return Skip(job.task.ref.label, job.model.name, reason, exact=exact)


def _warn_of_failure(card: ResultCard) -> None:
    """Who calls from Python sees no table: a score of substitutes alone must not pass for one."""
    counts = card.counts
    if counts.model_failure and not counts.answered:
        log.warning("%s, %s: no answer could be scored: %s", card.task, card.model, counts.statuses)
