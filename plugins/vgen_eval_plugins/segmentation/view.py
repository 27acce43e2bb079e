"""What is shown of masks: truth and prediction over the picture, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.viewing import ClassMap, Colour, Pane, Seen

from vgen_eval_plugins.showing import AGREE, EXTRA, IGNORED, MISSED, percent, predicted, share

__all__ = ["MaskView"]

Mask = NDArray[np.bool_]

INSIDE, UNKNOWN = "mask", "ignored"
_COLOURS: tuple[Colour, ...] = ((40, 160, 200), IGNORED)
_DIFFERENCES = ("agree", "missed", "extra", UNKNOWN)
_DIFFERENCE_COLOURS: tuple[Colour, ...] = (AGREE, MISSED, EXTRA, IGNORED)
OPACITY = 0.6


class MaskView:
    """Truth, prediction, and what both, the truth alone or the prediction alone holds."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "mask"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Target, prediction and error, (H, W) as the target; the last where it was scored."""
        target = np.asarray(seen.sample.target, bool)
        valid = seen.sample.valid
        known = np.ones(target.shape, bool) if valid is None else np.asarray(valid, bool)
        note = f"{percent(_count(target & known), target.size)} of the picture."
        if not known.all():
            note += f" {percent(_count(~known), known.size)} is ignored."
        shown = [_over("target", "Target", target, known, note)]
        if seen.prediction is None:
            return shown
        found = np.asarray(seen.prediction.value, bool)
        note = f"{percent(_count(found), found.size)} of the picture."
        shown.append(_over("prediction", predicted(seen), found, None, note))
        return [*shown, _difference(found, target, known)]


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))


def _over(role: Any, title: str, mask: Mask, known: Mask | None, note: str) -> Pane:
    ids = np.where(mask, 0, -1).astype(np.int8)
    if known is not None:
        ids[~known] = 1
    body = ClassMap(
        ids=ids, classes=(INSIDE, UNKNOWN), colours=_COLOURS, none="outside", opacity=OPACITY,
        clear=True, patterned=(UNKNOWN,),
    )  # fmt: skip
    return Pane(role=role, title=title, body=body, note=note)


def _difference(found: Mask, target: Mask, known: Mask) -> Pane:
    ids = np.full(target.shape, -1, np.int8)
    ids[found & target] = 0
    ids[target & ~found] = 1
    ids[found & ~target] = 2
    ids[~known] = 3
    agree, missed, extra = (_count(ids == at) for at in range(3))
    union = agree + missed + extra
    # nothing to find and nothing found is right, as the metric has it
    iou = agree / union if union else 1.0
    notes = {
        "agree": f"IoU {share(iou)}",
        "missed": f"{percent(missed, agree + missed)} of the truth",
        "extra": f"{percent(extra, agree + extra)} of the prediction",
    }
    body = ClassMap(
        ids=ids, classes=_DIFFERENCES, colours=_DIFFERENCE_COLOURS, none="outside both",
        opacity=OPACITY + 0.2, clear=True, patterned=("extra", UNKNOWN), notes=notes,
    )  # fmt: skip
    note = f"IoU {share(iou)}: {agree:,} px in both, {missed:,} missed, {extra:,} extra."
    return Pane(role="error", title="Prediction against target", body=body, note=note)
