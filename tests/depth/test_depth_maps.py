"""Depth given as arrays: what is open stays open, sizes, scales, spaces, the failure value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget, Undecodable
from vgen_eval.imaging import Image, resize
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.depth.encoders import DepthMapEncoder
from vgen_eval_plugins.depth.maps import fill_unknown, resize_map
from vgen_eval_plugins.depth.native_map import ConstantDepth, DepthMapOptions, NativeDepth


def scene_of(height: int, width: int, size: tuple[int, int] | None = None) -> Scene:
    picture = np.zeros((height, width, 3), np.uint8)
    return Scene(image=Image(picture), size=size or (height, width))


def decode(answer: Any, scene: Scene, **options: Any) -> Prediction:
    return NativeDepth(DepthMapOptions(**options)).decode(answer, scene)


def metres(height: int = 5, width: int = 7, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(0.5, 9, (height, width)).astype(np.float32)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.uint16, np.int32])
def test_arrays_of_every_type_read_alike(kind: Any) -> None:
    answer = np.arange(1, 36).reshape(5, 7).astype(kind)
    for shaped in (answer, answer[:, :, None]):
        prediction = decode(shaped, scene_of(5, 7))
        assert prediction.value.values.dtype == np.float32
        assert np.array_equal(prediction.value.values, np.arange(1, 36).reshape(5, 7))
        assert (prediction.flags, prediction.value.space) == ((), "depth")
    assert (prediction.summary["low"], prediction.summary["high"]) == (1.0, 35.0)


@pytest.mark.parametrize(
    "answer",
    [
        None, "depth", [[1.0]], np.ones((4, 4, 3)), np.ones(4), np.ones((0, 4)),
        np.ones((4, 4), bool), np.ones((4, 4), complex), np.array([["a"]]),
    ],
)  # fmt: skip
def test_what_is_no_depth_map_is_undecodable(answer: Any) -> None:
    with pytest.raises(Undecodable):
        decode(answer, scene_of(4, 4))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0, -2.0, 1e300])
def test_pixels_without_depth_are_open_and_a_map_of_them_is_undecodable(bad: float) -> None:
    answer = metres().astype(np.float64)
    answer[2, 3] = bad
    value = decode(answer, scene_of(5, 7)).value.values
    assert np.argwhere(np.isnan(value)).tolist() == [[2, 3]]
    with pytest.raises(Undecodable, match="every pixel open"):
        decode(np.full((5, 7), bad), scene_of(5, 7))


def test_disparity_may_pass_zero() -> None:
    prediction = decode(np.array([[1.0, 0.0, -0.02, np.nan]]), scene_of(1, 4), space="disparity")
    assert prediction.value.space == "disparity"
    assert prediction.value.values[0, :3].tolist() == pytest.approx([1.0, 0.0, -0.02])
    assert prediction.summary["open_fraction"] == 0.25


def test_numbers_are_scaled_and_markers_are_open() -> None:
    answer = np.array([[0, 2000, 65535, 2200]], np.uint16)
    value = decode(answer, scene_of(1, 4), scale=0.001, invalid=(65535,)).value.values
    assert value[0, [1, 3]].tolist() == pytest.approx([2.0, 2.2])
    assert np.isnan(value[0, [0, 2]]).all()


def test_other_sizes_are_bilinear_and_said() -> None:
    answer = metres(6, 9)
    prediction = decode(answer, scene_of(12, 18))
    assert prediction.flags == ("resized",)
    assert np.array_equal(prediction.value.values, resize(answer, height=12, width=18, kind="map"))
    assert decode(metres(9, 9), scene_of(12, 18)).flags == ("resized", "wrong_aspect")
    assert decode(np.full((12, 18), 3.0), scene_of(12, 18)).flags == ("constant",)


def test_open_pixels_do_not_spread_when_the_map_is_resized() -> None:
    answer = np.full((6, 6), 2.0, np.float32)
    answer[:, 3:] = 4.0
    answer[2, 2] = np.nan
    value = decode(answer, scene_of(6, 6, (24, 24))).value.values
    assert np.argwhere(np.isnan(value)).tolist() == [
        [r, c] for r in range(8, 12) for c in range(8, 12)
    ]
    known = value[np.isfinite(value)]
    assert (known.min(), known.max()) == (2.0, 4.0)
    assert ((known > 2.1) & (known < 3.9)).any()  # bilinear elsewhere


@given(
    st.integers(1, 20),
    st.integers(1, 20),
    st.integers(1, 40),
    st.integers(1, 40),
    st.integers(0, 99),
)
def test_resized_maps_stay_within_their_numbers(
    height: int, width: int, rows: int, columns: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    answer = rng.uniform(1, 9, (height, width)).astype(np.float32)
    answer[rng.random((height, width)) < 0.3] = np.nan
    value = resize_map(answer, (rows, columns))
    assert value.shape == (rows, columns)
    nearest = resize(answer, height=rows, width=columns, kind="labels")
    assert np.isfinite(value[np.isfinite(nearest)]).all()
    known = answer[np.isfinite(answer)]
    found = value[np.isfinite(value)]
    if found.size:
        assert known.min() - 1e-5 <= found.min() <= found.max() <= known.max() + 1e-5


@given(
    st.integers(1, 20), st.integers(1, 20), st.integers(0, 99),
    st.sampled_from(["depth", "disparity"]), st.sampled_from([1.0, 0.001, 2.5]),
)  # fmt: skip
def test_encoded_depth_comes_back(
    height: int, width: int, seed: int, space: Any, scale: float
) -> None:
    target, scene = metres(height, width, seed), scene_of(height, width)
    options = DepthMapOptions(space=space, scale=scale)
    value = NativeDepth(options).decode(DepthMapEncoder(options).encode(target, scene), scene).value
    assert value.space == space
    assert value.values == pytest.approx(target if space == "depth" else 1 / target, rel=1e-6)


@pytest.mark.parametrize("space", ["depth", "disparity"])
def test_encoded_depth_comes_back_through_another_size(space: Any) -> None:
    rows, columns = np.mgrid[:80, :120]
    target = (2 + 0.01 * rows + 0.005 * columns).astype(np.float32)
    scene = scene_of(40, 60, (80, 120))
    options = DepthMapOptions(space=space)
    answer = DepthMapEncoder(options).encode(target, scene)
    assert answer.shape == (40, 60)
    value = NativeDepth(options).decode(answer, scene).value.values
    wanted = target if space == "depth" else 1 / target
    assert value == pytest.approx(wanted, rel=0.01)


def test_ideal_map_has_no_holes_and_bars_are_open() -> None:
    target = np.array([[1.0, np.nan], [np.nan, np.nan]], np.float32)
    scene = Scene(image=Image(np.zeros((4, 2, 3), np.uint8)), size=(2, 2), box=(1, 0, 2, 2))
    answer = DepthMapEncoder(DepthMapOptions()).encode(target, scene)
    assert np.isnan(answer[[0, 3]]).all()
    assert answer[1:3].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert decode(answer, scene).value.values.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_target_without_a_known_pixel_cannot_be_encoded() -> None:
    with pytest.raises(NoValidTarget, match="no pixel"):
        DepthMapEncoder(DepthMapOptions()).encode(np.zeros((3, 4), np.float32), scene_of(3, 4))


def test_unknown_pixels_take_the_nearest_known_number() -> None:
    values = np.array([[5.0, np.nan, np.nan, np.nan, 7.0]], np.float32)
    filled = fill_unknown(values, np.isfinite(values))
    assert filled[0, [0, 1, 3, 4]].tolist() == [5.0, 5.0, 7.0, 7.0]
    assert filled[0, 2] in (5.0, 7.0)
    rng = np.random.default_rng(0)
    sparse = np.full((30, 40), np.nan, np.float32)
    at = rng.integers(0, [30, 40], (12, 2))
    sparse[tuple(at.T)] = np.arange(12)
    known = np.isfinite(sparse)
    filled = fill_unknown(sparse, known)
    assert np.array_equal(filled[known], sparse[known])
    places = np.argwhere(known)
    for row, column in np.argwhere(~known):
        distance = np.hypot(*(places - [row, column]).T)
        source = places[sparse[tuple(places.T)] == filled[row, column]][0]
        assert np.hypot(*(source - [row, column])) <= 1.05 * distance.min() + 1e-6


@pytest.mark.parametrize("answer", [None, "garbage", np.ones((3, 3))])
def test_failure_value_is_flat_whatever_the_answer(answer: Any) -> None:
    relative = ConstantDepth(ConstantDepth.Options()).decode(answer, scene_of(5, 7)).value
    assert (relative.space, np.unique(relative.values).tolist()) == ("relative", [0.5])
    metric = ConstantDepth(ConstantDepth.Options(depth_m=4)).decode(answer, scene_of(5, 7)).value
    assert (metric.space, np.unique(metric.values).tolist()) == ("depth", [4.0])
    assert metric.values.shape == (5, 7)
