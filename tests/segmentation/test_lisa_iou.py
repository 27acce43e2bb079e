"""gIoU and cIoU beside a plain loop over pixels, and with the small terms of LISA's code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval_plugins.segmentation.metrics import MaskIoU

Mask = NDArray[np.bool_]


def many(count: int = 40) -> list[tuple[Mask, Mask, Mask | None]]:
    rng = np.random.default_rng(11)
    made: list[tuple[Mask, Mask, Mask | None]] = []
    for at in range(count):
        shape = (int(rng.integers(1, 9)), int(rng.integers(1, 9)))
        pred, target = rng.random(shape) < rng.random(), rng.random(shape) < rng.random()
        valid: Mask | None = rng.random(shape) < 0.8
        if at % 3 == 0 or not np.any(valid):
            valid = None
        if at % 7 == 0:
            pred, target = np.zeros(shape, bool), np.zeros(shape, bool)
        made.append((pred, target, valid))
    return made


def loop(samples: Any, *, sample_term: float, mean_term: float, pool_term: float) -> Any:
    """One pixel at a time."""
    total, inter_sum, union_sum = 0.0, 0, 0
    for pred, target, valid in samples:
        inter = union = 0
        for y in range(target.shape[0]):
            for x in range(target.shape[1]):
                if valid is not None and not valid[y, x]:
                    continue
                inter += int(pred[y, x] and target[y, x])
                union += int(pred[y, x] or target[y, x])
        total += inter / (union + sample_term) if union else 1.0
        inter_sum, union_sum = inter_sum + inter, union_sum + union
    return total / (len(samples) + mean_term), inter_sum / (union_sum + pool_term)


def run(metric: MaskIoU, samples: Any) -> tuple[list[Any], Any]:
    each = [metric.update(*sample) for sample in samples]
    merged = each[0]
    for other in each[1:]:
        merged = metric.merge(merged, other)
    return [metric.compute(one) for one in each], metric.compute(merged)


def test_exact_giou_and_ciou_are_the_loops() -> None:
    metric = MaskIoU(MaskIoU.Options())
    each, pooled = run(metric, many())
    giou, ciou = loop(many(), sample_term=0, mean_term=0, pool_term=0)
    assert np.mean([one["iou"] for one in each]) == pytest.approx(giou, abs=1e-12)
    assert pooled["iou"] == pytest.approx(ciou, abs=1e-12)
    assert [(v.name, v.of, v.aggregation) for v in metric.values] == [
        ("giou", "iou", "mean"),
        ("ciou", "iou", "pooled"),
    ]


def test_lisas_giou_and_ciou_are_the_loops() -> None:
    metric = MaskIoU(MaskIoU.Options(compat="lisa"))
    _, pooled = run(metric, many())
    giou, ciou = loop(many(), sample_term=1e-5, mean_term=1e-5, pool_term=1e-10)
    assert pooled["giou"] == pytest.approx(giou, abs=1e-12)
    assert pooled["ciou"] == pytest.approx(ciou, abs=1e-12)
    assert [(v.name, v.of, v.aggregation) for v in metric.values] == [
        ("giou", "giou", "pooled"),
        ("ciou", "ciou", "pooled"),
    ]


def test_a_perfect_single_pixel_is_short_of_one_in_lisas_arithmetic_alone() -> None:
    one = np.ones((1, 1), bool)
    lisa = MaskIoU(MaskIoU.Options(compat="lisa"))
    giou = lisa.compute(lisa.update(one, one, None))["giou"]
    assert giou == pytest.approx(1 / (1 + 1e-5) ** 2, abs=1e-12)
    assert round(giou or 0, 5) == 0.99998
    exact = MaskIoU(MaskIoU.Options())
    assert exact.compute(exact.update(one, one, None))["iou"] == 1.0


@pytest.mark.parametrize("compat", ["none", "lisa"])
def test_nothing_to_find_and_nothing_found_is_one_and_something_found_is_nought(
    compat: Any,
) -> None:
    metric = MaskIoU(MaskIoU.Options(compat=compat))
    name = metric.values[0].of
    empty, full = np.zeros((3, 4), bool), np.ones((3, 4), bool)
    assert metric.compute(metric.update(empty, empty, None))[name] == pytest.approx(1, abs=2e-5)
    assert metric.compute(metric.update(full, empty, None))[name] == 0
    assert metric.compute({"n": 0, "intersection": 0, "union": 0, "iou_sum": 0})[name] is None


@pytest.mark.parametrize("compat", ["none", "lisa"])
def test_a_truth_that_is_ignored_everywhere_is_no_sample(compat: Any) -> None:
    metric = MaskIoU(MaskIoU.Options(compat=compat))
    empty = np.zeros((3, 4), bool)
    with pytest.raises(NoValidTarget):
        metric.update(empty, empty, empty)
