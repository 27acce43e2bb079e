"""From what was asked to the runs it means: pairs, selections, identities, and what is skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.cards.records import JudgeCard
from vgen_eval.distributions import home_of
from vgen_eval.engine.models import BOUNDS, Model, name_bounds, resolve_model
from vgen_eval.engine.naming import TaskRef, expand_tasks
from vgen_eval.engine.pricing import has_price
from vgen_eval.engine.selection import select
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.tasks import Codec, Task, open_task
from vgen_eval.errors import CardError, NotRunnable, UsageError, VgenEvalError, nearest
from vgen_eval.pairing import Unpaired, pair, pick_variant
from vgen_eval.store.rows import Rows
from vgen_eval.types import Item
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Job", "Plan", "Skip", "make_plan"]

NO_TASKS: Mapping[str, Task] = {}
ID_LENGTH = 12
"""Roles of the models that stand beside the others."""


class Skip(msgspec.Struct, frozen=True):
    """A pair that was asked for and is not run."""

    task: str
    model: str
    reason: str
    exact: bool = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run: a task under a protocol, a model, an answer form, a prompt, a selection."""

    task: Task
    model: Model
    codec: Codec
    variant: str | None
    prompt: str
    items: tuple[Item, ...]
    selection: Mapping[str, Any]
    attempts: int
    identity: Mapping[str, Any]
    run_id: str
    path: Path
    """The run's directory."""
    judge: Model | None = None
    """Who is asked to judge its answers; None: nobody is."""
    ceiling: Job | None = None
    floor: Job | None = None

    @property
    def models(self) -> tuple[Model, ...]:
        """Who is called: the model, and then who judges, if anybody does."""
        return (self.model,) if self.judge is None else (self.model, self.judge)

    @property
    def size(self) -> int:
        """Attempts in all."""
        return len(self.items) * self.attempts

    def rows(self) -> Rows:
        """The numbering of its attempts."""
        return Rows([item.id for item in self.items], self.attempts)

    @property
    def score_digest(self) -> str:
        """Names the run's scores file."""
        return self.task.score_digest(self.codec)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The runs to make, in order, what is skipped, and what the user should know."""

    jobs: tuple[Job, ...]
    skipped: tuple[Skip, ...]
    notices: tuple[str, ...]
    suites: Mapping[str, tuple[str, ...]] = {}
    """Suite -> labels of its tasks."""
    models: tuple[Model, ...] = ()
    """Those asked for that were found, whether they have a job or not."""

    @property
    def judges(self) -> tuple[Model, ...]:
        """The models that judge answers of its jobs, each once."""
        return tuple({id(job.judge): job.judge for job in self.jobs if job.judge}.values())


def make_plan(
    settings: Settings, catalog: Catalog, models: Sequence[Model] = (), *,
    looks_only: bool = False, given: Mapping[str, Task] = NO_TASKS,
) -> Plan:  # fmt: skip
    """The plan of the settings; `models` are those that have no name (plain functions).

    `looks_only`: nothing is to be run, so that all that is wanting here is skipped and told, of
    models and of data, where otherwise the first of it is raised.

    UsageError and CardError for what cannot be meant; NotRunnable when something named exactly
    cannot run. What `all`, a glob or a suite brings along and cannot run is skipped, and so is
    one of several models. `given`: label of a task -> the task, opened elsewhere.
    """
    notices: list[str] = []
    model_overrides, protocol_overrides, judge_overrides = _split_overrides(settings.set)
    models = [_override(model, model_overrides) for model in models]
    found, broken = _find_models(settings, catalog, model_overrides, notices)
    models += found
    if broken and not models and not looks_only:
        raise next(iter(broken.values()))
    _check_distinct(models)
    _check_prices(models, settings)
    _check_words(settings, has_model=bool(models or broken))
    refs = list(expand_tasks(settings.tasks, catalog, notices=notices))
    bounds = _bound_models(catalog) if settings.bounds else {}
    judges = _Judges(settings.judge, judge_overrides, catalog, notices)
    jobs: list[Job] = []
    opened: dict[str, Task | NotRunnable] = {**given}
    skipped = [
        Skip(ref.label, name, _one_line(exc), exact=True)  # the others do not hang on it
        for name, exc in broken.items()
        for ref in refs
    ]

    def open_once(ref: TaskRef) -> Task | NotRunnable:
        if ref.label not in opened:
            opened[ref.label] = _open(ref, catalog, protocol_overrides, settings)
        return opened[ref.label]

    if looks_only and not models:
        for ref in refs:
            skipped += _gaps(open_once(ref), ref, settings)
    for model in models:
        for ref in refs:
            task = open_once(ref)
            if isinstance(task, NotRunnable):
                if ref.exact and not looks_only:
                    raise task
                skipped.append(Skip(ref.label, model.name, _one_line(task), ref.exact))
                continue
            made, left = _jobs(task, model, settings, bounds, judges, looks_only=looks_only)
            jobs += made
            skipped += left
    _check_samples(settings.samples, [t for t in opened.values() if isinstance(t, Task)])
    if settings.judge is not None and jobs and not any(job.judge for job in jobs):
        notices.append("no answer of these runs is judged: --judge has nothing to do")
    suites: dict[str, tuple[str, ...]] = {}
    for ref in refs:
        if ref.suite is not None:
            suites[ref.suite] = (*suites.get(ref.suite, ()), ref.label)
    return Plan(
        jobs=tuple(jobs), skipped=tuple(skipped), notices=tuple(notices), suites=suites,
        models=tuple(models),
    )  # fmt: skip


def _find_models(
    settings: Settings, catalog: Catalog, overrides: Mapping[str, Any], notices: list[str]
) -> tuple[list[Model], dict[str, NotRunnable]]:
    """The models that were named, and why some of them cannot be had here."""
    models: list[Model] = []
    broken: dict[str, NotRunnable] = {}
    for name in dict.fromkeys(settings.models):
        try:
            found = resolve_model(
                name,
                catalog,
                options=settings.model_args,
                overrides=overrides,
                notices=notices,
            )
        except NotRunnable as exc:
            broken[name] = exc
        else:
            models.append(found)
    return models, broken


def _check_words(settings: Settings, *, has_model: bool) -> None:
    """UsageError for words that are wanting, or that exclude each other."""
    if not has_model:
        raise UsageError("no model given", cure="--model NAME; `vgen-eval list models` shows them")
    if settings.samples and settings.limit is not None:
        raise UsageError("--samples names the samples, so --limit has nothing to say: give one")
    if not settings.tasks:
        raise UsageError("no task given", cure="--tasks NAME; `vgen-eval list tasks` shows them")


class _Judges:
    """The models that judge: each is found once."""

    def __init__(
        self, named: str | None, overrides: Mapping[str, Any], catalog: Catalog, notices: list[str]
    ) -> None:
        """`named`: the one that the user wants in the place of what cards say."""
        self._named = named
        self._overrides = overrides
        self._catalog = catalog
        self._notices = notices
        self._found: dict[str, Model] = {}
        if named is not None:
            self._find(named)

    def of(self, card: JudgeCard, *, home: str) -> Model:
        """The model of a judge; UsageError or NotRunnable where there is none."""
        if self._named is not None:
            return self._find(self._named)
        plugin, head = self._catalog.find("model", card.model, home=home)
        return self._find(f"{plugin.name}:{head.name}")

    def _find(self, name: str) -> Model:
        if name not in self._found:
            try:
                model = resolve_model(
                    name, self._catalog, options={}, overrides=self._overrides,
                    notices=self._notices,
                )  # fmt: skip
            except (NotRunnable, UsageError) as exc:
                kind = UsageError if isinstance(exc, UsageError) else NotRunnable
                raise kind(f"judge '{name}': {exc.what}", cure=exc.cure) from exc
            if "text" not in model.card.answers or model.card.role in BOUNDS:
                raise UsageError(
                    f"judge '{name}' gives no words of its own",
                    cure="--judge NAME of a model that writes",
                )
            self._found[name] = model
        return self._found[name]


def _jobs(
    task: Task, model: Model, settings: Settings, bounds: Mapping[str, Model], judges: _Judges, *,
    looks_only: bool,
) -> tuple[list[Job], list[Skip]]:  # fmt: skip
    """The jobs of a pair, one a prompt, and what of them is skipped."""
    jobs: list[Job] = []
    skipped: list[Skip] = []
    exact = task.ref.exact
    for variant in settings.prompt or (None,):
        try:
            jobs.append(_job(task, model, variant, settings, bounds, judges))
        except Unpaired as exc:
            skipped.append(Skip(task.ref.label, model.name, str(exc), exact))
        except (CardError, NotRunnable, UsageError) as exc:  # its files, its decoder or encoder
            if exact and not (looks_only and isinstance(exc, NotRunnable)):
                raise
            skipped.append(Skip(task.ref.label, model.name, _one_line(exc), exact))
    return jobs, skipped


def _gaps(task: Task | NotRunnable, ref: TaskRef, settings: Settings) -> list[Skip]:
    """What of a task's data is not here, where there is no model to make a job with."""
    fault = task if isinstance(task, NotRunnable) else None
    if isinstance(task, Task):
        try:
            task.check_files(_choose(task, settings)[0])
        except NotRunnable as exc:
            fault = exc
        except Unpaired:  # no sample of it was asked for
            return []
    return [] if fault is None else [Skip(ref.label, "any model", _one_line(fault), ref.exact)]


def _one_line(exc: VgenEvalError) -> str:
    return f"{exc.what} ({exc.cure})" if exc.cure else exc.what


def _override(model: Model, overrides: Mapping[str, Any]) -> Model:
    """A model that came without a card file, under --set."""
    if not overrides:
        return model
    return msgspec.structs.replace(model, card=cards.override(model.card, overrides))


def _check_distinct(models: Sequence[Model]) -> None:
    seen: set[str] = set()
    for model in models:
        digest = model.identity_digest()
        if digest in seen:
            raise UsageError(
                f"two models are the same as far as can be told: '{model.name}'",
                cure="ask for one of them, or run plain functions one by one with a model_name",
            )
        seen.add(digest)


def _check_prices(models: Sequence[Model], settings: Settings) -> None:
    """A money budget over calls that are paid for and whose price nobody named cannot be kept."""
    for model in models if settings.max_cost is not None else ():
        card = model.card
        if card.needs.key_env is None or card.role in BOUNDS or has_price(card.price):
            continue
        field = "per_image_usd" if "image" in card.answers else "per_million_output_usd"
        raise UsageError(
            f"--max-cost: the card of '{model.name}' names no price",
            cure=f"--set price.{field}=...; or --max-calls, which needs none",
        )


def _split_overrides(
    overrides: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Those of the model's card, of the protocol, and of the judge's card."""
    model: dict[str, Any] = {}
    protocol: dict[str, Any] = {}
    judge: dict[str, Any] = {}
    for key, value in overrides.items():
        first, _, rest = key.partition(".")
        whose = {"protocol": protocol, "judge": judge}.get(first) if rest else None
        (model if whose is None else whose)[key if whose is None else rest] = value
    return model, protocol, judge


def _open(
    ref: TaskRef, catalog: Catalog, overrides: Mapping[str, Any], settings: Settings
) -> Task | NotRunnable:
    try:
        return open_task(
            ref,
            catalog,
            overrides=overrides,
            data_root=settings.data_root,
            partial=bool(settings.samples),
        )
    except NotRunnable as exc:
        return exc
    except (CardError, UsageError) as exc:
        if ref.exact or overrides:
            raise
        # a faulty card that `all`, a glob or a suite brings along hurts its own task alone
        return NotRunnable(exc.what, cure=exc.cure)


def _check_samples(ids: Sequence[str], tasks: Sequence[Task]) -> None:
    known = {item.id for task in tasks for item in task.items} if ids else set()
    for sample in ids if tasks else ():
        if sample not in known:
            raise UsageError(f"no sample '{sample}'.{nearest(sample, known)}")


def _bound_models(catalog: Catalog) -> dict[str, Model]:
    """The built-in models of role ceiling and floor."""
    return {
        role: resolve_model(name, catalog, options={}, overrides={}, notices=[])
        for role, name in name_bounds(catalog).items()
    }


def _job(
    task: Task,
    model: Model,
    variant: str | None,
    settings: Settings,
    bounds: Mapping[str, Model],
    judges: _Judges | None,
) -> Job:
    """`judges`: None for ceiling and floor, which run beside no judged answers."""
    answer = pair(task.protocol, model.card, form=settings.answer)
    name, prompt = pick_variant(answer, variant)
    judge = None
    if answer.judge is not None:
        if judges is None:
            raise Unpaired("its answers are judged")
        home = home_of(task.ref.distribution)
        judge, bounds = judges.of(answer.judge, home=home), {}
    codec = task.codec(answer)
    if model.card.role == "ceiling" and codec.encoder is None:
        raise Unpaired(f"{answer.form} has no encoder, so no ceiling")
    items, selection = _choose(task, settings)
    _check_calibration(task, codec, len(items))
    task.check_files(items)
    attempts = settings.attempts or task.protocol.attempts
    identity = {
        "task": task.identity(codec),
        "model": model.identity_digest(),
        "prompt": {"variant": name, "text": prompt},
        "selection": selection,
        "attempts": attempts,
    }
    if judge is not None:
        identity["judge"] = judge.identity_digest()
    if model.card.role in BOUNDS:
        identity["encoder"] = codec.info["encoder"]  # their answers are made of it
    run_id = jsonio.digest(identity)[:ID_LENGTH]
    path = Path(settings.output) / "runs" / model.folder / task.ref.path / run_id
    companions = {
        role: _companion(task, bound, answer.form, variant, settings)
        for role, bound in bounds.items()
        if model.card.role not in BOUNDS
    }
    return Job(
        task=task,
        model=model,
        codec=codec,
        variant=name,
        prompt=prompt,
        items=items,
        selection=selection,
        attempts=attempts,
        identity=identity,
        run_id=run_id,
        path=_fresh(path) if settings.fresh or model.fresh else path,
        judge=judge,
        ceiling=companions.get("ceiling"),
        floor=companions.get("floor"),
    )


def _check_calibration(task: Task, codec: Codec, count: int) -> None:
    """UsageError when every sample of the run is one that its decoder would be calibrated on."""
    rule = task.protocol.calibration
    if rule is None or not rule.exclude or not hasattr(codec.decoder, "calibrate"):
        return
    if count <= rule.samples:
        raise UsageError(
            f"{task.ref.label}: nothing is left to score: the decoder is calibrated on the first "
            f"{plural(rule.samples, 'sample')}, which the protocol leaves out, of {count:,} in all",
            cure="run more samples, or calibrate on fewer: --set protocol.calibration.samples=N",
        )


def _choose(task: Task, settings: Settings) -> tuple[tuple[Item, ...], Mapping[str, Any]]:
    """The samples that are asked for, and what tells them from all."""
    return select(
        task.items,
        sampling=task.protocol.sampling,
        limit=settings.limit,
        ids=_ids_here(settings.samples, task),
    )


def _ids_here(ids: Sequence[str], task: Task) -> list[str]:
    known = {item.id for item in task.items} if ids else set()
    here = [sample for sample in ids if sample in known]
    if ids and not here:
        raise Unpaired("none of the samples named is of this task")
    return here


def _companion(
    task: Task, model: Model, form: str, variant: str | None, settings: Settings
) -> Job | None:
    """The same pair for the ceiling or the floor; None when it cannot give the form.

    They do the same thing each time, so one attempt says all of it.
    """
    narrowed = msgspec.structs.replace(settings, answer=form, attempts=1, fresh=False)
    try:
        return _job(task, model, variant, narrowed, {}, None)
    except Unpaired:
        return None


def _fresh(path: Path) -> Path:
    """The first of PATH, PATH.2, PATH.3, ... that does not exist."""
    number = 1
    candidate = path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.{number}")
    return candidate
