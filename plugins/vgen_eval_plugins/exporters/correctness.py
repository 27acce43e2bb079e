"""When a number counts as a correct answer: for formats that want a yes or no of every sample."""

from __future__ import annotations

import msgspec
from vgen_eval.types import Value

__all__ = ["Rule", "rule_of"]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold, and the words that state it."""

    threshold: float | None
    """None: nothing is correct."""
    higher_is_better: bool
    text: str

    def holds(self, number: float) -> bool:
        """Is the number at the threshold, or better?"""
        if self.threshold is None:
            return False
        return number >= self.threshold if self.higher_is_better else number <= self.threshold


def rule_of(value: Value, threshold: float | None = None) -> Rule:
    """The rule of a value: `threshold` if given, else by its bounds.

    Bounded on both sides: midway between them. Bounded where it is best: the bound itself, an
    error of 0. Otherwise nothing is correct, and the rule says so.
    """
    best, worst = (value.high, value.low) if value.higher_is_better else (value.low, value.high)
    if threshold is not None:
        why = "as the export was told"
    elif best is None:
        text = f"none: {value.name} has no best value to measure by"
        return Rule(threshold=None, higher_is_better=value.higher_is_better, text=text)
    elif worst is None:
        threshold, why = best, "its best value"
    else:
        threshold, why = (best + worst) / 2, "midway between its bounds"
    sign = ">=" if value.higher_is_better else "<="
    unit = f" {value.unit}" if value.unit else ""
    return Rule(
        threshold=threshold,
        higher_is_better=value.higher_is_better,
        text=f"answered, and {value.of} {sign} {threshold!r}{unit} ({why})",
    )
