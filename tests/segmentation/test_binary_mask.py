"""Painted masks: any bright target on dark is read, and what is no mask is said to be none."""

from __future__ import annotations

import io
from typing import Literal

import cv2
import numpy as np
import PIL.Image
import pytest
import skimage.filters
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image, decode_image
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.segmentation.binary_mask import BinaryMask, far_fraction, to_grey
from vgen_eval_plugins.segmentation.encoders import BinaryMaskEncoder

RGB = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Options = BinaryMask.Options


def photo(height: int, width: int) -> RGB:
    coarse = np.random.default_rng(7).integers(40, 216, (6, 6, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR))


def scene_of(height: int, width: int, *, fit: Literal["stretch", "letterbox"] = "stretch") -> Scene:
    return Scene(image=Image(photo(height, width)), size=(height, width), fit=fit)


def decode(answer: RGB, scene: Scene, **options: object) -> Prediction:
    return BinaryMask(Options(**options)).decode(answer, scene)  # type: ignore[arg-type]


def iou(a: Mask, b: Mask) -> float:
    return float((a & b).sum() / (a | b).sum())


def disc(height: int, width: int, radius: int) -> Mask:
    yy, xx = np.mgrid[:height, :width]
    return np.asarray((yy - height // 2) ** 2 + (xx - width // 2) ** 2 <= radius**2)


def painted(mask: Mask, colour: tuple[int, int, int]) -> RGB:
    answer = np.zeros((*mask.shape, 3), np.uint8)
    answer[mask] = colour
    return answer


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 90),
    st.integers(2, 90),
    st.floats(0.1, 0.9),
    st.integers(0, 99),
    st.sampled_from(["bt601", "bt709", "mean", "max"]),
)
def test_encoded_masks_come_back_exactly(
    height: int, width: int, density: float, seed: int, gray: str
) -> None:
    target = np.random.default_rng(seed).random((height, width)) < density
    scene = scene_of(height, width)
    answer = BinaryMaskEncoder(BinaryMask.Options()).encode(target, scene)
    for method in ("otsu", "fixed"):
        value = decode(answer, scene, method=method, gray=gray).value
        assert value.dtype == bool
        assert np.array_equal(value, target)


@pytest.mark.parametrize(
    "colour", [(255, 255, 255), (0, 0, 255), (255, 0, 0), (0, 255, 0), (0, 0, 40), (90, 90, 90)]
)
@pytest.mark.parametrize("gray", ["bt601", "bt709", "mean", "max"])
def test_mask_in_one_colour_on_black_scores_one(colour: tuple[int, int, int], gray: str) -> None:
    target = disc(61, 83, 20)
    value = decode(painted(target, colour), scene_of(61, 83), gray=gray).value
    assert np.array_equal(value, target)


def test_mask_at_half_the_size_is_brought_to_the_originals() -> None:
    target = np.zeros((80, 120), bool)
    target[20:60, 40:100] = True
    scene = Scene(image=Image(photo(40, 60)), size=(80, 120))
    answer = BinaryMaskEncoder(BinaryMask.Options()).encode(target, scene)
    assert answer.shape == (40, 60, 3)
    prediction = decode(answer, scene)
    assert prediction.flags == ()
    assert np.array_equal(prediction.value, target)


@pytest.mark.parametrize(
    ("level", "expected"), [(0, False), (1, False), (127, False), (128, True), (255, True)]
)
@pytest.mark.parametrize("method", ["otsu", "fixed"])
def test_flat_picture_is_all_or_nothing_by_its_mean(
    level: int, expected: bool, method: str
) -> None:
    prediction = decode(np.full((30, 40, 3), level, np.uint8), scene_of(30, 40), method=method)
    assert prediction.value.all() == expected
    assert prediction.value.any() == expected
    assert "constant" in prediction.flags
    assert prediction.summary["threshold"] is None
    assert prediction.summary["area_fraction"] == float(expected)


def test_noise_on_black_finds_nothing() -> None:
    noise = np.random.default_rng(0).integers(0, 7, (200, 300, 3), dtype=np.uint8)
    prediction = decode(noise, scene_of(200, 300))
    assert not prediction.value.any()
    assert "constant" in prediction.flags


def test_target_of_a_hundred_pixels_on_noisy_black_is_found_exactly() -> None:
    answer = np.random.default_rng(0).integers(0, 4, (512, 512, 3), dtype=np.uint8)
    target = np.zeros((512, 512), bool)
    target[200:210, 300:310] = True
    answer[target] = 255
    prediction = decode(answer, scene_of(512, 512))
    assert np.array_equal(prediction.value, target)
    assert prediction.flags == ()


@pytest.mark.parametrize("spread", [31, 32])
def test_guard_begins_under_its_range(spread: int) -> None:
    answer = np.zeros((20, 20, 3), np.uint8)
    answer[:5, :, 2] = spread  # blue: luma spans 4 levels only
    prediction = decode(answer, scene_of(20, 20))
    assert ("constant" in prediction.flags) == (spread == 31)
    assert prediction.value.sum() == (0 if spread == 31 else 100)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (3, 5)])
def test_tiny_pictures(shape: tuple[int, int]) -> None:
    target = np.zeros(shape, bool)
    target[-1, -1] = True
    scene = scene_of(*shape)
    prediction = decode(painted(target, (255, 255, 255)), scene)
    assert np.array_equal(prediction.value, target)


def test_threshold_is_otsus() -> None:
    rng = np.random.default_rng(3)
    answer = np.repeat(
        np.clip(
            np.where(disc(90, 90, 25), rng.normal(190, 20, (90, 90)), rng.normal(60, 25, (90, 90))),
            0,
            255,
        ).astype(np.uint8)[:, :, None],
        3,
        axis=2,
    )
    prediction = decode(answer, scene_of(90, 90))
    assert prediction.summary["threshold"] == skimage.filters.threshold_otsu(answer[:, :, 0])
    assert np.array_equal(prediction.value, answer[:, :, 0] > prediction.summary["threshold"])


def test_mask_saved_as_jpeg_survives_a_fixed_threshold() -> None:
    target = disc(120, 120, 35)
    buffer = io.BytesIO()
    PIL.Image.fromarray(painted(target, (255, 255, 255))).save(buffer, "JPEG", quality=60)
    answer = decode_image(buffer.getvalue(), what="mask.jpg")
    assert len(np.unique(answer)) > 20  # compression left in-between values
    assert iou(decode(answer, scene_of(120, 120), method="fixed").value, target) >= 0.99
    assert iou(decode(answer, scene_of(120, 120)).value, target) >= 0.99


def test_translucent_tint_over_the_photo_is_no_mask() -> None:
    picture = photo(60, 60)
    tinted = picture.copy()
    region = tinted[20:45, 10:40].astype(np.float64)
    tinted[20:45, 10:40] = (0.5 * region + 0.5 * np.array([255, 0, 0])).astype(np.uint8)
    prediction = decode(tinted, Scene(image=Image(picture), size=(60, 60)))
    assert "not_a_mask" in prediction.flags
    assert prediction.summary["far_fraction"] == pytest.approx(1.0, abs=0.02)
    assert prediction.value.shape == (60, 60)


def test_returned_photo_is_a_copy() -> None:
    scene = scene_of(60, 80)
    assert {"copied_input", "not_a_mask"} <= set(decode(scene.image.array, scene).flags)
    larger = cv2.resize(scene.image.array, (160, 120))
    assert "copied_input" in decode(larger, scene).flags


def letterboxed() -> tuple[RGB, Mask]:
    """A square canvas with bars above and below a 160x90 mask."""
    target = np.zeros((90, 160), bool)
    target[20:70, 50:120] = True
    answer = np.zeros((160, 160, 3), np.uint8)
    answer[35:125][target] = 255
    return answer, target


def test_another_shape_is_flagged_and_stretched_or_cut_as_the_card_says() -> None:
    answer, target = letterboxed()
    stretched = decode(answer, scene_of(90, 160))
    assert "wrong_aspect" in stretched.flags
    assert iou(stretched.value, target) == pytest.approx(0.558961, abs=0.01)
    cut = decode(answer, scene_of(90, 160, fit="letterbox"))
    assert "wrong_aspect" in cut.flags
    assert np.array_equal(cut.value, target)


def test_bars_of_the_input_are_cut_off_the_answer() -> None:
    answer, target = letterboxed()
    seen = np.repeat(photo(160, 160)[..., :1], 3, axis=2)
    scene = Scene(image=Image(seen), size=(90, 160), box=(35, 0, 90, 160))
    prediction = decode(np.repeat(answer[..., :1], 3, axis=2), scene)
    assert "wrong_aspect" not in prediction.flags
    assert np.array_equal(prediction.value, target)
    assert np.array_equal(BinaryMaskEncoder(BinaryMask.Options()).encode(target, scene), answer)


def test_broken_files_name_themselves_and_the_good_one_is_read() -> None:
    target = disc(100, 120, 30)
    noisy = np.random.default_rng(0).integers(0, 30, (100, 120, 3), dtype=np.uint8)
    good = np.maximum(painted(target, (255, 255, 255)), noisy)
    png, jpeg = io.BytesIO(), io.BytesIO()
    PIL.Image.fromarray(good).save(png, "PNG")
    PIL.Image.fromarray(good).save(jpeg, "JPEG")
    files = {
        "cut.png": png.getvalue()[: len(png.getvalue()) * 3 // 5],
        "cut.jpg": jpeg.getvalue()[: len(jpeg.getvalue()) // 2],
        "empty.png": b"",
        "page.png": b"<html>502 Bad Gateway</html>",
    }
    for name, data in files.items():
        with pytest.raises(Undecodable, match=name):
            decode_image(data, what=name)
    answer = decode_image(png.getvalue(), what="ok.png")
    assert np.array_equal(decode(answer, scene_of(100, 120)).value, target)


@pytest.mark.parametrize(
    "answer", [None, "mask", np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3))]
)
def test_what_is_no_rgb_picture_is_undecodable(answer: object) -> None:
    with pytest.raises(Undecodable):
        BinaryMask(Options()).decode(answer, scene_of(4, 4))


def test_grey_conversions_follow_their_weights() -> None:
    colour = np.array([[[200, 100, 50]]], np.uint8)
    assert to_grey(colour, "bt601")[0, 0] == round(0.299 * 200 + 0.587 * 100 + 0.114 * 50)
    assert to_grey(colour, "bt709")[0, 0] == round(0.2126 * 200 + 0.7152 * 100 + 0.0722 * 50)
    assert to_grey(colour, "mean")[0, 0] == round(350 / 3)
    assert to_grey(colour, "max")[0, 0] == 200
    primaries = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], np.uint8)
    assert to_grey(primaries, "bt601").tolist() == [[76, 150, 29]]
    assert to_grey(primaries, "bt709").tolist() == [[54, 182, 18]]


@given(st.integers(0, 10_000))
def test_far_fraction_agrees_with_its_definition(seed: int) -> None:
    answer = np.random.default_rng(seed).choice(
        np.array([0, 32, 33, 128, 222, 223, 255], np.uint8), (9, 11, 3)
    )
    black = (answer <= 32).all(axis=2)
    white = (answer >= 223).all(axis=2)
    assert far_fraction(answer) == pytest.approx((~black & ~white).mean())
