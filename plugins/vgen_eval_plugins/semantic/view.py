"""What is shown of label maps: truth and prediction class by class, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.types import NoOptions
from vgen_eval.viewing import ClassMap, Colour, Pane, Seen

from vgen_eval_plugins.semantic.labels import OPEN, LabelMap
from vgen_eval_plugins.semantic.metrics import LabelIoU, shared_codes
from vgen_eval_plugins.showing import (
    AGREE,
    EXTRA,
    MISSED,
    WRONG,
    metric_of,
    percent,
    predicted,
    share,
)

__all__ = ["LabelsView"]

UNKNOWN = "a class that the truth does not know"
_DIFFERENCES = ("right", "open", "wrong class", UNKNOWN)
_DIFFERENCE_COLOURS: tuple[Colour, ...] = (AGREE, MISSED, WRONG, EXTRA)
_UNUSED: Colour = (128, 128, 128)
"""Of a class without a colour that no pixel has."""


class LabelsView:
    """Truth and prediction in the same classes, by name, and the pixels that are wrong."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "labels"

    def panes(self, seen: Seen) -> Sequence[Pane]:
        """Target, prediction and error, (H, W) as the target; the last where it was scored."""
        target: LabelMap = seen.sample.target
        truth = np.asarray(target.labels)
        if seen.sample.valid is not None:
            truth = np.where(np.asarray(seen.sample.valid, bool), truth, OPEN)
        if seen.prediction is None:
            colours = _colours(target.classes, (truth,), (target,))
            return [_classes("target", "Target", truth, target.classes, colours, "ignored", {}, "")]
        pred: LabelMap = seen.prediction.value
        found, known = shared_codes(pred, target, seen.sample.valid)
        classes = (*target.classes, *_others(pred, target))
        labels = _by_name(pred, target, found, classes)
        colours = _colours(classes, (truth, labels), (target, pred))
        notes, note = _scores(seen, pred, target)
        return [
            _classes("target", "Target", truth, classes, colours, "ignored", notes, ""),
            _classes("prediction", predicted(seen), labels, classes, colours, "open", notes, note),
            _difference(found, known, len(target.classes)),
        ]


def _others(pred: LabelMap, target: LabelMap) -> tuple[str, ...]:
    """What stands for classes that the truth does not know."""
    if not pred.classes:
        is_beyond = int(pred.labels.max(initial=-1)) >= len(target.classes)
        return (UNKNOWN,) if is_beyond else ()
    return tuple(name for name in pred.classes if name not in target.classes)


def _by_name(
    pred: LabelMap, target: LabelMap, found: NDArray[Any], classes: Sequence[str]
) -> NDArray[np.int32]:
    """The prediction's labels as places in `classes`."""
    labels = found.astype(np.int32) - 1
    strange = labels == len(target.classes)
    if pred.classes and strange.any():
        place = {name: at for at, name in enumerate(classes)}
        table = np.array([place[name] for name in pred.classes], np.int32)
        labels[strange] = table[pred.labels[strange]]
    return labels


def _colours(
    classes: Sequence[str], maps: Sequence[NDArray[Any]], sources: Sequence[LabelMap]
) -> tuple[Colour, ...]:
    """The data set's palette, else that of the answer; () where a class that is seen has none."""
    known: dict[str, Colour] = {}
    for source in sources:
        for name, colour in zip(source.classes, source.colours, strict=False):
            known.setdefault(name, colour)
    if not known:
        return ()
    counts = [np.bincount(labels.ravel() + 1, minlength=len(classes) + 1) for labels in maps]
    pixels = np.sum(counts, axis=0)
    if any(count and name not in known for name, count in zip(classes, pixels[1:], strict=True)):
        return ()
    return tuple(known.get(name, _UNUSED) for name in classes)


def _scores(seen: Seen, pred: LabelMap, target: LabelMap) -> tuple[Mapping[str, str], str]:
    """IoU of each class that truth or answer holds, for the legend, and a line of the whole."""
    metric = metric_of(seen, LabelIoU) or LabelIoU(NoOptions())
    try:
        statistics = metric.update(pred, target, seen.sample.valid)
    except NoValidTarget:
        return {}, "No pixel of the truth has a known class."
    ious = metric.class_iou(statistics)
    notes = {
        name: f"IoU {share(iou)}"
        for name, iou in zip(target.classes, ious, strict=True)
        if iou is not None
    }
    values = metric.compute(statistics)
    miou, right = values["miou_in_truth"], values["pixel_accuracy"]
    told = "" if miou is None else f"Mean IoU of the truth's classes {share(miou)}"
    return notes, told + ("" if right is None else f"; {percent(right, 1)} of the pixels right.")


def _classes(
    role: Any,
    title: str,
    labels: NDArray[Any],
    classes: Sequence[str],
    colours: tuple[Colour, ...],
    none: str,
    notes: Mapping[str, str],
    note: str,
) -> Pane:
    body = ClassMap(
        ids=labels.astype(np.int32), classes=tuple(classes), colours=colours, none=none, notes=notes
    )
    return Pane(role=role, title=title, body=body, note=note)


def _difference(found: NDArray[Any], truth: NDArray[Any], size: int) -> Pane:
    """`found`, `truth`: codes from 1 to `size`; 0 for none, one more for the unknown."""
    ids = np.full(truth.shape, OPEN, np.int8)
    known = truth > 0
    ids[known] = 2
    ids[known & (found == truth)] = 0
    ids[known & (found == 0)] = 1
    ids[known & (found > size)] = 3
    counts = [int(np.count_nonzero(ids == at)) for at in range(len(_DIFFERENCES))]
    total = sum(counts)
    notes = {
        name: f"{percent(count, total)} of the known pixels"
        for name, count in zip(_DIFFERENCES, counts, strict=True)
    }
    body = ClassMap(
        ids=ids, classes=_DIFFERENCES, colours=_DIFFERENCE_COLOURS, none="ignored",
        patterned=("wrong class", UNKNOWN), notes=notes,
    )  # fmt: skip
    note = f"{percent(counts[0], total)} right of {total:,} px with a known class."
    return Pane(role="error", title="Prediction against target", body=body, note=note)
