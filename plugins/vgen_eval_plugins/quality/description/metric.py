"""Scores of descriptions out of the shares of judgements that were 0, 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

from vgen_eval_plugins.quality.description.targets import (
    DIMENSIONS,
    SCORES,
    Judgements,
    NoJudgements,
)

__all__ = ["Description", "score_of"]


def _value(name: str, high: float, *, higher_is_better: bool = True) -> Value:
    return Value(
        name=name, of=name, aggregation="pooled", higher_is_better=higher_is_better,
        low=0.0, high=high,
    )  # fmt: skip


class Description(SumMetric):
    """Q-Bench A2 (arXiv 2309.14181): a dimension's score is P1 + 2 P2, in 0..2.

    P0, P1, P2 are shares of all judgements of all descriptions, so that rounds of one description
    that could not be read leave the others' weight as it is. A description that is not there counts
    as so many judgements of 0 as the others have on average, however many rounds there are. The
    sum, in 0..6, is of the scores as they are: parts printed to two decimals may add up to .01 more
    or less, as in the paper's table.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "description"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        _value("sum", 6.0),
        *(_value(name, 2.0) for name in DIMENSIONS),
        *(
            _value(f"{name}_p{score}", 1.0, higher_is_better=score > 0)
            for name in DIMENSIONS
            for score in SCORES
        ),
    )

    def update(
        self,
        pred: Judgements | NoJudgements,
        target: Any,  # noqa: ARG002
        valid: Any,  # noqa: ARG002
    ) -> Statistics:
        """Of each dimension: how many judgements were 0, 1 and 2. Was it judged, or not there?"""
        if isinstance(pred, NoJudgements):
            nothing = {name: [0] * len(SCORES) for name in DIMENSIONS}
            return {**nothing, "judged": 0, "absent": 1}
        counts = {name: list(getattr(pred, name)) for name in DIMENSIONS}
        return {**counts, "judged": 1, "absent": 0}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """Scores and shares; None for a dimension without a judgement, and for the sum then."""
        judged, absent = statistics["judged"], statistics["absent"]
        found: dict[str, float | None] = {}
        for name in DIMENSIONS:
            counts = _with_absent(statistics[name], judged=judged, absent=absent)
            n = sum(counts)
            found[name] = score_of(counts)
            for score in SCORES:
                found[f"{name}_p{score}"] = counts[score] / n if n else None
        parts = [part for name in DIMENSIONS if (part := found[name]) is not None]
        found["sum"] = math.fsum(parts) if len(parts) == len(DIMENSIONS) else None
        return found


def _with_absent(counts: Sequence[int], *, judged: int, absent: int) -> Sequence[int]:
    """The counts with absent descriptions' judgements of 0, all times the judged: whole numbers."""
    if not absent:
        return counts
    if not judged:
        return (absent, 0, 0)
    zero, *others = (count * judged for count in counts)
    return (zero + absent * sum(counts), *others)


def score_of(counts: Sequence[int]) -> float | None:
    """P1 + 2 P2 of judgements counted by score; None of none."""
    n = sum(counts)
    return sum(score * count for score, count in enumerate(counts)) / n if n else None
