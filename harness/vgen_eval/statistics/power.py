"""How many groups a difference needs to be seen, and which difference so many groups can show."""

from __future__ import annotations

import math

from vgen_eval.statistics.distributions import t_quantile

__all__ = ["groups_needed", "smallest_difference"]

MOST = 10**12


def smallest_difference(
    groups: int, deviation: float, *, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """The true paired difference that a two-sided test finds with `power`.

    (t(1 - alpha / 2) + t(power)) * deviation / sqrt(groups), both t with groups - 1 degrees of
    freedom; the true power is within 0.3 / groups of `power`. `deviation`: of the paired
    differences by group (`cluster_deviation`), whose unit is the result's. None for fewer than two
    groups.
    """
    _check(deviation, power, alpha)
    if groups < 2:
        return None
    df = groups - 1
    reach = t_quantile(1 - alpha / 2, df) + t_quantile(power, df)
    return reach * deviation / math.sqrt(groups)


def groups_needed(
    difference: float, deviation: float, *, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """The fewest groups of which `smallest_difference` is `difference` or less, at least 2.

    Group by group: `deviation` is of whole groups. Where each is one sample it is samples. None for
    a difference of 0, which no number of groups shows.
    """
    _check(deviation, power, alpha)
    if not math.isfinite(difference) or difference == 0:
        return None

    def shows(groups: int) -> bool:
        found = smallest_difference(groups, deviation, power=power, alpha=alpha)
        return found is not None and found <= abs(difference)

    high = 2
    while not shows(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:  # what is shown by some groups is shown by more
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return max(high, 2)


def _check(deviation: float, power: float, alpha: float) -> None:
    if not (math.isfinite(deviation) and deviation >= 0):
        raise ValueError(f"a standard deviation of {deviation}: a number from 0 on is wanted")
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ValueError(f"alpha {alpha} and power {power}: numbers between 0 and 1 are wanted")
