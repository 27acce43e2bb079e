"""What is shown of label maps: classes by name, in one palette, and the pixels that are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval.viewing import ClassMap, Pane
from vgen_eval_plugins.semantic.f1 import LabelF1
from vgen_eval_plugins.semantic.labels import LabelClass, LabelMap, to_labels
from vgen_eval_plugins.semantic.metrics import LabelIoU
from vgen_eval_plugins.semantic.nearest_colour import NearestColour, NearestColourOptions
from vgen_eval_plugins.semantic.view import LabelsView
from viewkit import panes_of, roles

SIZE = (6, 8)
CLASSES = ("road", "sky", "tree")
UNKNOWN = "a class that the truth does not know"


def truth() -> LabelMap:
    labels = np.zeros(SIZE, np.int32)
    labels[:2] = 1
    labels[5, :4] = -1
    return LabelMap(labels, CLASSES)


def body(pane: Pane) -> ClassMap:
    assert isinstance(pane.body, ClassMap)
    return pane.body


def shown(pred: LabelMap | None, target: LabelMap, **more: Any) -> list[Pane]:
    return list(panes_of(LabelsView(), pred, target, size=SIZE, **more))


def test_classes_are_compared_by_name_and_each_pixel_is_sorted() -> None:
    labels = np.full(SIZE, 1, np.int32)  # road, by another number
    labels[:2] = 0  # sky
    labels[0, 0] = 2  # tree
    labels[3, 3] = 3  # sea, which the truth does not know
    labels[4, 4] = -1
    pred = LabelMap(labels, ("sky", "road", "tree", "sea"))
    valid = np.ones(SIZE, bool)
    valid[2, :] = False
    target, found, error = shown(pred, truth(), valid=valid)
    assert body(target).classes == body(found).classes == ("road", "sky", "tree", "sea")
    assert body(found).ids[[0, 1, 3, 3, 4], [0, 1, 3, 0, 4]].tolist() == [2, 1, 3, 0, -1]
    assert (body(target).ids[2] == -1).all()
    assert (body(target).none, body(found).none) == ("ignored", "open")
    ids = body(error).ids
    assert body(error).classes == ("right", "open", "wrong class", UNKNOWN)
    assert (ids[0, 0], ids[3, 3], ids[4, 4], ids[1, 1]) == (2, 3, 1, 0)
    assert (ids[2] == -1).all()
    assert (ids[5, :4] == -1).all()
    counted = [int((ids == at).sum()) for at in range(4)]
    assert counted == [36 - 3, 1, 1, 1]
    assert body(error).patterned == ("wrong class", UNKNOWN)


@pytest.mark.parametrize("metrics", [{"a": LabelIoU(NoOptions())},
                                     {"f1": LabelF1(LabelF1.Options())}, {}])  # fmt: skip
def test_legend_and_note_have_the_numbers_of_the_score(metrics: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    pred = LabelMap(rng.integers(-1, 3, SIZE).astype(np.int32))
    target, found, error = shown(pred, truth(), metrics=metrics)
    known = truth().labels >= 0
    for place, name in enumerate(CLASSES):
        there, said = truth().labels == place, (pred.labels == place) & known
        union = int((there | said).sum())
        wanted = f"IoU {int((there & said).sum()) / union:.3f}"
        assert body(target).notes[name] == body(found).notes[name] == wanted
    metric = LabelIoU(NoOptions())
    scored = metric.compute(metric.update(pred, truth(), None))
    right = float((body(error).ids == 0).sum() / known.sum())
    assert right == pytest.approx(scored["pixel_accuracy"])
    assert f"{100 * right:.1f} % of the pixels right" in found.note
    assert f"{scored['miou_in_truth']:.3f}" in found.note


def test_a_class_that_nobody_has_has_no_iou() -> None:
    target, _, _ = shown(LabelMap(np.zeros(SIZE, np.int32)), truth())
    assert set(body(target).notes) == {"road", "sky"}


def test_numbers_beyond_the_truths_classes_are_one_unknown_class() -> None:
    labels = np.zeros(SIZE, np.int32)
    labels[5, 7], labels[4, 7] = 7, 9
    _, found, error = shown(LabelMap(labels), truth())
    assert body(found).classes == (*CLASSES, UNKNOWN)
    assert body(found).ids[5, 7] == body(found).ids[4, 7] == 3
    assert int((body(error).ids == 3).sum()) == 2


def test_the_answers_palette_colours_both_panes() -> None:
    decoder = NearestColour(
        NearestColourOptions(palette={"sky": "#0000ff", "road": "#ff0000", "tree": "#00ff00"})
    )
    painted = np.zeros((*SIZE, 3), np.uint8)
    painted[..., 2] = 255
    scene = Scene(image=Image(np.zeros((*SIZE, 3), np.uint8)), size=SIZE)
    pred = decoder.decode(painted, scene).value
    target, found, _ = shown(pred, truth())
    wanted = ((255, 0, 0), (0, 0, 255), (0, 255, 0))  # road, sky, tree
    assert body(target).colours == body(found).colours == wanted


def test_the_data_sets_own_palette_goes_before_and_gaps_leave_it_to_the_viewer() -> None:
    painted = zip(CLASSES, ("#111111", "#222222", "#333333"), strict=True)
    table = [LabelClass(name, colour=colour) for name, colour in painted]
    own = to_labels(np.zeros(SIZE, np.int64), table)
    pred = LabelMap(np.zeros(SIZE, np.int32), ("road",), ((9, 9, 9),))
    assert body(shown(pred, own)[1]).colours[0] == (0x11, 0x11, 0x11)
    assert body(shown(None, own)[0]).colours[2] == (0x33, 0x33, 0x33)
    # the sky is seen in the truth, and the answer's palette has no colour for it
    assert body(shown(pred, truth())[0]).colours == ()


def test_the_failure_value_and_an_unknown_truth_are_shown() -> None:
    void = LabelMap(np.full(SIZE, -1, np.int32))
    _, found, error = shown(void, truth(), substitute=True)
    assert found.title.startswith("Failure value")
    assert (body(found).ids == -1).all()
    assert int((body(error).ids == 1).sum()) == 44
    panes = shown(truth(), LabelMap(void.labels, CLASSES))
    assert panes[1].note == "No pixel of the truth has a known class."
    assert roles(shown(None, truth())) == ["target"]
