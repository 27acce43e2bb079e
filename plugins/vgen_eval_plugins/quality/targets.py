"""The truth of an assessment sample: the opinion score that people gave a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

__all__ = ["Opinion", "scale_of"]


class Opinion(msgspec.Struct, frozen=True):
    """A mean opinion score: higher is better, on the scale of its data set."""

    score: float
    part: str = ""
    """The part of the data that it belongs to, where parts are scored apart: `game`."""
    low: float = 0.0
    high: float = 100.0
    """The ends of the scale: of the scores that the data set holds, where no other is stated."""

    def __post_init__(self) -> None:
        if not math.isfinite(self.score):
            raise ValueError(f"an opinion score is a number, {self.score} given")
        if not self.low < self.high:
            raise ValueError(f"a scale goes up: {self.low} to {self.high} given")

    @property
    def quality(self) -> float:
        """The score between the ends of its scale: 0 to 1."""
        return min(max((self.score - self.low) / (self.high - self.low), 0.0), 1.0)


def scale_of(scores: Sequence[float]) -> tuple[float, float]:
    """The least and the largest of them: Q-Bench's lists state no other scale."""
    low, high = min(scores), max(scores)
    return (low, high) if low < high else (low - 1, high + 1)
