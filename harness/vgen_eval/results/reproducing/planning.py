"""Which runs a table needs beyond those that are there, and why some cannot be made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.engine.ablation import Stopped
from vgen_eval.engine.plan import Job, Plan, make_plan
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import VgenEvalError
from vgen_eval.results.reproducing.asking import Asked, Part
from vgen_eval.results.reproducing.finding import Found, Library
from vgen_eval.results.reproducing.reading_again import as_one_setting, read_again
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.engine.models import Model
    from vgen_eval.plugins import Catalog

__all__ = ["Need", "Outlook", "look", "one_line", "settle", "unfinished"]


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


class Outlook(msgspec.Struct, kw_only=True):
    """The whole table before anything is run."""

    asked: Sequence[Asked]
    needs: Mapping[tuple[int, str, str], Need]
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
    needs: dict[tuple[int, str, str], Need] = {}
    for each in asked:
        for part in each.parts:
            if each.row.measure == "score":
                needs.setdefault(part.key, _need(part, library))
    open_needs = [need for need in needs.values() if need.why_not is None]
    wanting = [need for need in open_needs if not _is_settled(need)]
    outlook = Outlook(asked=asked, needs=needs, settings=settings, groups=[])
    if may_run:
        _plan(wanting, outlook, catalog)
    for need in wanting:
        if need.job is None and need.found is None:
            need.why_not = need.why_not or "no run of it is here"
    return outlook


def _need(part: Part, library: Library) -> Need:
    reference = library.reference(part)
    if isinstance(reference, str):
        return Need(part=part, why_not=reference)
    direct, setting = library.best(part), _setting(part)
    if setting is None or (direct is not None and direct.fits):
        return Need(part=part, found=direct)
    base = library.best(part, bare=True)
    if direct is None or (base is not None and len(base.departures) <= len(direct.departures)):
        return Need(part=part, setting=setting, found=base)
    return Need(part=part, found=direct)


def _setting(part: Part) -> tuple[str, Any] | None:
    """What kept answers can be read under for the part."""
    return as_one_setting(part.row.set, cards.protocol(part.ref.card, part.ref.protocol))


def _is_settled(need: Need) -> bool:
    found = need.found
    return found is not None and (found.is_named or found.fits or found.is_made_elsewhere)


def _plan(wanting: Sequence[Need], outlook: Outlook, catalog: Catalog) -> None:
    """Gives each need its job, or the reason for none; one model object a model, for all."""
    groups: dict[tuple[str, bytes, str | None], list[Need]] = {}
    for need in wanting:
        row = need.part.row
        need.setting = _setting(need.part)
        # answers that are read in several ways are made once, under none of them
        asked = dict(row.set) if need.setting is None else {}
        key = (need.part.model.word, jsonio.canonical(asked), row.prompt)
        groups.setdefault(key, []).append(need)
    models: dict[str, Model] = {}
    jobs: dict[bytes, tuple[Settings, dict[str, Job]]] = {}
    for (word, changed, prompt), members in groups.items():
        settings = msgspec.structs.replace(
            outlook.settings,
            tasks=tuple(dict.fromkeys(need.part.word for need in members)),
            models=(word,),
            set=jsonio.loads(changed),
            prompt=(prompt,) if prompt else (),
        )
        try:
            plan = make_plan(settings, catalog, looks_only=True)
        except VgenEvalError as exc:
            _give_up(members, one_line(exc))
            continue
        for model in plan.models:
            models.setdefault(model.identity_digest(), model)
        _hand_out(plan, members, models, jobs.setdefault(changed, (settings, {}))[1])
    outlook.groups = [(settings, list(found.values())) for settings, found in jobs.values()]
    outlook.models = tuple(models.values())


def _hand_out(
    plan: Plan, members: Sequence[Need], models: dict[str, Model], jobs: dict[str, Job]
) -> None:
    reasons = {skip.task: skip.reason for skip in plan.skipped}
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
            _give_up([need], reasons.get(label, "it cannot be planned"))


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
        again, source="read again", others=found.others, is_named=found.is_named
    )


def unfinished(found: Found) -> str | None:
    """What of a run is wanting, in words; None where nothing is."""
    counts = found.card.counts
    if found.card.complete:
        return None
    return f"incomplete: {counts.done:,} of {plural(counts.expected, 'attempt')}"
