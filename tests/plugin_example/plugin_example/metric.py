"""How far a brightness is from the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import Statistics, Value

__all__ = ["LumaError"]


class LumaError(SumMetric):
    """Mean absolute error in grey levels, and the share of samples within a tolerance."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "brightness"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Set beside the metric's name in the protocol."""

        tolerance: Annotated[
            float, msgspec.Meta(description="Grey levels off that still count as right.", ge=0)
        ] = 4.0

    values: ClassVar[tuple[Value, ...]] = (
        Value(
            name="luma_mae",
            of="luma_mae",
            aggregation="mean",
            higher_is_better=False,
            unit="levels",
            low=0.0,
            high=255.0,
        ),
        Value(
            name="within",
            of="within",
            aggregation="mean",
            higher_is_better=True,
            low=0.0,
            high=1.0,
        ),
    )
    options: Options

    def update(self, pred: float, target: float, valid: Any) -> Statistics:
        """n, abs and within of one sample; both brightnesses are 0-255."""
        error = abs(pred - target)
        return {"n": 1, "abs": error, "within": int(error <= self.options.tolerance)}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """luma_mae in grey levels, within in 0..1; None over no samples."""
        n = statistics["n"]
        if not n:
            return {"luma_mae": None, "within": None}
        return {"luma_mae": statistics["abs"] / n, "within": statistics["within"] / n}
