"""What is shown where no family has a view: the score line in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from vgen_eval.viewing import Pane, Seen, Words

__all__ = ["FallbackView"]

MOST_FACTS = 200
MOST_LISTED = 20
"""Entries of a list."""
MOST_TEXT = 4000
"""Characters of a truth."""

Fact = tuple[str, str]


class FallbackView:
    """Summary, values and statistics of the score line as facts; a truth that is short as text."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = ""

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Prediction, truth, statistics: those that there are."""
        panes: list[Pane] = []
        facts = list(_outcome(seen))
        facts += _facts(_part(seen, "prediction"))
        facts += _facts(_part(seen, "values"))
        if facts:
            panes.append(_pane("prediction", "What was read and scored", facts))
        truth = _truth(seen.sample.target)
        if truth:
            body = Words(text=truth)
            panes.append(Pane(role="target", title="Truth as the data has it", body=body))
        statistics = list(_facts(_part(seen, "statistics")))
        if statistics:
            panes.append(_pane("detail", "Statistics", statistics))
        return panes


def _part(seen: Seen, name: str) -> Mapping[str, Any]:
    """A part of the score line; {} where it has none, or somebody changed it."""
    part = seen.score.get(name)
    return part if isinstance(part, Mapping) else {}


def _pane(role: Any, title: str, facts: Sequence[Fact]) -> Pane:
    left = len(facts) - MOST_FACTS
    note = f"{left:,} more are left out: the score line has them." if left > 0 else ""
    return Pane(role=role, title=title, body=Words(facts=tuple(facts[:MOST_FACTS])), note=note)


def _outcome(seen: Seen) -> Iterator[Fact]:
    for key in ("status", "reason"):
        if seen.score.get(key):
            yield key, str(seen.score[key])
    if seen.substitute:
        yield "scored as", "the protocol's failure value"


def _facts(told: Mapping[str, Any], above: str = "") -> Iterator[Fact]:
    """Names joined by dots, and values as JSON has them."""
    for name, value in told.items():
        path = f"{above}.{name}" if above else str(name)
        if isinstance(value, Mapping) and value:
            yield from _facts(value, path)
        else:
            yield path, _value(value)


def _value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        shown = ", ".join(_value(entry) for entry in value[:MOST_LISTED])
        left = len(value) - MOST_LISTED
        return f"{shown}, ... ({len(value):,} in all)" if left > 0 else shown
    return str(value)


def _truth(target: Any) -> str:
    """A truth that is a text, a number or a small record; "" of all else: arrays, pictures."""
    if isinstance(target, (str, int, float)):
        told = str(target)
    elif isinstance(target, (msgspec.Struct, list, tuple, dict)):
        try:  # arrays and pictures are no plain values
            told = repr(target) if msgspec.to_builtins(target) is not None else ""
        except (TypeError, ValueError):
            return ""
    else:
        return ""
    return told if len(told) <= MOST_TEXT else ""
