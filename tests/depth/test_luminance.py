"""Grey depth pictures: read by brightness, and what is no grey picture is said to be none."""

from __future__ import annotations

import io
from typing import Any

import cv2
import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget, Undecodable
from vgen_eval.imaging import Image, decode_image, resize
from vgen_eval.types import NoOptions, Prediction, Scene
from vgen_eval_plugins.depth.encoders import LuminanceDepthEncoder, LuminanceDisparityEncoder
from vgen_eval_plugins.depth.luminance import Luminance, coloured_fraction, to_luminance

RGB = NDArray[np.uint8]


def photo(height: int, width: int) -> RGB:
    coarse = np.random.default_rng(7).integers(40, 216, (6, 6, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR))


def scene_of(height: int, width: int, **more: Any) -> Scene:
    return Scene(image=Image(photo(height, width)), size=(height, width), **more)


def decode(answer: Any, scene: Scene, weights: Any = "bt709") -> Prediction:
    return Luminance(Luminance.Options(weights=weights)).decode(answer, scene)


def grey(plane: NDArray[Any]) -> RGB:
    return np.repeat(plane.astype(np.uint8)[:, :, None], 3, axis=2)


def ramp(height: int, width: int) -> NDArray[np.float64]:
    return np.broadcast_to(np.linspace(0, 255, width), (height, width))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("bt709", (0.2126 * 200 + 0.7152 * 100 + 0.0722 * 50) / 255),
        ("bt601", (0.299 * 200 + 0.587 * 100 + 0.114 * 50) / 255),
        ("mean", 350 / 3 / 255),
        ("max", 200 / 255),
    ],
)
def test_weights(weights: str, expected: float) -> None:
    picture = np.full((300, 200, 3), (200, 100, 50), np.uint8)
    value = to_luminance(picture, weights)
    assert (value.dtype.name, value.shape) == ("float32", (300, 200))
    assert value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("weights", ["bt709", "bt601", "mean", "max"])
def test_grey_reads_as_its_level(weights: str) -> None:
    levels = np.arange(256).reshape(16, 16)
    prediction = decode(grey(levels), scene_of(16, 16), weights)
    assert prediction.value.space == "relative"
    assert prediction.value.values == pytest.approx(levels / 255, abs=1e-6)
    assert prediction.flags == ()
    assert (prediction.summary["low"], prediction.summary["high"]) == (0.0, 1.0)


def test_the_8_bit_picture_is_resized_before_its_luminance_is_taken() -> None:
    small = np.random.default_rng(0).integers(0, 256, (12, 18, 3), dtype=np.uint8)
    scene = Scene(image=Image(photo(12, 18)), size=(40, 60))
    wanted = to_luminance(resize(small, height=40, width=60, kind="map"), "bt709")
    assert np.array_equal(decode(small, scene).value.values, wanted)


@pytest.mark.parametrize("answer", [None, "depth", np.zeros((4, 4)), np.zeros((0, 4, 3), np.uint8)])
def test_what_is_no_picture_is_undecodable(answer: Any) -> None:
    with pytest.raises(Undecodable):
        decode(answer, scene_of(4, 4))


@pytest.mark.parametrize(("spread", "constant"), [(0, True), (2, True), (3, False)])
def test_flat_picture_is_constant(spread: int, constant: bool) -> None:
    answer = np.full((30, 40), 128)
    answer[5:9] += spread
    assert ("constant" in decode(grey(answer), scene_of(30, 40)).flags) == constant


def test_colours_of_one_brightness_are_not_constant() -> None:
    answer = np.full((30, 40, 3), (117, 117, 117), np.uint8)
    answer[:, 20:] = (255, 88, 0)
    assert np.ptp(to_luminance(answer, "bt709")) * 255 < 2
    assert decode(answer, scene_of(30, 40)).flags == ("colour_in_gray",)


def test_copied_input_is_said() -> None:
    scene = scene_of(60, 80)
    noise = np.random.default_rng(0).integers(-2, 3, (60, 80, 3))
    answer = np.clip(scene.image.array + noise, 0, 255).astype(np.uint8)
    assert "copied_input" in decode(answer, scene).flags


def test_another_shape_is_said_and_stretched() -> None:
    prediction = decode(grey(ramp(64, 64)), scene_of(48, 96))
    assert prediction.flags == ("wrong_aspect",)
    assert prediction.value.values.shape == (48, 96)
    assert prediction.value.values[0, -1] > 0.99


def test_bars_of_a_letterboxed_answer_are_cut_off() -> None:
    answer = np.zeros((100, 100), np.uint8)
    answer[25:75] = 200
    prediction = decode(grey(answer), scene_of(50, 100, fit="letterbox"))
    assert prediction.value.values == pytest.approx(200 / 255, abs=1e-6)
    assert prediction.flags == ("wrong_aspect", "constant")


@pytest.mark.parametrize("colormap", ["JET", "TURBO", "RAINBOW", "VIRIDIS", "PLASMA", "INFERNO"])
def test_colour_maps_are_no_grey(colormap: str) -> None:
    table = getattr(cv2, f"COLORMAP_{colormap}")
    answer = cv2.applyColorMap(ramp(60, 80).astype(np.uint8), table)[:, :, ::-1]
    assert "colour_in_gray" in decode(answer, scene_of(60, 80)).flags


def test_grey_saved_as_jpeg_and_noisy_grey_are_grey() -> None:
    plane = ramp(120, 160) * np.linspace(0.3, 1, 120)[:, None]
    noise = np.random.default_rng(0).normal(0, 8, (120, 160, 3))
    noisy = np.clip(grey(plane) + noise, 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    PIL.Image.fromarray(noisy).save(buffer, "JPEG", quality=95)
    for answer in (noisy, decode_image(buffer.getvalue(), what="depth.jpg")):
        assert not np.array_equal(answer[..., 0], answer[..., 1])
        assert decode(answer, scene_of(120, 160)).flags == ()


def test_slight_tint_is_grey_and_little_colour_is_too() -> None:
    tinted = (grey(ramp(60, 80)) * np.array([1.0, 0.94, 0.84])).astype(np.uint8)
    assert decode(tinted, scene_of(60, 80)).flags == ()
    spotted = grey(ramp(60, 80))
    spotted[:5] = (255, 0, 0)  # a twelfth of the picture
    prediction = decode(spotted, scene_of(60, 80))
    assert prediction.flags == ()
    assert prediction.summary["coloured_fraction"] == pytest.approx(5 / 60, abs=1e-4)


def test_colours_are_counted_on_large_pictures_too() -> None:
    answer = np.zeros((1200, 900, 3), np.uint8)
    answer[:, :450] = (255, 0, 0)
    assert coloured_fraction(answer) == pytest.approx(0.5)


@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 99), st.booleans())
def test_encoded_depth_comes_back_up_to_scale_and_shift(
    height: int, width: int, seed: int, inverse: bool
) -> None:
    target = np.random.default_rng(seed).uniform(0.5, 9, (height, width)).astype(np.float32)
    encoder = LuminanceDisparityEncoder if inverse else LuminanceDepthEncoder
    scene = scene_of(height, width)
    answer = encoder(NoOptions()).encode(target, scene)
    assert (answer.dtype.name, answer.min(), answer.max()) == ("uint8", 0, 255)
    assert answer[np.unravel_index(target.argmin(), target.shape)][0] == 255  # near is bright
    linear = 1 / target if inverse else -target
    wanted = (linear - linear.min()) / np.ptp(linear)
    value = decode(answer, scene).value.values
    assert np.abs(value - wanted).max() <= 0.5 / 255 + 1e-5


@pytest.mark.parametrize("encoder", [LuminanceDepthEncoder, LuminanceDisparityEncoder])
def test_equally_far_everywhere_is_a_flat_grey(encoder: Any) -> None:
    answer = encoder(NoOptions()).encode(np.full((5, 6), 3.0, np.float32), scene_of(5, 6))
    assert np.unique(answer).tolist() == [128]


@pytest.mark.parametrize("encoder", [LuminanceDepthEncoder, LuminanceDisparityEncoder])
def test_target_without_a_known_pixel_cannot_be_encoded(encoder: Any) -> None:
    with pytest.raises(NoValidTarget, match="no pixel"):
        encoder(NoOptions()).encode(np.full((5, 6), np.nan, np.float32), scene_of(5, 6))


def test_unknown_pixels_do_not_darken_their_neighbours() -> None:
    target = np.full((40, 60), 2.0, np.float32)
    target[:, 30:] = 4.0
    target[:, 26:34] = np.nan
    scene = Scene(image=Image(photo(20, 30)), size=(40, 60))
    answer = LuminanceDepthEncoder(NoOptions()).encode(target, scene)
    assert answer.shape == (20, 30, 3)
    assert np.unique(answer[:, :14]).tolist() == [255]
    assert np.unique(answer[:, 16:]).tolist() == [0]


def test_bars_of_the_input_are_left_and_cut_again() -> None:
    target = np.linspace(1, 3, 40 * 60, dtype=np.float32).reshape(40, 60)
    scene = Scene(image=Image(photo(60, 60)), size=(40, 60), box=(10, 0, 40, 60))
    answer = LuminanceDepthEncoder(NoOptions()).encode(target, scene)
    assert answer.shape == (60, 60, 3)
    assert not answer[:10].any()
    value = decode(answer, scene).value.values
    assert np.abs(value - (3 - target) / 2).max() <= 0.5 / 255 + 1e-5
