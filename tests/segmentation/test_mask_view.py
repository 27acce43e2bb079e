"""What is shown of masks: both over the picture, and what agrees, is missed, is too much."""

from __future__ import annotations

import numpy as np
import pytest
from vgen_eval.viewing import ClassMap
from vgen_eval_plugins.segmentation.metrics import MaskIoU
from vgen_eval_plugins.segmentation.view import MaskView
from viewkit import panes_of, roles

SIZE = (10, 12)


def masks() -> tuple[np.ndarray, np.ndarray]:
    target, found = np.zeros(SIZE, bool), np.zeros(SIZE, bool)
    target[2:8, 2:8] = True
    found[4:10, 2:9] = True
    return target, found


def test_the_error_pane_sorts_every_pixel_and_its_iou_is_the_score() -> None:
    target, found = masks()
    valid = np.ones(SIZE, bool)
    valid[9] = False
    panes = panes_of(MaskView(), found, target, size=SIZE, valid=valid)
    assert roles(panes) == ["target", "prediction", "error"]
    body = panes[2].body
    assert isinstance(body, ClassMap)
    assert body.classes == ("agree", "missed", "extra", "ignored")
    count = [int((body.ids == at).sum()) for at in range(4)]
    # 4 rows of 6 in both; 2 rows of 6 above; a column of 4 and row 8 of 7; row 9
    assert count == [24, 12, 4 + 7, 12]
    iou = count[0] / sum(count[:3])
    metric = MaskIoU(MaskIoU.Options())
    scored = metric.compute(metric.update(found, target, valid))["iou"]
    assert iou == pytest.approx(scored)
    assert body.notes["agree"] == f"IoU {iou:.3f}"
    assert body.notes["missed"] == f"{100 * 12 / 36:.1f} % of the truth"
    assert body.notes["extra"] == f"{100 * 11 / 35:.1f} % of the prediction"
    assert "24 px in both, 12 missed, 11 extra" in panes[2].note
    assert (body.clear, body.patterned) == (True, ("extra", "ignored"))


def test_masks_lie_over_the_picture_which_is_seen_beside_them() -> None:
    target, found = masks()
    panes = panes_of(MaskView(), found, target, size=SIZE)
    for pane, mask in zip(panes, (target, found), strict=False):
        body = pane.body
        assert isinstance(body, ClassMap)
        assert np.array_equal(body.ids == 0, mask)
        assert np.array_equal(body.ids == -1, ~mask)
        assert body.clear
        assert 0 < body.opacity < 1
    assert panes[0].note == f"{100 * 36 / 120:.1f} % of the picture."


def test_ignored_pixels_are_told_from_the_ground() -> None:
    target, found = masks()
    valid = np.ones(SIZE, bool)
    valid[:, 6:] = False
    target_pane = panes_of(MaskView(), found, target, size=SIZE, valid=valid)[0]
    assert isinstance(target_pane.body, ClassMap)
    assert np.array_equal(target_pane.body.ids == 1, ~valid)
    assert "50.0 % is ignored" in target_pane.note


def test_nothing_to_find_and_nothing_found_is_right_as_the_metric_has_it() -> None:
    empty = np.zeros(SIZE, bool)
    panes = panes_of(MaskView(), empty, empty, size=SIZE, substitute=True)
    assert panes[2].note == "IoU 1.000: 0 px in both, 0 missed, 0 extra."
    assert panes[1].title.startswith("Failure value")
    assert roles(panes_of(MaskView(), None, empty, size=SIZE)) == ["target"]
