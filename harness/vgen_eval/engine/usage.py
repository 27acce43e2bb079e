"""What adapters say that a call used, taken for what it is worth: anyone's numbers, checked."""

from __future__ import annotations

import logging
import math
import numbers
from collections.abc import Iterable
from typing import Any

from vgen_eval.types import Usage

__all__ = ["AMOUNTS", "MOST_USD", "count_tokens", "read_usage", "sum_usage"]

log = logging.getLogger(__name__)

AMOUNTS = tuple(name for name in Usage.__struct_fields__ if name != "cost_usd")
"""Fields of a usage that add up over calls; what it cost is reckoned apart."""

_FRACTIONS = ("video_seconds", "cost_usd")

MOST_AMOUNT = 2**53
"""From here on JSON readers do not tell one whole number from the next; nobody uses as much."""

MOST_USD = 10**12
"""US dollars that no call costs."""


def read_usage(usage: Any, what: str) -> Usage | None:
    """The usage with every field a number of sense from 0 on or None; None when it says nothing.

    Whatever else a field holds is passed over with a line in the log, which names `what`.
    """
    if usage is None:
        return None
    if not isinstance(usage, Usage):
        log.warning("%s: its usage is %s: passed over", what, type(usage).__name__)
        return None
    facts: dict[str, Any] = {}
    for name in Usage.__struct_fields__:
        amount = getattr(usage, name)
        if amount is None:
            continue
        if _is_amount(amount, MOST_USD if name == "cost_usd" else MOST_AMOUNT):
            facts[name] = float(amount) if name in _FRACTIONS else int(amount)
        else:
            log.warning("%s: usage.%s is %s: passed over", what, name, _shown(amount))
    return Usage(**facts) if facts else None


def _is_amount(value: Any, most: int) -> bool:
    """Records do not check their fields when they are made, and NaN is no cost."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value) and 0 <= float(value) <= most
    except (OverflowError, TypeError, ValueError):  # 10**400; anyone's own kind of number
        return False


def _shown(value: Any) -> str:
    """The value in at most 40 letters, for the log."""
    try:
        text = repr(value)
    except Exception:  # a whole number of over 4,300 digits; anyone's own repr
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 40 else f"{text[:36]}..."


def sum_usage(usages: Iterable[Usage]) -> dict[str, int | float]:
    """Field -> sum over those that name it; fields that none names are left out."""
    found: dict[str, int | float] = {}
    for usage in usages:
        for name in AMOUNTS:
            amount = getattr(usage, name)
            if amount is not None:
                found[name] = found.get(name, 0) + amount
    return found


def count_tokens(usages: Iterable[Usage]) -> int | None:
    """Tokens read and written, as budgets count them; None when none of them says."""
    found = sum_usage(usages)
    if "input_tokens" not in found and "output_tokens" not in found:
        return None
    return int(found.get("input_tokens", 0) + found.get("output_tokens", 0))
