"""Which runs a table needs beyond those that are there, and why some cannot be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.engine.ablation import Stopped
from vgen_eval.engine.plan import Job, Plan, make_plan
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import VgenEvalError
from vgen_eval.results.reproducing.asking import Asked, Part
from vgen_eval.results.reproducing.finding import Found, Library, PartKey
from vgen_eval.results.reproducing.model_names import how_to_bring
from vgen_eval.results.reproducing.reading_again import as_one_setting, read_again
from vgen_eval.results.reproducing.supposing import Supposed, suppose
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.engine.models import Model
    from vgen_eval.plugins import Catalog

__all__ = ["Need", "Outlook", "look", "note_whole_runs", "one_line", "settle", "unfinished"]

ANY_MODEL = "any model"
"""Of whom a plan tells that a task's data is not here, where it has no model."""
MOST_NAMED = 3
"""Runs that a note names."""


class Need(msgspec.Struct, kw_only=True):
    """A part of a cell, and what becomes of it."""

    part: Part
    setting: tuple[str, Any] | None = None
    """What kept answers are read under, where that is all that the row sets."""
    found: Found | None = None
    """What its number is taken from, as far as it is known."""
    job: Job | None = None
    """The run that is to be made."""
    why_not: str | None = None
    """Why there is neither."""
    model_fault: str | None = None
    """Why its model cannot be asked either, where `why_not` tells of the data."""
    supposed: Supposed | None = None
    """The run that would be made if its data were here."""


class Outlook(msgspec.Struct, kw_only=True):
    """The whole table before anything is run."""

    asked: Sequence[Asked]
    needs: Mapping[PartKey, Need]
    settings: Settings
    groups: list[tuple[Settings, list[Job]]]
    """Runs to be made, those of equal `set` together."""
    models: tuple[Model, ...] = ()

    def of(self, asked: Asked) -> list[Need]:
        """The needs of a cell."""
        return [self.needs[part.key] for part in asked.parts]


def look(
    asked: Sequence[Asked],
    library: Library,
    catalog: Catalog,
    settings: Settings,
    *,
    may_run: bool,
) -> Outlook:
    """What each cell is taken from, or which run it needs.

    A run that the user named is taken as it is, and so is one that fits and predictions that
    another program made. Otherwise the run is made; where that cannot be, or `may_run` says no,
    the one that departs least stands in for it.
    """
    needs: dict[PartKey, Need] = {}
    for each in asked:
        for part in each.parts:
            if each.row.measure == "score":
                needs.setdefault(part.key, _need(part, library))
    open_needs = [need for need in needs.values() if need.why_not is None]
    wanting = [need for need in open_needs if not _is_settled(need)]
    outlook = Outlook(asked=asked, needs=needs, settings=settings, groups=[])
    if may_run:
        brought = [need for need in wanting if need.part.model.is_brought]
        for need in brought:
            word = need.part.model.word
            bring = how_to_bring(word, need.part.ref.label)
            _give_up([need], f"'{word}' has no card to be run by: {bring}")
        planned = [need for need in wanting if not need.part.model.is_brought]
        _plan(planned, outlook, library, catalog)
    for need in wanting:
        if need.job is None and need.found is None:
            need.why_not = need.why_not or f"no run of {need.part.model.card.model} is here"
    return outlook


def _need(part: Part, library: Library) -> Need:
    reference = library.reference(part)
    if isinstance(reference, str):
        return Need(part=part, why_not=reference)
    direct, setting = library.best(part), _setting(part)
    if setting is None or (direct is not None and direct.fits and not direct.is_made_elsewhere):
        return Need(part=part, found=direct)
    base = library.best(part, bare=True)
    if direct is None or (base is not None and _is_nearer(base, direct)):
        return Need(part=part, setting=setting, found=base)
    return Need(part=part, found=direct)


def _is_nearer(base: Found, direct: Found) -> bool:
    """Is a run whose answers are to be read again to be taken, and not one that was read so?"""
    if direct.fits and base.is_made_elsewhere:
        return False
    return len(base.departures) <= len(direct.departures)


def _setting(part: Part) -> tuple[str, Any] | None:
    """What kept answers can be read under for the part."""
    return as_one_setting(part.row.set, cards.protocol(part.ref.card, part.ref.protocol))


def _is_settled(need: Need) -> bool:
    found = need.found
    return found is not None and (found.is_named or found.fits or found.is_made_elsewhere)


def _plan(wanting: Sequence[Need], outlook: Outlook, library: Library, catalog: Catalog) -> None:
    """Gives each need its job, or the reason for none; one model object a model, for all."""
    groups: dict[tuple[str, bytes, str | None, str | None, int | None], list[Need]] = {}
    for need in wanting:
        row = need.part.row
        need.setting = _setting(need.part)
        # answers that are read in several ways are made once, under none of them
        asked = dict(row.set) if need.setting is None else {}
        word, attempts = need.part.model.word, _attempts_beyond(need, library)
        key = (word, jsonio.canonical(asked), row.prompt, row.answer, attempts)
        groups.setdefault(key, []).append(need)
    models: dict[str, Model] = {}
    jobs: dict[tuple[bytes, int | None], tuple[Settings, dict[str, Job]]] = {}
    for (word, changed, prompt, answer, attempts), members in groups.items():
        settings = msgspec.structs.replace(
            outlook.settings,
            tasks=tuple(dict.fromkeys(need.part.word for need in members)),
            models=(word,),
            set=jsonio.loads(changed),
            prompt=(prompt,) if prompt else (),
            answer=answer,
            attempts=attempts,
        )
        try:
            plan = make_plan(settings, catalog, looks_only=True)
        except VgenEvalError as exc:
            _give_up(members, one_line(exc))
            continue
        for model in plan.models:
            models.setdefault(model.identity_digest(), model)
        _hand_out(plan, members, models, jobs.setdefault((changed, attempts), (settings, {}))[1])
        own = [models[model.identity_digest()] for model in plan.models]
        for need in members:
            is_run = need.job is not None or need.found is not None
            if not is_run and need.part.model.card.runnable and _gaps(need, plan)[0] is not None:
                reference = library.reference(need.part, bare=need.setting is not None)
                assert not isinstance(reference, str)  # else it was given up before
                need.supposed = suppose(reference, own[0] if own else None, settings)
    outlook.groups = [(settings, list(found.values())) for settings, found in jobs.values()]
    outlook.models = tuple(models.values())


def _attempts_beyond(need: Need, library: Library) -> int | None:
    """Of each sample, where its selection needs more than the protocol asks for."""
    reference = library.reference(need.part, bare=need.setting is not None)
    assert not isinstance(reference, str)  # else it was given up before
    job = reference.job
    return job.attempts if job.attempts > job.task.protocol.attempts else None


def _hand_out(
    plan: Plan, members: Sequence[Need], models: dict[str, Model], jobs: dict[str, Job]
) -> None:
    made = {}
    for job in plan.jobs:
        model = models[job.model.identity_digest()]
        made[job.task.ref.label] = msgspec.structs.replace(job, model=model)
    for need in members:
        label = need.part.ref.label
        if label in made:
            need.job = made[label]
            jobs.setdefault(str(made[label].path), made[label])
        else:
            of_data, of_model = _gaps(need, plan)
            is_first = of_data is not None and need.part.model.card.runnable
            need.model_fault = of_model if is_first else None
            reason = of_data if is_first else of_model
            _give_up([need], reason or of_data or "it cannot be planned")


def _gaps(need: Need, plan: Plan) -> tuple[str | None, str | None]:
    """Why the need's run cannot be made, for its data and for its model."""
    gaps = [skip for skip in plan.skipped if skip.task == need.part.ref.label]
    is_of_data = [bool(plan.models) or skip.model == ANY_MODEL for skip in gaps]
    pairs = list(zip(is_of_data, gaps, strict=True))
    of_data = next((skip.reason for is_data, skip in pairs if is_data), None)
    return of_data, next((skip.reason for is_data, skip in pairs if not is_data), None)


def _give_up(needs: Sequence[Need], reason: str) -> None:
    for need in needs:
        need.why_not = reason if need.found is None else None


def one_line(exc: VgenEvalError) -> str:
    """Cause and cure."""
    return f"{exc.what} ({exc.cure})" if exc.cure else exc.what


def settle(
    need: Need,
    library: Library,
    *,
    data_root: str | None,
    workers: int | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Found | None:
    """What the part's number is of, read under what its row sets; None with `why_not` said."""
    found = need.found
    if found is None or need.setting is None or not found.is_bare:
        return found
    reference = library.reference(need.part)
    assert not isinstance(reference, str)
    if not reference.departures(found.card, library.catalog):
        return found  # it was scored so itself
    try:
        card = read_again(
            found, need.setting, library.catalog, data_root=data_root, workers=workers,
            stopped=stopped,
        )  # fmt: skip
    except Stopped:
        need.why_not = "stopped before its answers were read"
        return None
    except VgenEvalError as exc:
        need.why_not = f"its answers cannot be read again: {one_line(exc)}"
        return None
    again = library.describe(found.path, card, reference)
    return msgspec.structs.replace(
        again, source=found.read_again, others=found.others, is_named=found.is_named
    )


def note_whole_runs(outlook: Outlook) -> list[str]:
    """Names the runs of more samples than `--limit` allows that are taken because they are here."""
    limit = outlook.settings.limit
    whole: dict[str, None] = {}
    for need in outlook.needs.values() if limit is not None else ():
        found = need.found
        if found is None or found.is_named or (need.job and need.job.path == found.path):
            continue
        count = found.card.selection.get("samples")
        if isinstance(count, int) and limit is not None and count > limit:
            whole[_from_here(found.path)] = None
    if not whole:
        return []
    more = f" and {len(whole) - MOST_NAMED} more" if len(whole) > MOST_NAMED else ""
    return [
        f"--limit {limit} is for runs that are made now; taken whole, because they are here: "
        + ", ".join(list(whole)[:MOST_NAMED])
        + more
    ]


def _from_here(path: Path) -> str:
    """The path as it is from the current folder, where it is below that."""
    here = Path.cwd().resolve()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def unfinished(found: Found) -> str | None:
    """What of a run is wanting, in words; None where nothing is."""
    counts = found.card.counts
    if found.card.complete:
        return None
    return f"incomplete: {counts.done:,} of {plural(counts.expected, 'attempt')}"
