"""Face parts that public tools got wrong: their order of merging, and whose numbers they are."""

from __future__ import annotations

import numpy as np
from vgen_eval.types import NoOptions
from vgen_eval_plugins.datasets.celebamask_hq import CLASSES, merge_parts
from vgen_eval_plugins.semantic.labels import LabelMap
from vgen_eval_plugins.semantic.metrics import LabelIoU


def block(top: int, bottom: int, left: int, right: int) -> np.ndarray:
    """bool (64, 64), both ends among the pixels."""
    mask = np.zeros((64, 64), bool)
    mask[top : bottom + 1, left : right + 1] = True
    return mask


def test_face_parts_that_overlap_are_merged_in_the_cards_order() -> None:
    """https://github.com/taki0112/SPADE-Tensorflow/issues/14"""
    skin, eye, hair = block(10, 59, 15, 49), block(22, 27, 20, 25), block(5, 24, 10, 54)
    assert [int(mask.sum()) for mask in (skin, eye, hair)] == [1750, 36, 900]
    labels = merge_parts([("hair", hair), ("l_eye", eye), ("skin", skin)], 64)
    counts = {name: int((labels == at).sum()) for at, name in enumerate(CLASSES)}
    assert counts["background"] == 1971
    assert (counts["skin"], counts["left_eye"], counts["hair"]) == (1207, 18, 900)
    assert labels.shape == (64, 64)  # the photo of 128 x 128 is another matter


def test_two_numberings_of_the_same_parts_are_compared_by_name() -> None:
    """https://github.com/switchablenorms/CelebAMask-HQ/issues/99"""
    ours = ("background", "skin", "nose", "eye_g", "l_eye", "r_eye", "l_brow", "r_brow")
    theirs = ("background", "skin", "l_brow", "r_brow", "l_eye", "r_eye", "eye_g", "nose")
    target = np.repeat(np.arange(8, dtype=np.int32), 3).reshape(4, 6)
    renumbered = np.array([theirs.index(name) for name in ours], np.int32)[target]
    metric = LabelIoU(NoOptions())
    truth = LabelMap(target, ours)
    found = metric.compute(metric.update(LabelMap(renumbered, theirs), truth, None))
    assert found["miou"] == 1.0
    by_number = metric.compute(metric.update(LabelMap(renumbered, ours), truth, None))
    assert by_number["miou"] == 0.5
