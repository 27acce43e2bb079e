"""Makes the runs that a table needs, and settles what each number is of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from vgen_eval.engine.evaluate import run_plan
from vgen_eval.engine.pipeline import Stop
from vgen_eval.engine.plan import Plan
from vgen_eval.engine.session import Reporter
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card import read_card
from vgen_eval.results.reproducing.finding import Found, Library
from vgen_eval.results.reproducing.planning import Need, Outlook, one_line, settle

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["look_again", "make_runs", "settle_all"]


def make_runs(
    outlook: Outlook, library: Library, catalog: Catalog, *, reporter: Reporter, stop: Stop
) -> str | None:
    """Runs what is wanting; what cannot be run says why. The words of a budget that ended it.

    Limits of calls and money hold for each part of the table whose runs are set alike.
    """
    reason = None
    for settings, jobs in outlook.groups:
        if stop.soft.is_set() or reason is not None or not jobs:
            continue
        faults: dict[tuple[str, str], str] = {}
        try:
            plan = Plan(jobs=tuple(jobs), skipped=(), notices=())
            results = run_plan(plan, settings, catalog, reporter=reporter, stop=stop)
        except NotRunnable as exc:
            faults = {(job.task.ref.label, job.model.name): one_line(exc) for job in jobs}
        else:
            faults = {(skip.task, skip.model): skip.reason for skip in results.skipped}
            reason = results.stop_reason
        for need in outlook.needs.values():
            if need.job is not None and need.job in jobs:
                _take(need, library, faults)
    return reason


def _take(need: Need, library: Library, faults: dict[tuple[str, str], str]) -> None:
    """What came of a need's run; what stood in for it goes on doing so where nothing did."""
    job = need.job
    assert job is not None
    bare = need.setting is not None
    reference = library.reference(need.part, bare=bare)
    assert not isinstance(reference, str)
    fault = faults.get((job.task.ref.label, job.model.name))
    try:
        card = None if fault else read_card(job.path)
    except NotRunnable as exc:
        card, fault = None, one_line(exc)
    if card is not None and not (need.found is not None and not card.counts.done):
        need.found = library.describe(job.path, card, reference, bare=bare)
    elif need.found is None:
        need.why_not = fault or "its run was not begun"


def look_again(outlook: Outlook, library: Library) -> None:
    """Reads the results folder once more, after the runs were made.

    A run that another process was writing when it was to be made is taken if it is complete now.
    """
    library.look_again()
    for need in outlook.needs.values():
        if need.job is None or (need.found is not None and need.found.path == need.job.path):
            continue
        run = library.run_at(need.job.path)
        if run is None or not run.card.complete:
            continue
        bare = need.setting is not None
        reference = library.reference(need.part, bare=bare)
        assert not isinstance(reference, str)
        need.found = library.describe(need.job.path, run.card, reference, bare=bare)
        need.why_not = None
    library.forget_faults(need.found.path for need in outlook.needs.values() if need.found)


def settle_all(
    outlook: Outlook,
    library: Library,
    *,
    data_root: str | None,
    workers: int | None = None,
    stopped: Callable[[], bool] | None = None,
) -> None:
    """Settles each need; equal readings of one run are made once."""
    made: dict[tuple[str, str], Found] = {}
    for need in outlook.needs.values():
        found = need.found
        if found is None:
            need.why_not = need.why_not or "its run was not begun"
            continue
        key = (str(found.path), repr(need.setting))
        if key in made and need.setting is not None and found.is_bare:
            reference = library.reference(need.part)
            assert not isinstance(reference, str)
            again = library.describe(found.path, made[key].card, reference)
            need.found = msgspec.structs.replace(again, source=made[key].source)
            continue
        need.found = settle(
            need, library, data_root=data_root, workers=workers, stopped=stopped
        )  # fmt: skip
        if need.found is not None:
            made[key] = need.found
