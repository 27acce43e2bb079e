"""Reads `volatile` of a card that is there already: what is broken in it counts as not there.

Cards are files that people edit and disks damage; what a run took before must not end the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval.engine.usage import AMOUNTS

__all__ = ["Earlier", "read_volatile"]


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """What a run took so far."""

    calls: int = 0
    """Attempts that the model was asked for, and the seconds from start to end of that."""
    calling_s: float = 0.0
    wall_s: float = 0.0
    cost_usd: float | None = None
    priced: int = 0
    """Answers whose price is in the cost."""
    peak_memory_mb: float | None = None
    endpoint: str | None = None
    unfinished: Mapping[str, Any] = {}
    """Tries, cost and usage of attempts that were then not made."""


def read_volatile(volatile: object) -> Earlier:
    """What can be read of it."""
    facts = _mapping(volatile)
    calling = _mapping(facts.get("calling"))
    calls, seconds = _count(calling.get("calls")), _amount(calling.get("seconds"))
    endpoint = facts.get("endpoint")
    if calls is None or seconds is None:
        calls, seconds = 0, 0.0  # one without the other tells no rate
    answered, unpriced = _count(facts.get("calls")), facts.get("unpriced")
    missing = 0 if unpriced is None else _count(unpriced)
    known = answered is not None and missing is not None
    return Earlier(
        calls=calls,
        calling_s=seconds,
        wall_s=_amount(facts.get("wall_s")) or 0.0,
        cost_usd=_amount(facts.get("cost_usd")),
        priced=max((answered or 0) - (missing or 0), 0) if known else 0,
        peak_memory_mb=_amount(facts.get("peak_memory_mb")),
        endpoint=endpoint if isinstance(endpoint, str) else None,
        unfinished=_unfinished(facts.get("unfinished")),
    )


def _unfinished(value: object) -> dict[str, Any]:
    facts = _mapping(value)
    usage = _mapping(facts.get("usage"))
    tries, cost = _count(facts.get("tries")), _amount(facts.get("cost_usd"))
    if not tries:
        return {}
    amounts = {name: _amount(usage.get(name)) for name in AMOUNTS}
    return {
        "tries": tries,
        "cost_usd": cost or 0.0,
        "usage": {name: amount for name, amount in amounts.items() if amount is not None},
    }


_MOST = 1e15
"""No run takes more of anything."""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _amount(value: object) -> Any:
    """A number that is none below 0, as it is written; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value < _MOST else None  # NaN is neither


def _count(value: object) -> int | None:
    number = _amount(value)
    return number if isinstance(number, int) else None
