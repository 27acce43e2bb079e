"""Intersection over union of classes and pixel accuracy, over a set and picture by picture."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

from vgen_eval_plugins.semantic.labels import OPEN, LabelMap

__all__ = ["LabelIoU", "confusion", "shared_codes"]

STRIP = 1 << 24
"""Pixels whose counts a float32 histogram holds exactly; a multiple of LANES."""

LANES = 16
"""Parts of a picture that are counted in turns."""


def _value(name: str, of: str, aggregation: str) -> Value:
    return msgspec.convert(
        {"name": name, "of": of, "aggregation": aggregation, "higher_is_better": True,
         "low": 0.0, "high": 1.0},
        Value,
    )  # fmt: skip


def confusion(
    pred: NDArray[Any], target: NDArray[Any], *, rows: int, columns: int
) -> NDArray[np.int64]:
    """(rows, columns): pixels by target code and by pred code; codes within range."""
    if pred.dtype != np.uint8 or target.dtype != np.uint8:
        joint = target.astype(np.int64).ravel() * columns + pred.ravel()
        return np.bincount(joint, minlength=rows * columns).reshape(rows, columns)
    counts = np.zeros((rows, columns), np.int64)
    flat = (target.reshape(-1), pred.reshape(-1))
    whole = target.size - target.size % LANES
    edges = [*range(0, whole, STRIP), whole, target.size]
    for start, stop in pairwise(edges):
        # neighbours are mostly alike, and counting in one place twice in a row waits for memory:
        # pixels of distant rows take turns
        lanes = LANES if stop <= whole else 1
        if start == stop:
            continue
        turns = [cv2.transpose(codes[start:stop].reshape(lanes, -1)) for codes in flat]
        found = cv2.calcHist(turns, [0, 1], None, [rows, columns], [0, rows, 0, columns])
        counts += found.astype(np.int64)
    return counts


class LabelIoU(SumMetric):
    """Mean IoU of classes, by name, and pixel accuracy.

    Pixels that the truth ignores count for nothing. A pixel that the answer leaves open, or gives
    to a class that the truth does not know, is wrong: it misses the truth's class and is no other
    class's false alarm. Which classes a mean is over is part of its name:

    miou            intersections / unions over the set, mean of the classes in truth or answers
                    (as cityscapesScripts)
    miou_in_truth   the same, mean of the classes that the truth holds somewhere
    image_miou      per picture, mean of the classes in its truth; mean over pictures (the per-image
                    numbers of arXiv 2605.04566)
    pixel_accuracy, image_pixel_accuracy   right / known pixels, over the set and per picture
    open            share of the known pixels that the answers leave open, over the set
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        _value("miou", "miou", "pooled"),
        _value("miou_in_truth", "miou_in_truth", "pooled"),
        _value("image_miou", "miou_in_truth", "mean"),
        _value("pixel_accuracy", "pixel_accuracy", "pooled"),
        _value("image_pixel_accuracy", "pixel_accuracy", "mean"),
        Value(
            name="open", of="open", aggregation="pooled", higher_is_better=False, low=0.0, high=1.0
        ),
    )

    def update(self, pred: LabelMap, target: LabelMap, valid: Any) -> Statistics:
        """n; intersection, pred and target: pixels per class of the target; correct, total;
        unknown: pixels of classes that the target does not know; open: pixels of none.

        `valid`: bool (H, W) or None. NoValidTarget when no pixel's class is known; ValueError when
        shapes differ or labels are out of range.
        """
        size = len(target.classes)
        counts = self._count(pred, target, valid)
        total = int(counts.sum())
        own = counts[:, 1 : size + 1]
        return {
            "n": 1,
            "intersection": own.diagonal().tolist(),
            "pred": own.sum(axis=0).tolist(),
            "target": counts.sum(axis=1).tolist(),
            "correct": int(own.trace()),
            "total": total,
            "unknown": int(counts[:, size + 1].sum()),
            "open": int(counts[:, 0].sum()),
        }

    def _count(self, pred: LabelMap, target: LabelMap, valid: Any) -> NDArray[np.int64]:
        """(classes, classes + 2): pixels of each class of the truth by what they were called, open
        first, a class that the truth does not know last."""
        size = len(target.classes)
        found, truth = shared_codes(pred, target, valid)
        counts = confusion(found, truth, rows=size + 1, columns=size + 2)[1:]
        if not counts.any():
            raise NoValidTarget("no pixel of the label map has a known class")
        return counts

    def class_confusion(
        self, pred: LabelMap, target: LabelMap, valid: Any
    ) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The truth's classes, and pixels (classes, classes + 2) by truth and by answer.

        The last two columns are pixels called a class that the truth does not know, and pixels
        left open. Errors as those of `update`. For one picture at a time: a set of many classes
        has too many pairs of them to keep for each sample.
        """
        counts = self._count(pred, target, valid)
        return target.classes, np.column_stack([counts[:, 1:], counts[:, 0]])

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """miou, miou_in_truth, pixel_accuracy and open, 0..1; None over no samples."""
        if not statistics["total"]:
            return {"miou": None, "miou_in_truth": None, "pixel_accuracy": None, "open": None}
        by_class = self.class_iou(statistics)
        seen = [iou for iou in by_class if iou is not None]
        in_truth = [
            iou
            for iou, pixels in zip(by_class, statistics["target"], strict=True)
            if iou is not None and pixels
        ]
        return {
            "miou": sum(seen) / len(seen),
            "miou_in_truth": sum(in_truth) / len(in_truth),
            "pixel_accuracy": statistics["correct"] / statistics["total"],
            "open": statistics["open"] / statistics["total"],
        }

    def class_iou(self, statistics: Statistics) -> list[float | None]:
        """IoU of each class of the target; None for one in neither truth nor answers."""
        ious: list[float | None] = []
        for both, pred, target in zip(
            statistics["intersection"], statistics["pred"], statistics["target"], strict=True
        ):
            union = pred + target - both
            ious.append(both / union if union else None)
        return ious

    def flags(self, statistics: Statistics) -> list[str]:
        """unknown_class: the answer holds a class that the truth does not know."""
        return ["unknown_class"] if statistics["unknown"] else []


def shared_codes(pred: LabelMap, target: LabelMap, valid: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes (H, W) of both by the names of the target's classes, from 1 on in their order.

    0: open, or ignored in the target; one past the last: a class that the target does not know.
    ValueError as that of `LabelIoU.update`.
    """
    _check_shapes(pred, target, valid)
    truth = _codes(target.labels, np.arange(1, len(target.classes) + 1), "target")
    if valid is not None:
        truth = truth * np.asarray(valid, dtype=bool)
    return _codes(pred.labels, _translation(pred, target), "pred"), truth


def _check_shapes(pred: LabelMap, target: LabelMap, valid: Any) -> None:
    if not target.classes:
        raise ValueError("the target names no classes")
    shape = target.labels.shape
    if (
        len(shape) != 2
        or pred.labels.shape != shape
        or (valid is not None and np.shape(valid) != shape)
    ):
        raise ValueError(
            f"pred {pred.labels.shape}, target {shape} and valid "
            f"{None if valid is None else np.shape(valid)} differ in shape"
        )


def _translation(pred: LabelMap, target: LabelMap) -> NDArray[np.int64]:
    """The target's code of each of the pred's labels: 1 on; one past the last for the unknown."""
    size = len(target.classes)
    if pred.classes in ((), target.classes):
        top = int(pred.labels.max(initial=0)) + 1
        codes = np.minimum(np.arange(1, max(top, size) + 1), size + 1)
        return codes if not pred.classes else codes[:size]
    place = {name: number for number, name in enumerate(target.classes, 1)}
    return np.array([place.get(name, size + 1) for name in pred.classes], np.int64)


def _codes(labels: NDArray[np.int32], table: NDArray[Any], what: str) -> NDArray[Any]:
    """`table` of each label, 0 for -1; uint8 where the table is short. ValueError out of range."""
    if not labels.size:
        return np.zeros(labels.shape, np.uint8)
    low, high = int(labels.min()), int(labels.max())
    if low < OPEN or high >= len(table):
        raise ValueError(f"{what}: label {low if low < OPEN else high} with {len(table)} classes")
    if len(table) < 255 and table.max() < 256:
        short = labels.astype(np.uint8)  # -1 becomes 255
        if np.array_equal(table, np.arange(1, len(table) + 1)):
            return np.add(short, 1, out=short)  # 255 becomes 0
        dense = np.zeros(256, np.uint8)
        dense[: len(table)] = table
        return np.asarray(cv2.LUT(short, dense))
    return np.append(table, 0).astype(np.int64)[labels]  # the last is that of -1
