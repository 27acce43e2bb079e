"""Share of free answers that are one of the accepted texts, both sides normalised alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

from vgen_eval_plugins.parsing.texts import same_text
from vgen_eval_plugins.quality.perception.targets import AcceptedTexts

__all__ = ["ExactMatch"]


class ExactMatch(SumMetric):
    """1 for an answer that is one of the accepted texts, else 0; the mean over the questions.

    Answer and truth are normalised in the same way: Unicode NFC, case folded, outer space and
    punctuation dropped. Nothing else: "the cat" is not "cat", "1,000" is not "1000".
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "answer"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(
            name="exact_match", of="exact_match", aggregation="mean", higher_is_better=True,
            low=0.0, high=1.0,
        ),
    )  # fmt: skip

    def update(self, pred: str | None, target: AcceptedTexts, valid: Any) -> Statistics:  # noqa: ARG002
        """n, and those right; `pred` None is no answer, which is wrong."""
        right = pred is not None and any(same_text(pred, text) for text in target.texts)
        return {"n": 1, "right": int(right)}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """The share, 0..1; None of nothing."""
        n = statistics["n"]
        return {"exact_match": statistics["right"] / n if n else None}
