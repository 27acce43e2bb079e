"""Intersection over union of masks, per picture and over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.scoring import SumMetric
from vgen_eval.types import Statistics, Value

__all__ = ["MaskIoU"]


SAMPLE_TERM = 1e-5
POOLED_TERM = 1e-10
"""What LISA adds to the denominators of a sample's IoU and of their mean, and of cIoU."""


def _value(name: str, of: str, aggregation: Literal["mean", "pooled"]) -> Value:
    return Value(
        name=name, of=of, aggregation=aggregation, higher_is_better=True, low=0.0, high=1.0
    )


def _plane(mask: Any) -> NDArray[np.uint8]:
    return np.ascontiguousarray(mask, dtype=bool).view(np.uint8)


class MaskIoU(SumMetric):
    """gIoU: mean of the samples' IoU. cIoU: sum of intersections / sum of unions.

    Where there is nothing to find and nothing was found, IoU is 1. Pixels whose truth is unknown
    count for neither. Source: LISA (arXiv 2308.00692), whose code adds small terms to the
    denominators: `compat: lisa` does so too, and a perfect single pixel comes to .99998. RefCOCO
    papers call gIoU mIoU and cIoU oIoU.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "mask"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Whose arithmetic."""

        compat: Annotated[
            Literal["none", "lisa"],
            msgspec.Meta(
                description="lisa: IoU = I / (U + 1e-5), gIoU = sum / (n + 1e-5), "
                "cIoU = I / (U + 1e-10)."
            ),
        ] = "none"

    values: tuple[Value, ...] = (_value("giou", "iou", "mean"), _value("ciou", "iou", "pooled"))

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._is_lisa = options.compat == "lisa"
        if self._is_lisa:  # its gIoU is no mean: n has a term of its own
            self.values = (_value("giou", "giou", "pooled"), _value("ciou", "ciou", "pooled"))

    def update(self, pred: Any, target: Any, valid: Any) -> Statistics:
        """n, and intersection and union in pixels; all three arrays are bool (H, W).

        NoValidTarget when `valid` is False everywhere; ValueError when shapes differ.
        """
        found, truth = _plane(pred), _plane(target)
        if (
            found.ndim != 2
            or found.shape != truth.shape
            or (valid is not None and np.shape(valid) != truth.shape)
        ):
            raise ValueError(
                f"pred {found.shape}, target {truth.shape} and valid "
                f"{None if valid is None else np.shape(valid)} differ in shape"
            )
        if valid is not None:
            known = _plane(valid)
            if not cv2.countNonZero(known):
                raise NoValidTarget("no pixel of the mask has a known truth")
            found, truth = found & known, truth & known
        intersection = int(cv2.countNonZero(cv2.bitwise_and(found, truth)))
        union = int(cv2.countNonZero(cv2.bitwise_or(found, truth)))
        statistics: Statistics = {"n": 1, "intersection": intersection, "union": union}
        if self._is_lisa:
            statistics["iou_sum"] = intersection / (union + SAMPLE_TERM) if union else 1.0
        return statistics

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """iou, or giou and ciou of LISA, 0..1; None over no samples."""
        n, union = statistics["n"], statistics["union"]
        if self._is_lisa:
            if not n:
                return {"giou": None, "ciou": None}
            giou = statistics["iou_sum"] / (n + SAMPLE_TERM)
            return {"giou": giou, "ciou": statistics["intersection"] / (union + POOLED_TERM)}
        if not n:
            return {"iou": None}
        return {"iou": statistics["intersection"] / union if union else 1.0}
