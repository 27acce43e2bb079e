"""Painted normal maps: what is encoded comes back, in every frame, and colours mean directions."""

from __future__ import annotations

from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from normals_kit import angles_between, dome, random_normals, scene_of
from numpy.typing import NDArray
from vgen_eval.cards import convert
from vgen_eval.errors import CardError, Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.normals.encoders import RgbNormalsEncoder
from vgen_eval_plugins.normals.frames import CONVENTIONS
from vgen_eval_plugins.normals.rgb_normals import RgbNormals

Options = RgbNormals.Options


def decode(answer: Any, scene: Scene, **options: Any) -> Prediction:
    return RgbNormals(Options(**options)).decode(answer, scene)


def encode(target: Any, scene: Scene, **options: Any) -> NDArray[np.uint8]:
    return RgbNormalsEncoder(Options(**options)).encode(target, scene)


def flat(colour: tuple[int, int, int], height: int = 6, width: int = 8) -> NDArray[np.uint8]:
    return np.full((height, width, 3), colour, np.uint8)


@pytest.mark.parametrize("frame", CONVENTIONS)
def test_encoded_normals_come_back_in_every_frame(frame: str) -> None:
    target, scene = dome(40, 60), scene_of(40, 60)
    prediction = decode(encode(target, scene, frame=frame), scene, frame=frame)
    assert prediction.value.dtype == np.float32
    assert angles_between(prediction.value, target).max() < 0.5
    assert prediction.flags == ()
    assert prediction.summary["frame"] == frame


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
def test_eight_bits_cost_a_fifth_of_a_degree_on_average(height: int, width: int, seed: int) -> None:
    target, scene = random_normals(height, width, seed=seed), scene_of(height, width)
    found = decode(encode(target, scene), scene).value
    assert angles_between(found, target).max() < 0.5
    assert np.linalg.norm(found, axis=2) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("size", [(60, 80), (240, 320), (90, 120), (77, 101), (480, 640)])
def test_smooth_normals_survive_a_change_of_size(size: tuple[int, int]) -> None:
    target = dome(240, 320)
    scene = scene_of(*size, original=(240, 320))
    answer = encode(target, scene)
    assert answer.shape == (*size, 3)
    found = decode(answer, scene).value
    assert found.shape == target.shape
    assert angles_between(found, target).mean() < 0.6


def test_bars_around_the_picture_are_neither_read_nor_smeared() -> None:
    target = dome(60, 120)
    image = Image(np.zeros((120, 120, 3), np.uint8))
    scene = Scene(image=image, size=(60, 120), box=(30, 0, 60, 120))
    answer = encode(target, scene)
    assert answer[0, 0].tolist() == [128, 128, 255]
    assert angles_between(decode(answer, scene).value, target).max() < 0.5


@pytest.mark.parametrize(
    ("colour", "frame", "expected"),
    [
        ((255, 128, 128), "opengl", (1, 0, 0)),
        ((0, 128, 128), "opengl", (-1, 0, 0)),
        ((128, 255, 128), "opengl", (0, 1, 0)),
        ((128, 0, 128), "opengl", (0, -1, 0)),
        ((128, 128, 255), "opengl", (0, 0, 1)),
        ((128, 128, 0), "opencv", (0, 0, 1)),
        ((128, 0, 128), "opencv", (0, 1, 0)),
        ((255, 128, 128), "dsine", (-1, 0, 0)),
        ((128, 255, 128), "dsine", (0, 1, 0)),
        ((128, 128, 255), "dsine", (0, 0, 1)),
        ((255, 128, 128), "down toward left", (0, -1, 0)),
    ],
)
def test_colours_are_directions(
    colour: tuple[int, int, int], frame: str, expected: tuple[int, int, int]
) -> None:
    found = decode(flat(colour), scene_of(6, 8), frame=frame).value
    assert angles_between(found[2, 3], np.array(expected)) < 0.5


@pytest.mark.parametrize("frame", CONVENTIONS)
def test_prompt_words_name_the_colours_that_are_read(frame: str) -> None:
    decoder, scene = RgbNormals(Options(frame=frame)), scene_of(6, 8)
    told = decoder.fields(scene)["normal_colours"]
    wanted = {
        "facing the camera": (0, 0, 1), "facing right": (1, 0, 0), "facing left": (-1, 0, 0),
        "facing up": (0, 1, 0), "facing down": (0, -1, 0),
    }  # fmt: skip
    seen = {}
    for part in told.replace("), ", ")\n").split("\n"):
        words, _, code = part.partition(" (")
        direction = next(key for key in wanted if words.startswith(key))
        levels = tuple(int(level) for level in code.rstrip(")").split(", "))
        seen[direction] = decoder.decode(flat(levels), scene).value[0, 0]  # type: ignore[arg-type]
    assert set(seen) == set(wanted)
    for direction, vector in seen.items():
        assert angles_between(vector, np.array(wanted[direction])) < 0.5


def test_prompt_words_of_the_default_frame() -> None:
    fields = RgbNormals(Options()).fields(scene_of(6, 8))
    assert fields["normal_colours"] == (
        "facing the camera light blue (128, 128, 255), facing right pinkish red (255, 128, 128), "
        "facing left teal (0, 128, 128), facing up light green (128, 255, 128), "
        "facing down purple (128, 0, 128)"
    )
    assert fields["normal_channels"].startswith(
        "R runs from 0 (facing left) to 255 (facing right), "
    )
    away = RgbNormals(Options(frame="right down away")).fields(scene_of(6, 8))
    assert away["normal_channels"].endswith(
        "B runs from 0 (facing toward the camera) to 255 (facing away from the camera)"
    )


def test_a_colour_without_direction_leaves_its_pixel_open() -> None:
    answer = encode(dome(20, 20), scene_of(20, 20))
    answer[3, 4] = (128, 128, 128)
    answer[5, 6] = (150, 110, 130)
    prediction = decode(answer, scene_of(20, 20))
    opened = np.isnan(prediction.value).all(axis=2)
    assert list(zip(*np.nonzero(opened), strict=True)) == [(3, 4), (5, 6)]
    assert prediction.summary["open_fraction"] == pytest.approx(2 / 400)
    kept = decode(answer, scene_of(20, 20), min_length=0.0).value
    assert np.isfinite(kept).all()
    assert np.linalg.norm(kept, axis=2) == pytest.approx(1, abs=1e-6)


def test_least_length_is_asked_of_the_exact_vector() -> None:
    # 2 v - 255 = 127 and 129 along red, 1 along the others: lengths .498 and .506
    shorter, longer = flat((191, 128, 128)), flat((192, 128, 128))
    assert np.isnan(decode(shorter, scene_of(6, 8)).value).all()
    assert np.isfinite(decode(longer, scene_of(6, 8)).value).all()


def test_flags_say_what_an_answer_is_not() -> None:
    scene = scene_of(30, 40)
    assert decode(encode(dome(30, 40), scene), scene).flags == ()
    assert decode(flat((128, 128, 255), 30, 40), scene).flags == ("constant",)
    grey = np.repeat(np.linspace(0, 255, 40).astype(np.uint8)[None, :, None], 3, axis=2)
    assert decode(np.repeat(grey, 30, axis=0), scene).flags == ("not_unit",)
    assert "copied_input" in decode(scene.image.array, scene).flags
    assert decode(encode(dome(40, 40), scene_of(40, 40)), scene).flags == ("wrong_aspect",)


def test_an_answer_that_faces_away_is_flagged_in_the_frame_that_is_read() -> None:
    scene = scene_of(30, 40)
    answer = encode(dome(30, 40), scene, frame="opencv")
    assert decode(answer, scene).flags == ("facing_away",)
    assert decode(answer, scene, frame="opencv").flags == ()
    half = encode(dome(30, 40), scene)
    half[:15, :, 2] = 0
    assert decode(half, scene).flags == ()  # over half, not half
    half[15, 0] = (128, 128, 0)
    assert decode(half, scene).flags == ("facing_away",)


def test_an_answer_of_another_shape_is_stretched_or_cut_as_the_card_says() -> None:
    target = dome(60, 120)
    canvas = np.zeros((120, 120, 3), np.uint8)
    canvas[30:90] = encode(target, scene_of(60, 120))
    cut = decode(canvas, scene_of(60, 120, fit="letterbox"))
    assert "wrong_aspect" in cut.flags
    assert cut.summary["fit"] == "letterbox"
    assert angles_between(cut.value, target).max() < 0.5
    stretched = decode(canvas, scene_of(60, 120))
    assert angles_between(stretched.value, target).mean() > 10


def test_pixels_without_truth_do_not_bleed_into_the_painted_map() -> None:
    target = np.tile(np.array([0, 0, 1], np.float32), (64, 64, 1))
    target[:, 32:] = np.nan
    scene = scene_of(32, 32, original=(64, 64))
    assert np.array_equal(encode(target, scene), flat((128, 128, 255), 32, 32))
    unknown = np.full((64, 64, 3), np.nan, np.float32)
    assert np.array_equal(encode(unknown, scene), flat((128, 128, 255), 32, 32))


def test_pixels_without_truth_take_the_nearest_known_normal() -> None:
    target = np.full((9, 9, 3), np.nan, np.float32)
    target[4, 0], target[4, 8] = (1, 0, 0), (0, 1, 0)
    answer = encode(target, scene_of(9, 9))
    assert answer[:, :4].reshape(-1, 3).tolist() == [[255, 128, 128]] * 36
    assert answer[:, 5:].reshape(-1, 3).tolist() == [[128, 255, 128]] * 36


def test_zero_vectors_of_a_truth_are_unknown_too() -> None:
    target = dome(10, 10)
    target[0] = 0
    assert np.array_equal(
        encode(target, scene_of(10, 10))[1:], encode(dome(10, 10), scene_of(10, 10))[1:]
    )


@pytest.mark.parametrize(
    "answer", [None, "map", np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3))]
)
def test_what_is_no_rgb_picture_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        decode(answer, scene_of(4, 4))


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (3, 100_000)])
def test_pictures_of_odd_sizes(shape: tuple[int, int]) -> None:
    answer = cv2.merge([np.full(shape, level, np.uint8) for level in (128, 128, 255)])
    found = RgbNormals(Options()).decode(answer, scene_of(*shape)).value
    assert found.shape == (*shape, 3)
    assert angles_between(found, np.array([0.0, 0.0, 1.0])).max() < 0.5


def test_a_frame_that_is_none_is_told_with_its_place() -> None:
    with pytest.raises(CardError, match="right up toward"):
        convert(Options, {"frame": "right up towards"}, file="card.yaml")
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"min_length": 2}, Options)
