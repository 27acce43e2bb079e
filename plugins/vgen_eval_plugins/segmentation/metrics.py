"""Intersection over union of masks, per picture and over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

__all__ = ["MaskIoU"]


def _plane(mask: Any) -> NDArray[np.uint8]:
    return np.ascontiguousarray(mask, dtype=bool).view(np.uint8)


class MaskIoU(SumMetric):
    """gIoU: mean of the samples' IoU. cIoU: sum of intersections / sum of unions.

    Where there is nothing to find and nothing was found, IoU is 1. Pixels whose truth is unknown
    count for neither. Source: LISA (arXiv 2308.00692), without its 1e-5 in the denominators.
    RefCOCO papers call gIoU mIoU and cIoU oIoU.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(name="giou", of="iou", aggregation="mean", higher_is_better=True, low=0.0, high=1.0),
        Value(
            name="ciou", of="iou", aggregation="pooled", higher_is_better=True, low=0.0, high=1.0
        ),
    )

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
        return {
            "n": 1,
            "intersection": int(cv2.countNonZero(cv2.bitwise_and(found, truth))),
            "union": int(cv2.countNonZero(cv2.bitwise_or(found, truth))),
        }

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """iou, 0..1; None over no samples."""
        if not statistics["n"]:
            return {"iou": None}
        union = statistics["union"]
        return {"iou": statistics["intersection"] / union if union else 1.0}
