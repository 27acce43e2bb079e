"""F1 of classes: against torchmetrics, scikit-learn and a plain loop; absent and stray classes."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
import torch
from vgen_eval_plugins.semantic.f1 import LabelF1
from vgen_eval_plugins.semantic.labels import LabelMap
from vgen_eval_plugins.standins.vision_ops import mend_torchvision

NAMES = tuple("abcdefgh")


def labels(array) -> LabelMap:
    return LabelMap(np.asarray(array, np.int32), NAMES)


def score(pred, target, **options):
    metric = LabelF1(LabelF1.Options(**options))
    return metric.compute(metric.update(labels(pred), labels(target), None))


def random_pair(seed, classes=8):
    rng = np.random.default_rng(seed)
    kept = rng.choice(classes, 5, replace=False)
    target = kept[rng.integers(0, 5, (20, 30))]
    wrong = rng.random(target.shape) < 0.3
    pred = np.where(wrong, kept[rng.integers(0, 5, target.shape)], target)
    pred[0, 0] = rng.integers(0, classes)  # perhaps a stray class
    return pred, target


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_torchmetrics_gives(seed):
    mend_torchvision()
    from torchmetrics.functional.classification import multiclass_f1_score
    from torchmetrics.functional.segmentation import dice_score, mean_iou

    pred, target = random_pair(seed)
    found = score(pred, target)
    p, t = torch.tensor(pred)[None], torch.tensor(target)[None]
    f1 = multiclass_f1_score(p, t, num_classes=8, average="macro")
    assert found["f1"] == pytest.approx(float(f1), abs=1e-6)
    iou = mean_iou(p, t, num_classes=8, input_format="index")
    assert found["iou"] == pytest.approx(float(iou[0]), abs=1e-6)
    dice = dice_score(p, t, num_classes=8, average="macro", input_format="index")
    assert found["f1"] == pytest.approx(float(dice[0]), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_scikit_learn_gives(seed):
    pred, target = (array.ravel() for array in random_pair(seed))
    there = np.union1d(pred, target)
    f1 = sklearn.metrics.f1_score(target, pred, labels=there, average="macro")
    jaccard = sklearn.metrics.jaccard_score(target, pred, labels=there, average="macro")
    found = score(pred[None], target[None])
    assert found == pytest.approx({"f1": f1, "iou": jaccard}, abs=1e-12)


def test_worked_case_and_the_other_choices_of_classes():
    target, pred = [[0, 0, 1, 1]], [[0, 0, 1, 2]]
    assert score(pred, target)["f1"] == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert score(pred, target, over="reference")["f1"] == pytest.approx((1 + 2 / 3) / 2)
    assert score(pred, target, over="all")["f1"] == pytest.approx((1 + 2 / 3) / 8)
    assert score(pred, target, background="a")["f1"] == pytest.approx((2 / 3 + 0) / 2)
    assert score(pred, target, min_pixels=2)["f1"] == pytest.approx((1 + 2 / 3) / 2)
    assert score(pred, target)["iou"] == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_a_perfect_answer_is_1_and_one_that_says_nothing_0():
    target = [[0, 1, 1, 3]]
    assert score(target, target) == {"f1": 1.0, "iou": 1.0}
    assert score([[-1, -1, -1, -1]], target) == {"f1": 0.0, "iou": 0.0}


def test_pixels_that_the_truth_ignores_count_for_nothing():
    assert score([[0, 5, 1]], [[0, -1, 1]]) == {"f1": 1.0, "iou": 1.0}


def test_a_set_is_pooled_from_sums():
    metric = LabelF1(LabelF1.Options())
    pairs = [random_pair(seed) for seed in (1, 2)]
    total = metric.merge(*(metric.update(labels(p), labels(t), None) for p, t in pairs))
    pred, target = (np.concatenate([pair[at].ravel() for pair in pairs]) for at in (0, 1))
    there = np.union1d(pred, target)
    wanted = sklearn.metrics.f1_score(target, pred, labels=there, average="macro")
    assert metric.compute(total)["f1"] == pytest.approx(wanted, abs=1e-12)


def test_over_no_samples_there_is_no_number():
    metric = LabelF1(LabelF1.Options())
    assert metric.compute({"n": 0, "tp": [], "pred": [], "target": []}) == {"f1": None, "iou": None}
