"""Normal maps given as arrays: any length, either layout, open pixels that do not smear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from normals_kit import angles_between, dome, random_normals, scene_of
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene
from vgen_eval_plugins.normals.encoders import NormalMapEncoder
from vgen_eval_plugins.normals.frames import CONVENTIONS, from_house
from vgen_eval_plugins.normals.native_map import FacingNormals, NormalMap
from vgen_eval_plugins.normals.vectors import normalise

Options = NormalMap.Options


def decode(answer: Any, scene: Scene, **options: Any) -> Prediction:
    return NormalMap(Options(**options)).decode(answer, scene)


@pytest.mark.parametrize("frame", CONVENTIONS)
def test_encoded_normals_come_back_in_every_frame(frame: str) -> None:
    target, scene = random_normals(9, 11), scene_of(9, 11)
    answer = NormalMapEncoder(Options(frame=frame)).encode(target, scene)
    assert answer.dtype == np.float32
    assert answer == pytest.approx(from_house(target, frame), abs=1e-6)
    prediction = decode(answer, scene, frame=frame)
    assert prediction.flags == ()
    assert angles_between(prediction.value, target).max() < 1e-4


@pytest.mark.parametrize("scale", [1, 0.01, 1e-6, 1e30, 1e200])
def test_the_length_of_a_vector_says_nothing(scale: float) -> None:
    target = random_normals(6, 8)
    scaled = target.astype(np.float64) * scale
    found = decode(scaled, scene_of(6, 8)).value
    assert angles_between(found, target).max() < 1e-4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_maps_are_normalised_as_in_double_precision(dtype: type[Any]) -> None:
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(180, 401, 3)) * 10 ** rng.uniform(-7, 7, (180, 401, 1))).astype(
        dtype
    )
    vectors[rng.random((180, 401)) < 0.1] = 0
    vectors[rng.random((180, 401)) < 0.1, 1] = np.nan
    vectors[170, 5] = np.inf
    if dtype is np.float64:
        vectors[3, 4] = (3e200, 0, 4e200)  # its square is no number
    exact = vectors.astype(np.longdouble)
    length = np.sqrt((exact * exact).sum(axis=2, keepdims=True))
    with np.errstate(invalid="ignore"):
        wanted = np.where((length >= 1e-8) & np.isfinite(length), exact / length, np.nan)
    found = normalise(vectors)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.nanmax(np.abs(found - wanted)) < 6e-8


def test_channels_may_come_first() -> None:
    target = random_normals(6, 8)
    found = decode(np.moveaxis(target, 2, 0), scene_of(6, 8)).value
    assert angles_between(found, target).max() < 1e-4
    square = random_normals(3, 5)  # (3, 5, 3): the last axis is the vector's
    assert angles_between(decode(square, scene_of(3, 5)).value, square).max() < 1e-4


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64])
def test_signed_numbers_of_every_type_are_read(dtype: type[Any]) -> None:
    answer = np.zeros((4, 5, 3), dtype)
    answer[..., 1] = 1
    assert decode(answer, scene_of(4, 5)).value[0, 0].tolist() == [0, 1, 0]


def test_vectors_without_direction_are_left_open() -> None:
    answer = random_normals(4, 6).astype(np.float64)
    answer[0, 0] = 0
    answer[0, 1] = (1e-9, 0, 0)
    answer[0, 2] = (np.nan, 0, 1)
    answer[0, 3] = (0, np.inf, 1)
    prediction = decode(answer, scene_of(4, 6))
    opened = np.isnan(prediction.value)
    assert opened[0, :4].all()
    assert opened.sum() == 12
    assert prediction.summary["open_fraction"] == pytest.approx(4 / 24, abs=1e-6)


def test_open_pixels_do_not_bend_their_neighbours_when_a_map_is_enlarged() -> None:
    answer = np.tile(np.array([0.6, 0.0, 0.8]), (20, 20, 1))
    answer[:, 10:] = 0
    prediction = decode(answer, scene_of(40, 40))
    known = np.isfinite(prediction.value[..., 0])
    assert known[:, :20].all()
    assert not known[:, 20:].any()
    assert angles_between(prediction.value[known], np.array([0.6, 0.0, 0.8])).max() < 1e-4
    assert prediction.flags == ("resized", "constant")


def test_long_vectors_weigh_no_more_than_short_ones_when_a_map_shrinks() -> None:
    answer = np.tile(np.array([1.0, 0.0, 0.0]), (4, 4, 1))
    answer[:, 1::2] = (0, 0, 1000)
    found = decode(answer, scene_of(2, 2)).value
    assert angles_between(found, np.array([1.0, 0.0, 1.0])).mean() < 20


@pytest.mark.parametrize("size", [(60, 80), (480, 640), (100, 133)])
def test_smooth_normals_survive_a_change_of_size(size: tuple[int, int]) -> None:
    target = dome(240, 320)
    scene = scene_of(*size, original=(240, 320))
    answer = NormalMapEncoder(Options()).encode(target, scene)
    assert answer.shape == (*size, 3)
    assert np.linalg.norm(answer, axis=2) == pytest.approx(1, abs=1e-6)
    assert angles_between(decode(answer, scene).value, target).mean() < 0.2


def test_an_answer_that_faces_away_is_flagged_in_the_frame_that_is_read() -> None:
    scene = scene_of(20, 30)
    answer = NormalMapEncoder(Options(frame="opencv")).encode(dome(20, 30), scene)
    answer[:12] = 0  # open pixels count for neither side
    assert decode(answer, scene).flags == ("facing_away",)
    assert decode(answer, scene, frame="opencv").flags == ()


def test_opposite_normals_that_meet_in_one_pixel_have_no_mean() -> None:
    answer = np.tile(np.array([1.0, 0.0, 0.0]), (2, 2, 1))
    answer[:, 1] = (-1, 0, 0)
    assert np.isnan(decode(answer, scene_of(1, 1)).value).all()


def test_another_shape_is_flagged() -> None:
    assert "wrong_aspect" in decode(dome(20, 20), scene_of(20, 40)).flags


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "map",
        [[[0, 0, 1]]],
        np.zeros((4, 4), np.float32),
        np.ones((4, 4, 2), np.float32),
        np.ones((4, 3, 4), np.float32),
        np.zeros((0, 4, 3), np.float32),
        np.full((4, 4, 3), 128, np.uint8),
        np.ones((4, 4, 3), bool),
        np.ones((4, 4, 3), np.complex64),
        np.zeros((4, 4, 3), np.float32),
        np.full((4, 4, 3), np.nan),
    ],
)
def test_what_is_no_normal_map_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        decode(answer, scene_of(4, 4))


def test_prompt_words_name_the_axes() -> None:
    scene = scene_of(4, 4)
    assert NormalMap(Options()).fields(scene)["normal_axes"] == (
        "x right, y up, z toward the camera"
    )
    assert NormalMap(Options(frame="opencv")).fields(scene)["normal_axes"] == (
        "x right, y down, z away from the camera"
    )


@pytest.mark.parametrize("answer", [None, "garbage", np.ones((3, 3, 3))])
def test_failure_value_faces_the_camera_whatever_the_answer(answer: object) -> None:
    value = FacingNormals(NoOptions()).decode(answer, scene_of(5, 7)).value
    assert (value.shape, value.dtype) == ((5, 7, 3), np.dtype(np.float32))
    assert (value == [0, 0, 1]).all()
