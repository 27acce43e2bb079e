"""What the log-probabilities of words say of two sides of them: masses, and what is not listed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

__all__ = ["UNLIKELY", "Masses", "find_fault", "log_sum", "subtract_means", "weigh_sides"]

ROUNDING = 1e-2
"""By which log-probabilities, and the sum of the probabilities, may pass what these allow."""

UNLIKELY = -1000.0
"""Below it a number is a word for "very unlikely" (OpenAI's -9999.0), no log-probability."""


class Masses(msgspec.Struct, frozen=True, kw_only=True):
    """Probabilities of the words of two sides, of a distribution that may be listed in part."""

    positive: float
    negative: float
    unlisted: float
    """What is left of 1 when all that is listed is taken away."""
    low: float | None
    high: float | None
    """The interval of positive / (positive + negative) that the unlisted mass allows."""

    @property
    def candidates(self) -> float:
        """Mass of both sides."""
        return self.positive + self.negative


def find_fault(listed: Mapping[str, float]) -> str | None:
    """Why these cannot be log-probabilities of different words; None where they can be.

    That they can be says nothing: low logits can be, too.
    """
    for word, value in listed.items():
        if value > ROUNDING:
            return f"{value:.4g} of '{word}' is above 0"
    total = math.fsum(math.exp(min(value, 0.0)) for value in listed.values())
    if total > 1 + ROUNDING:
        return f"the probabilities sum up to {total:.4g}"
    return None


def log_sum(values: Sequence[float]) -> float:
    """log of the sum of the exponentials, in whatever order; -inf for none."""
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def subtract_means(first: Sequence[float], second: Sequence[float]) -> float:
    """Mean of the first less mean of the second, rounded once: what is tied comes to 0."""
    if len(first) == len(second):
        return math.fsum([*first, *(-value for value in second)]) / len(first)
    means = (sum(map(Fraction, values)) / Fraction(len(values)) for values in (first, second))
    return float(next(means) - next(means))


def weigh_sides(
    answer: Mapping[str, float | None], positive: Sequence[str], negative: Sequence[str]
) -> Masses:
    """The masses of two sides of a distribution over words, None where one is not listed.

    A word of a side that is not listed may hold any of the unlisted mass.
    """
    listed = [value for value in answer.values() if value is not None]
    unlisted = max(0.0, 1.0 - math.fsum(math.exp(min(value, 0.0)) for value in listed))
    sides = []
    for words in (positive, negative):
        values = [answer.get(word) for word in words]
        mass = sum(math.exp(min(value, 0.0)) for value in values if value is not None)
        sides.append((mass, None in values))
    (up, up_is_open), (down, down_is_open) = sides
    least = up + down + (unlisted if down_is_open else 0.0)
    most = up + down + (unlisted if up_is_open else 0.0)
    return Masses(
        positive=up,
        negative=down,
        unlisted=unlisted,
        low=up / least if least else None,
        high=(most - down) / most if most else None,
    )
