"""Checks a plugin: every subject in a process of its own, one record of what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval._version import __version__
from vgen_eval.conformance import Check, Conformance, Outcome, files_digest
from vgen_eval.errors import UsageError
from vgen_eval.loading import CURE
from vgen_eval.testing.children import Event
from vgen_eval.testing.crew import Crew
from vgen_eval.testing.rules import rules_of
from vgen_eval.testing.subjects import (
    Subject,
    list_subjects,
    list_unused,
    share_checks,
    wanted_checks,
)

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog, Plugin

__all__ = ["TIMEOUT_S", "assert_conforms", "check_plugin"]

TIMEOUT_S = 60.0
_IMPORTING = ("imports", "hooks_strings")
"""Checks of the package in which the plugin's modules are imported."""


def check_plugin(
    name: str,
    *,
    only: str | None = None,
    timeout_s: float = TIMEOUT_S,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Conformance:
    """What the checks of the installed distribution `name` come to; `vgen-eval` is one as well.

    Args:
        name: the distribution.
        only: a glob over subjects (`model:*`), checks (`batch_*`) or `subject::check`.
        timeout_s: seconds that one step of a check (an import, a load, a call) may take.
        on_progress: told each subject when its checks are begun, how many subjects are done and
            how many there are; from several threads.

    Raises:
        UsageError: there is no such plugin, or `only` means no check.
        BrokenPlugin: its package cannot be found.
    """
    from vgen_eval.plugins import Catalog

    catalog = Catalog.discover()
    plugin = _installed(catalog, name)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    crew = Crew(plugin.name, timeout_s, on_progress)
    package = Subject(kind="package", label="package")
    events: list[Event] = []
    facts: Mapping[str, Any] = {}
    if not (only or "").startswith(("model:", "task:")) or _may_share(catalog, plugin, only):
        # alone and first: its time is measured, and what it offers says what else there is
        events, facts = crew.run_alone(package, wanted_checks(package, only))
    hooks, stubs = facts.get("hooks"), facts.get("stubs", ())
    subjects = list_subjects(catalog, plugin, hooks, stubs)[1:]
    meant = share_checks([one for one in subjects if wanted_checks(one, only)], stubs)
    chosen = [(subject, checks) for subject in meant if (checks := wanted_checks(subject, only))]
    deadly = [check for check in facts.get("ended", ()) if check in _IMPORTING]
    made = _checks(package, events)
    for (subject, _), found in zip(chosen, crew.run_all(chosen, deadly=deadly), strict=True):
        made += _checks(subject, found)
    if only is None and hooks is not None:
        made += _unused(list_unused(catalog, plugin, hooks, stubs))
        if not subjects and not any(hooks.values()):
            made.append(_EMPTY)
    if only is not None and not made:
        raise UsageError(
            f"'{only}' means no check of '{plugin.name}'",
            cure=f"subjects: {', '.join(s.label for s in subjects[:8]) or 'package'}",
        )
    return _record(plugin, started, made)


def _may_share(catalog: Catalog, plugin: Plugin, only: str | None) -> bool:
    """May one of the models that are meant stand for another, once its adapter is looked at?"""
    models = [one for one in list_subjects(catalog, plugin, None) if wanted_checks(one, only)]
    return any(one.kind == "card" for one in share_checks(models, {one.adapter for one in models}))


def _installed(catalog: Catalog, name: str) -> Plugin:
    """The plugin of that name; what is not installed is told how it would be."""
    try:
        return catalog.plugin(name)
    except UsageError as exc:
        if exc.cure != CURE:
            raise
        folder = Path(name).expanduser()
        is_folder = (folder / "pyproject.toml").is_file()
        raise UsageError(
            exc.what,
            cure=f"NAME is the distribution's: pip install -e {folder}, then give its name"
            if is_folder
            else "pip install -e . in its folder",
        ) from exc


def _record(plugin: Plugin, checked: str, made: list[Check]) -> Conformance:
    counts = {outcome: sum(c.outcome == outcome for c in made) for outcome in _OUTCOMES}
    return Conformance(
        plugin=plugin.name,
        version=plugin.version,
        vgen_eval=__version__,
        files_digest=files_digest(plugin),
        checked=checked,
        passed=counts["passed"],
        failed=counts["failed"],
        skipped=counts["skipped"],
        checks=tuple(made),
    )


_OUTCOMES: tuple[Outcome, ...] = ("passed", "failed", "skipped")


def _checks(subject: Subject, events: list[Event]) -> list[Check]:
    rules = rules_of(subject.kind)
    return [
        Check(
            subject=subject.label,
            check=event.check,
            asks=rules[event.check].asks,
            outcome=_OUTCOMES[("passed", "failed").index(event.outcome)]
            if event.outcome in _OUTCOMES[:2]
            else "skipped",
            detail=event.detail,
            cure=event.cure,
        )
        for event in events
    ]


def _unused(names: list[tuple[str, str]]) -> list[Check]:
    return [
        Check(
            subject=f"{kind}:{name}",
            check="used",
            asks="A card of the plugin uses it, so that it can be tried.",
            outcome="skipped",
            detail="no card of this plugin uses it",
        )
        for kind, name in names
    ]


_EMPTY = Check(
    subject="package",
    check="used",
    asks="The plugin brings a card or a component.",
    outcome="skipped",
    detail="it brings no card and no component, so that there is nothing to try",
)


def assert_conforms(
    name: str, *, only: str | None = None, timeout_s: float = TIMEOUT_S
) -> Conformance:
    """The record of the plugin's checks; AssertionError, with failures and cures, otherwise."""
    record = check_plugin(name, only=only, timeout_s=timeout_s)
    if record.failed:
        lines = [f"{record.plugin} {record.version}: {record.failed} of the checks failed"]
        for check in record.failures:
            lines += [f"  {check.id}: {check.detail}", f"    cure: {check.cure}"]
        raise AssertionError("\n".join(lines))
    return record
