"""Mask arrays, the failure value and the IoU: worked cases and independent references."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.segmentation.encoders import MaskEncoder
from vgen_eval_plugins.segmentation.metrics import MaskIoU
from vgen_eval_plugins.segmentation.native_mask import EmptyMask, NativeMask

Mask = NDArray[np.bool_]
METRIC = MaskIoU(MaskIoU.Options())


def scene_of(height: int, width: int) -> Scene:
    return Scene(image=Image(np.zeros((height, width, 3), np.uint8)), size=(height, width))


def box(rows: int, columns: int, size: int = 10) -> Mask:
    mask = np.zeros((size, size), bool)
    mask[:rows, :columns] = True
    return mask


def checkerboard(height: int, width: int) -> Mask:
    return np.asarray(np.indices((height, width)).sum(axis=0) % 2 == 0)


@pytest.mark.parametrize(
    "answer",
    [
        checkerboard(5, 7),
        checkerboard(5, 7).astype(np.uint8),
        checkerboard(5, 7).astype(np.uint8) * 255,
        checkerboard(5, 7).astype(np.int64) * 3,
        checkerboard(5, 7).astype(np.float32),
        checkerboard(5, 7) * 0.4 + 0.3,
        checkerboard(5, 7) * 255.0,
        np.where(checkerboard(5, 7), 140, 90).astype(np.uint8),
    ],
)
def test_masks_of_every_type_read_alike(answer: NDArray[np.generic]) -> None:
    prediction = NativeMask(NoOptions()).decode(answer, scene_of(5, 7))
    assert prediction.value.dtype == bool
    assert np.array_equal(prediction.value, checkerboard(5, 7))
    assert prediction.flags == ()
    assert prediction.summary["area_fraction"] == pytest.approx(18 / 35, abs=1e-6)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "mask",
        [[1, 0]],
        np.zeros((4, 4, 1), bool),
        np.zeros(4, bool),
        np.zeros((0, 4), bool),
        np.array([[0.0, np.nan]]),
        np.array([[0.0, np.inf]]),
        np.array([[-1, 0]]),
        np.array([[0, 1, 2]]),
        np.array([[0.0, 0.5, 3.0]]),
        np.array([["a"]]),
        np.array([[1j]]),
    ],
)
def test_what_is_no_mask_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        NativeMask(NoOptions()).decode(answer, scene_of(4, 4))


@pytest.mark.parametrize("factor", [2, 3])
def test_mask_of_another_size_takes_the_nearest_pixel_and_says_so(factor: int) -> None:
    small = np.random.default_rng(0).random((6, 9)) < 0.5
    prediction = NativeMask(NoOptions()).decode(small, scene_of(6 * factor, 9 * factor))
    assert prediction.flags == ("resized",)
    assert np.array_equal(prediction.value, np.kron(small, np.ones((factor, factor))).astype(bool))


@pytest.mark.parametrize(("fit", "right"), [("stretch", False), ("letterbox", True)])
def test_mask_of_another_shape_says_so_and_lies_as_the_card_says(
    fit: Literal["stretch", "letterbox"], right: bool
) -> None:
    target = checkerboard(6, 12)
    answer = np.zeros((12, 12), bool)
    answer[3:9] = target
    image = Image(np.zeros((6, 12, 3), np.uint8))
    prediction = NativeMask(NoOptions()).decode(answer, Scene(image=image, size=(6, 12), fit=fit))
    assert prediction.flags == ("resized", "wrong_aspect")
    assert np.array_equal(prediction.value, target) is right


def test_encoded_mask_comes_back_and_has_the_size_the_model_saw() -> None:
    target = np.kron(checkerboard(6, 8), np.ones((10, 10))).astype(bool)
    scene = Scene(image=Image(np.zeros((30, 40, 3), np.uint8)), size=(60, 80))
    answer = MaskEncoder(NoOptions()).encode(target, scene)
    assert answer.shape == (30, 40)
    prediction = NativeMask(NoOptions()).decode(answer, scene)
    assert np.array_equal(prediction.value, target)


@pytest.mark.parametrize("answer", [None, "garbage", np.ones((3, 3), bool)])
def test_failure_value_is_empty_whatever_the_answer(answer: object) -> None:
    value = EmptyMask(NoOptions()).decode(answer, scene_of(5, 7)).value
    assert (value.shape, value.dtype, value.any()) == ((5, 7), np.dtype(bool), False)


def test_nothing_to_find_and_nothing_found_scores_one() -> None:
    pairs = [
        (box(0, 0), box(0, 0)),  # pred, target
        (box(5, 5), box(0, 0)),
        (box(0, 0), box(5, 5)),
        (box(5, 4), box(5, 5)),
    ]
    parts = [METRIC.update(pred, target, None) for pred, target in pairs]
    per_image = [METRIC.compute(part)["iou"] for part in parts]
    assert per_image == pytest.approx([1.0, 0.0, 0.0, 0.8], abs=1e-6)
    assert np.mean(per_image) == pytest.approx(0.45, abs=1e-6)
    merged = parts[0]
    for part in parts[1:]:
        merged = METRIC.merge(merged, part)
    assert merged == {"n": 4, "intersection": 20, "union": 75}
    assert METRIC.compute(merged)["iou"] == pytest.approx(0.266667, abs=1e-6)


def test_values_are_giou_over_samples_and_ciou_over_pixels() -> None:
    assert [(v.name, v.of, v.aggregation, v.higher_is_better) for v in METRIC.values] == [
        ("giou", "iou", "mean", True),
        ("ciou", "iou", "pooled", True),
    ]


def test_iou_over_nothing_is_undefined() -> None:
    assert METRIC.compute({"n": 0, "intersection": 0, "union": 0}) == {"iou": None}


def test_unknown_pixels_count_for_neither() -> None:
    valid = np.ones((10, 10), bool)
    valid[:, 4:] = False
    assert METRIC.update(box(5, 8), box(5, 6), valid) == {"n": 1, "intersection": 20, "union": 20}


def test_truth_without_a_known_pixel_is_a_fault_of_the_data() -> None:
    with pytest.raises(NoValidTarget):
        METRIC.update(box(5, 5), box(5, 5), np.zeros((10, 10), bool))


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        METRIC.update(box(5, 5), box(5, 5, size=11), None)
    with pytest.raises(ValueError, match="differ in shape"):
        METRIC.update(box(5, 5), box(5, 5), np.ones((10, 11), bool))


def loop_iou(pred: Mask, target: Mask, valid: Mask) -> tuple[int, int]:
    """The definition, pixel by pixel."""
    intersection = union = 0
    for p, t, v in zip(pred.ravel(), target.ravel(), valid.ravel(), strict=True):
        if v:
            intersection += bool(p and t)
            union += bool(p or t)
    return intersection, union


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10_000), st.floats(0, 1), st.booleans())
def test_iou_agrees_with_its_definition(
    height: int, width: int, seed: int, density: float, sliced: bool
) -> None:
    rng = np.random.default_rng(seed)
    shape = (2 * height, 2 * width) if sliced else (height, width)
    pred, target, valid = (rng.random(shape) < p for p in (density, 0.5, 0.7))
    if sliced:  # views with strides
        pred, target, valid = (m[::2, ::2] for m in (pred, target, valid))
    valid[0, 0] = True
    statistics = METRIC.update(pred, target, valid)
    assert (statistics["intersection"], statistics["union"]) == loop_iou(pred, target, valid)
