"""Components, points, the failure value and the error: worked cases and independent counts."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import skimage.measure
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.counting.components import Components
from vgen_eval_plugins.counting.decoders import Points, ZeroCount
from vgen_eval_plugins.counting.encoders import ComponentsEncoder, PointsEncoder
from vgen_eval_plugins.counting.metrics import CountError
from vgen_eval_plugins.counting.targets import CountTarget

SCENE = Scene(image=Image(np.zeros((60, 80, 3), np.uint8)), size=(120, 160))
Options = Components.Options


def count(plane: NDArray[np.uint8], options: Components.Options) -> int:
    value = Components(options).decode(plane, SCENE).value
    assert isinstance(value, int)
    return value


def corner_squares() -> NDArray[np.uint8]:
    """Two squares that touch at a corner, and one apart."""
    plane = np.zeros((12, 12), np.uint8)
    plane[1:4, 1:4] = plane[4:7, 4:7] = plane[9:11, 9:11] = 255
    return plane


def test_connectivity_decides_whether_a_corner_joins() -> None:
    assert count(corner_squares(), Options(connectivity=4)) == 3
    assert count(corner_squares(), Options(connectivity=8)) == 2
    assert count(corner_squares(), Options()) == 2


def test_background_is_never_counted_and_specks_are_not() -> None:
    assert count(np.zeros((20, 20), np.uint8), Options()) == 0
    blobs = np.zeros((40, 40), np.uint8)
    blobs[5:11, 5:11] = blobs[5:11, 25:31] = blobs[25:31, 10:16] = 255
    blobs[2, 38] = blobs[35, 35] = 255
    prediction = Components(Options(min_area=4)).decode(blobs, SCENE)
    assert prediction.value == 3
    assert prediction.summary == {"count": 3, "specks": 2}
    assert prediction.flags == ()
    assert count(blobs, Options(min_area=1)) == 5


def test_white_picture_is_one_component_and_no_dots() -> None:
    prediction = Components(Options()).decode(np.full((20, 20), 255, np.uint8), SCENE)
    assert (prediction.value, prediction.flags) == (1, ("not_dots",))


def test_single_pixel_pictures() -> None:
    assert count(np.array([[255]], np.uint8), Options(min_area=1)) == 1
    assert count(np.array([[0]], np.uint8), Options(min_area=1)) == 0


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([4, 8]), st.integers(1, 6))
def test_components_agree_with_skimage(seed: int, connectivity: int, min_area: int) -> None:
    rng = np.random.default_rng(seed)
    plane = ((rng.random((31, 43)) < 0.4) * 255).astype(np.uint8)
    regions = skimage.measure.label(plane > 127, connectivity=1 if connectivity == 4 else 2)
    areas = np.bincount(regions.ravel())[1:]
    options = Options(connectivity=connectivity, min_area=min_area)  # type: ignore[arg-type]
    assert count(plane, options) == int((areas >= min_area).sum())
    assert count(np.repeat(plane[:, :, None], 3, axis=2), options) == count(plane, options)
    assert count(plane > 127, options) == count(plane, options)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 200), st.integers(200, 900), st.integers(200, 900), st.booleans())
def test_encoded_components_are_counted_exactly(
    number: int, height: int, width: int, known: bool
) -> None:
    scene = Scene(image=Image(np.zeros((height, width, 3), np.uint8)), size=(height, width))
    points = np.random.default_rng(number).uniform(0, 1, (number, 2)) * [width, height]
    target = CountTarget(number, points if known else None)
    answer = ComponentsEncoder(ComponentsEncoder.Options()).encode(target, scene)
    for connectivity in (4, 8):
        options = Options(connectivity=connectivity)  # type: ignore[arg-type]
        assert Components(options).decode(answer, scene).value == number


@pytest.mark.parametrize(
    "answer", [None, "3", np.zeros((4, 4), np.float32), np.zeros((0, 3), np.uint8)]
)
def test_what_is_no_dot_picture_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        Components(Options()).decode(answer, SCENE)


def test_points_in_the_picture_are_counted_edges_included() -> None:
    prediction = Points(NoOptions()).decode([[0, 0], [80, 60], [40.5, 30.2]], SCENE)
    assert (prediction.value, prediction.flags) == (3, ())


def test_points_outside_are_flagged_and_not_counted() -> None:
    prediction = Points(NoOptions()).decode(np.array([[10, 10], [81, 5], [5, -1]]), SCENE)
    assert (prediction.value, prediction.flags) == (1, ("points_outside",))
    assert prediction.summary == {"count": 1, "outside": 2}


@pytest.mark.parametrize("answer", [[], (), np.zeros((0, 2)), np.zeros((0,))])
def test_no_points_are_a_count_of_zero(answer: object) -> None:
    assert Points(NoOptions()).decode(answer, SCENE).value == 0


@pytest.mark.parametrize(
    "answer",
    [
        None, "1,2", b"12", 5, [1, 2], [[1, 2, 3]], [[1, 2], [3]], [["a", "b"]], [[[1, 2]]],
        [[1.0, math.nan]], [[math.inf, 1]], {"x": 1},
    ],
)  # fmt: skip
def test_what_are_no_points_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        Points(NoOptions()).decode(answer, SCENE)


@given(st.integers(0, 300), st.booleans())
def test_encoded_points_are_counted_exactly(number: int, known: bool) -> None:
    points = np.random.default_rng(number).uniform(0, 1, (number, 2)) * [160, 120]
    target = CountTarget(number, points if known else None)
    answer = PointsEncoder(NoOptions()).encode(target, SCENE)
    prediction = Points(NoOptions()).decode(answer, SCENE)
    assert (prediction.value, prediction.flags) == (number, ())


def test_encoded_points_are_in_pixels_of_what_the_model_saw() -> None:
    answer = PointsEncoder(NoOptions()).encode(CountTarget(1, np.array([[101.0, 21.0]])), SCENE)
    # half the size: pixel 101, from 100.5 to 101.5, lies around (101 + .5) / 2 - .5
    assert answer.tolist() == [[50.25, 10.25]]


@pytest.mark.parametrize("answer", [None, "garbage", np.ones((3, 3))])
def test_failure_value_ignores_the_answer(answer: object) -> None:
    assert ZeroCount(ZeroCount.Options()).decode(answer, SCENE).value == 0
    assert ZeroCount(ZeroCount.Options(count=7)).decode(answer, SCENE).value == 7


def test_target_refuses_a_count_that_its_points_deny() -> None:
    with pytest.raises(ValueError, match="2 points for a count of 3"):
        CountTarget(3, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="a count is 0 to"):
        CountTarget(-1)


def test_errors_of_a_worked_case() -> None:
    metric = CountError(NoOptions())
    pairs = [(3, 5), (5, 5), (10, 6), (6, 7)]  # errors -2, 0, 4, -1
    parts = [metric.update(pred, CountTarget(truth), None) for pred, truth in pairs]
    assert metric.compute(parts[0]) == {
        "mae": 2.0, "rmse": 2.0, "accuracy": 0.0, "within_one": 0.0,
    }  # fmt: skip
    merged = functools.reduce(metric.merge, parts)
    values = metric.compute(merged)
    assert values["mae"] == pytest.approx(7 / 4)
    assert values["rmse"] == pytest.approx(math.sqrt(21 / 4))
    assert values["accuracy"] == pytest.approx(1 / 4)
    assert values["within_one"] == pytest.approx(2 / 4)


def test_rmse_is_of_all_pictures_and_the_others_are_means_of_each() -> None:
    aggregations = {value.name: value.aggregation for value in CountError.values}
    assert aggregations == {
        "mae": "mean", "rmse": "pooled", "accuracy": "mean", "within_one": "mean",
    }  # fmt: skip


def test_errors_over_nothing_are_undefined() -> None:
    metric = CountError(NoOptions())
    empty = {"n": 0, "abs": 0, "sq": 0, "exact": 0, "near": 0}
    assert metric.compute(empty) == {
        "mae": None, "rmse": None, "accuracy": None, "within_one": None,
    }  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=30))
def test_errors_agree_with_scikit_learn_however_merged(pairs: list[tuple[int, int]]) -> None:
    metric = CountError(NoOptions())
    parts = [metric.update(pred, CountTarget(truth), None) for pred, truth in pairs]
    forward, backward = parts[0], parts[-1]
    for part in parts[1:]:
        forward = metric.merge(forward, part)
    for part in parts[-2::-1]:
        backward = metric.merge(part, backward)
    assert forward == backward
    pred, truth = np.array(pairs).T
    values = metric.compute(forward)
    assert values["mae"] == pytest.approx(sklearn.metrics.mean_absolute_error(truth, pred))
    assert values["rmse"] == pytest.approx(
        sklearn.metrics.root_mean_squared_error(truth, pred), abs=1e-9
    )
    assert values["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(truth, pred))
    near = np.isclose(truth, pred, rtol=0, atol=1)
    assert values["within_one"] == pytest.approx(near.mean())
