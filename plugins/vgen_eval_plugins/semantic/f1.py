"""F1, Dice and IoU of classes, picture by picture and over a set, as PixelArena counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

from vgen_eval_plugins.semantic.labels import LabelMap
from vgen_eval_plugins.semantic.metrics import LabelIoU

__all__ = ["LabelF1"]


def _values() -> tuple[Value, ...]:
    each = [
        Value(name=name, of=of, aggregation="mean", higher_is_better=True, low=0.0, high=1.0)
        for name, of in (("f1", "f1"), ("dice", "f1"), ("iou", "iou"))
    ]
    pooled = [
        Value(
            name=f"pooled_{name}", of=name, aggregation="pooled", higher_is_better=True, low=0.0,
            high=1.0,
        )
        for name in ("f1", "iou")
    ]  # fmt: skip
    return (*each, *pooled)


class LabelF1(SumMetric):
    """Means over classes of 2 TP / (2 TP + FP + FN) and TP / (TP + FP + FN).

    Per picture over the classes in the answer or in the truth, the background among them, then the
    mean over pictures (PixelArena, arXiv 2512.16303, its code with torchmetrics 1.8). F1 and Dice
    are one number so; a class that is answered and not there adds a 0. Other choices of classes
    are options. `pooled_*`: the same of the set's sums. A pixel that the answer leaves open, or
    gives to a class that the truth does not know, misses its class and is no false alarm.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"
    values: ClassVar[tuple[Value, ...]] = _values()

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which classes a mean is over."""

        over: Annotated[
            Literal["union", "reference", "all"],
            msgspec.Meta(
                description="Classes in answer or truth; in the truth; or all, absent ones as 0."
            ),
        ] = "union"
        background: Annotated[
            str | None,
            msgspec.Meta(description="Name of a class that is left out; null: none is."),
        ] = None
        min_pixels: Annotated[
            int,
            msgspec.Meta(
                description="Answered classes of fewer pixels that the truth has not are passed "
                "over: a diagnosis of stray pixels, no score.",
                ge=1,
            ),
        ] = 1

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._counts = LabelIoU(NoOptions())

    def update(self, pred: LabelMap, target: LabelMap, valid: Any) -> Statistics:
        """n; per class of the truth: tp, pred and target pixels. Errors as those of `label_iou`."""
        found = self._counts.update(pred, target, valid)
        kept = [at for at, name in enumerate(target.classes) if name != self.options.background]
        return {
            "n": 1,
            "tp": [found["intersection"][at] for at in kept],
            "pred": [found["pred"][at] for at in kept],
            "target": [found["target"][at] for at in kept],
        }

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """f1 and iou, 0..1; None over no samples, or where no class counts."""
        f1, iou = [], []
        counts = zip(statistics["tp"], statistics["pred"], statistics["target"], strict=True)
        for hits, answered, there in counts if statistics["n"] else ():
            stray = not there and answered < self.options.min_pixels
            absent = (
                not there if self.options.over == "reference" else stray or not answered + there
            )
            if absent and self.options.over != "all":
                continue
            both = answered + there
            f1.append(2 * hits / both if both else 0.0)
            iou.append(hits / (both - hits) if both else 0.0)
        return {"f1": _mean(f1), "iou": _mean(iou)}


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
