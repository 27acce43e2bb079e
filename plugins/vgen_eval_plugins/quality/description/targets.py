"""The truth of a description task, and what judges said of a description."""

from __future__ import annotations

import msgspec

__all__ = ["DIMENSIONS", "SCORES", "GoldenText", "Judgements", "NoJudgements"]

DIMENSIONS = ("completeness", "preciseness", "relevance")
SCORES = (0, 1, 2)
"""What one judgement of one dimension may be."""

Counts = tuple[int, int, int]


class GoldenText(msgspec.Struct, frozen=True):
    """The description that an expert wrote."""

    text: str


class Judgements(msgspec.Struct, frozen=True, kw_only=True):
    """Of each dimension: how many judgements were 0, 1 and 2."""

    completeness: Counts
    preciseness: Counts
    relevance: Counts

    def __post_init__(self) -> None:
        for name in DIMENSIONS:
            counts = getattr(self, name)
            if len(counts) != len(SCORES) or min(counts) < 0 or not sum(counts):
                raise ValueError(f"{name}: {counts} is no count of judgements of 0, 1 and 2")


class NoJudgements(msgspec.Struct, frozen=True):
    """There was no description to be judged: 0 in all dimensions, weighing as one description."""
