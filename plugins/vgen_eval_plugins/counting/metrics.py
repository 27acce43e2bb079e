"""Counting errors: mean absolute, root mean square, how often the count is exact or nearly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

from vgen_eval_plugins.counting.targets import CountTarget

__all__ = ["CountError"]


class CountError(SumMetric):
    """MAE, RMSE = sqrt(mean squared error), and how often the count is exact, or off by one.

    Accuracy is how CountBench and PixMo-Count are reported; the second, too, by Molmo.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(
            name="mae",
            of="mae",
            aggregation="mean",
            higher_is_better=False,
            unit="objects",
            low=0.0,
        ),
        Value(
            name="rmse",
            of="rmse",
            aggregation="pooled",
            higher_is_better=False,
            unit="objects",
            low=0.0,
        ),
        Value(
            name="accuracy",
            of="accuracy",
            aggregation="mean",
            higher_is_better=True,
            low=0.0,
            high=1.0,
        ),
        Value(
            name="within_one",
            of="within_one",
            aggregation="mean",
            higher_is_better=True,
            low=0.0,
            high=1.0,
        ),
    )

    def update(self, pred: Any, target: CountTarget, valid: Any) -> Statistics:  # noqa: ARG002
        """n, abs, sq, exact, near of one picture; `pred` is an integer count."""
        error = int(pred) - target.count
        return {
            "n": 1,
            "abs": abs(error),
            "sq": error * error,
            "exact": int(error == 0),
            "near": int(abs(error) <= 1),
        }

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """mae and rmse in objects, accuracy and within_one in 0..1; None over no pictures."""
        n = statistics["n"]
        if not n:
            return dict.fromkeys(("mae", "rmse", "accuracy", "within_one"))
        return {
            "mae": statistics["abs"] / n,
            "rmse": math.sqrt(statistics["sq"] / n),
            "accuracy": statistics["exact"] / n,
            "within_one": statistics["near"] / n,
        }
