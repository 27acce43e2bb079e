"""The processes of a whole check: each subject in its own, cards that share an adapter in one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vgen_eval.testing.children import Event, run_subject
from vgen_eval.testing.subjects import Subject

__all__ = ["Chosen", "Crew"]

CHILDREN = 2
_FIRST = ("loads", "answers")
"""Checks of a model without which the cards that it stands for are not tried either."""

Chosen = tuple[Subject, Sequence[str]]
"""A subject and the checks that are wanted of it."""


class Crew:
    """Runs subjects, two processes at a time, and tells how far it is."""

    def __init__(
        self, plugin: str, timeout_s: float, on_progress: Callable[[str, int, int], None] | None
    ) -> None:
        self._plugin = plugin
        self._timeout_s = timeout_s
        self._tell = on_progress or (lambda _label, _done, _total: None)
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._done = 0
        self._total = 1

    def run_alone(
        self, subject: Subject, wanted: Sequence[str]
    ) -> tuple[list[Event], Mapping[str, Any]]:
        """The events of one subject, and the facts that its process told."""
        self._tell(subject.label, 0, self._total)
        return run_subject(self._plugin, subject, wanted, timeout_s=self._timeout_s)

    def run_all(self, chosen: Sequence[Chosen], *, deadly: Sequence[str]) -> list[list[Event]]:
        """The events of each, in their order.

        `deadly`: checks of the package that ended the process, as every other process would end.
        """
        found: dict[str, list[Event]] = {}
        if deadly:
            reason = f"importing it ends the process: see package::{deadly[0]}"
            return [_skip(subject, checks, reason) for subject, checks in chosen]
        self._done, self._total = 0, len(chosen)
        self._run([[one] for one in chosen if one[0].kind != "card"], found)
        cards: dict[str, list[Chosen]] = {}
        for subject, checks in chosen:
            if subject.kind != "card":
                continue
            reason = _why_not(subject, found)
            if reason:
                found[subject.label] = _skip(subject, checks, reason)
            else:
                cards.setdefault(subject.adapter, []).append((subject, checks))
        self._run(list(cards.values()), found)
        return [found[subject.label] for subject, _ in chosen]

    def _run(self, groups: Sequence[Sequence[Chosen]], found: dict[str, list[Event]]) -> None:
        """Adds the events of each group, which shares a process, under the labels."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(CHILDREN) as pool:
            try:
                for events in pool.map(self._make, groups):
                    for event in events:
                        found.setdefault(event.subject, []).append(event)
            except BaseException:  # an interrupt: the pool waits for its threads
                self._stop.set()
                raise

    def _make(self, group: Sequence[Chosen]) -> list[Event]:
        (first, checks), *rest = group
        shown = first.label if not rest else f"{first.label} and {len(rest)} more"
        self._tell(shown, self._done, self._total)
        events, _ = run_subject(
            self._plugin, first, checks, timeout_s=self._timeout_s, stop=self._stop,
            rest=[subject for subject, _ in rest],
        )  # fmt: skip
        with self._lock:
            self._done += len(group)
        return events


def _why_not(card: Subject, found: Mapping[str, Sequence[Event]]) -> str:
    """Why a card is not tried: nobody can run it, or its adapter fails already."""
    if card.idle:
        return f"its card says that it cannot be run: {card.idle}"
    for event in found.get(card.like, ()):
        if event.check in _FIRST and event.outcome != "passed":
            return f"see {card.like}::{event.check}"
    return ""


def _skip(subject: Subject, checks: Sequence[str], reason: str) -> list[Event]:
    return [
        Event(what="end", subject=subject.label, check=check, outcome="skipped", detail=reason)
        for check in checks
    ]
