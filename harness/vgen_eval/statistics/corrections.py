"""p-values of several tests, corrected for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

__all__ = ["adjust", "benjamini_hochberg", "holm"]


def adjust(
    p_values: Sequence[float | None], method: Literal["holm", "benjamini_hochberg"] = "holm"
) -> list[float | None]:
    """Adjusted p-values in the same order; a test that was not made (None) counts for nothing."""
    correct = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}[method]
    made = iter(correct([p for p in p_values if p is not None]))
    return [None if p is None else next(made) for p in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of any false finding is kept (Holm 1979); needs no independence.

    Compare each with the level that was wanted for all of them together.
    """
    count = len(p_values)
    return _in_order(p_values, lambda p, rank: p * (count - rank), rising=True)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that the share of false findings among all findings is kept, on average.

    Benjamini and Hochberg (1995); for tests that are independent or positively dependent.
    """
    count = len(p_values)
    return _in_order(p_values, lambda p, rank: p * count / (rank + 1), rising=False)


def _in_order(
    p_values: Sequence[float], scaled: Callable[[float, int], float], *, rising: bool
) -> list[float]:
    """Scaled by rank (0 the smallest), then made monotone from the stricter end, at most 1."""
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"{p} is no p-value")
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    found = [0.0] * len(p_values)
    bound = 0.0 if rising else 1.0
    for rank, at in enumerate(order) if rising else reversed(list(enumerate(order))):
        value = min(scaled(p_values[at], rank), 1.0)
        bound = max(bound, value) if rising else min(bound, value)
        found[at] = bound
    return found
