"""Four ways to cut a painted mask, and a colour on black: each beside somebody else's."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
import skimage.filters
import sklearn.cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.imaging import Image
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.colours import Paint
from vgen_eval_plugins.segmentation.binary_mask import BinaryMask
from vgen_eval_plugins.segmentation.cuts import cut_adaptive, cut_otsu, cut_two_means
from vgen_eval_plugins.segmentation.encoders import BinaryMaskEncoder
from vgen_eval_plugins.segmentation.mask_colour import cut_colour

RGB = NDArray[np.uint8]
Mask = NDArray[np.bool_]

WAYS: list[dict[str, Any]] = [
    {"method": "otsu"},
    {"method": "fixed", "threshold": 128},
    {"method": "fixed", "threshold": 30},
    {"method": "adaptive"},
    {"method": "adaptive", "block": 11},
    {"method": "adaptive", "kernel": "gaussian", "block": 21},
    {"method": "kmeans2"},
    {"method": "kmeans2", "gray": "max"},
    {"colour": "#ff0000"},
    {"colour": [0, 0, 200]},
    {"colour": {"rgb": "#00ff00", "word": "green"}, "max_distance": 90},
    {"colour": "#ffffff"},
]
WHITE_BALANCE = np.array([0.299, 0.587, 0.114])


def options_of(**given: Any) -> BinaryMask.Options:
    import msgspec

    return msgspec.convert(given, BinaryMask.Options)


def scene_of(height: int, width: int, seen: tuple[int, int] | None = None) -> Scene:
    grey = np.random.default_rng(1).integers(60, 190, (*(seen or (height, width)), 3), np.uint8)
    return Scene(image=Image(grey), size=(height, width))


def decode(answer: RGB, scene: Scene, **given: Any) -> Prediction:
    return BinaryMask(options_of(**given)).decode(answer, scene)


def blobs(height: int, width: int) -> Mask:
    yy, xx = np.mgrid[:height, :width]
    near = (yy - height / 3) ** 2 + (xx - width / 4) ** 2 <= (height / 6) ** 2
    return np.asarray(near | ((abs(yy - height * 0.7) < height / 8) & (abs(xx - width / 2) < 25)))


def two_colours(mask: Mask, bright: Any, dark: Any, spread: float, seed: int = 0) -> RGB:
    rng = np.random.default_rng(seed)
    base = np.where(mask[:, :, None], np.array(bright, float), np.array(dark, float))
    return np.clip(base + rng.normal(0, spread, base.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("resize", ["gray", "nearest_after"])
@pytest.mark.parametrize("shape", [(60, 80), (97, 61), (7, 5)])
def test_a_perfect_answer_is_read_exactly(
    way: dict[str, Any], resize: str, shape: tuple[int, int]
) -> None:
    target = np.random.default_rng(5).random(shape) < 0.4
    target[: shape[0] // 3] = True  # an inside as large as any block
    scene = scene_of(*shape)
    answer = BinaryMaskEncoder(options_of(**way)).encode(target, scene)
    prediction = decode(answer, scene, resize=resize, **way)
    assert prediction.value.dtype == bool
    assert np.array_equal(prediction.value, target)
    assert prediction.flags == ()


def test_the_inside_of_a_thing_larger_than_a_block_is_kept() -> None:
    target = np.zeros((300, 300), bool)
    target[50:250, 50:250] = True
    answer = np.repeat(target[..., None] * np.uint8(255), 3, axis=2)
    prediction = decode(answer, scene_of(300, 300), method="adaptive", block=21)
    assert np.array_equal(prediction.value, target)
    plain = cv2.adaptiveThreshold(
        answer[..., 0], 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 21, 0
    )
    assert plain[150, 150] == 0  # what the fall-back is for


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_otsu_is_scikit_images(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = sorted(rng.integers(20, 236, 2))
    levels = np.where(blobs(64, 90), high, low) + rng.normal(0, 12, (64, 90))
    grey = np.clip(levels, 0, 255).astype(np.uint8)
    mask, threshold = cut_otsu(grey)
    assert threshold == skimage.filters.threshold_otsu(grey)
    assert np.array_equal(mask, grey > threshold)


@pytest.mark.parametrize("block", [5, 15, 51])
@pytest.mark.parametrize("offset", [0.0, 7.5, -4.0])
def test_adaptive_mean_is_scikit_images_where_there_is_an_edge(block: int, offset: float) -> None:
    grey = two_colours(blobs(90, 120), [200] * 3, [60] * 3, 18)[..., 0]
    mask, _ = cut_adaptive(grey, kernel="mean", block=block, offset=offset, min_range=0)
    local = skimage.filters.threshold_local(
        grey.astype(float), block, method="mean", offset=offset, mode="nearest"
    )
    clear = np.abs(grey - local) > 1e-3
    assert clear.mean() > 0.95
    assert np.array_equal(mask[clear], (grey > local)[clear])


@pytest.mark.parametrize("block", [5, 15, 51])
def test_adaptive_gaussian_is_opencvs_but_for_its_rounding(block: int) -> None:
    grey = two_colours(blobs(90, 120), [200] * 3, [60] * 3, 18)[..., 0]
    mask, _ = cut_adaptive(grey, kernel="gaussian", block=block, offset=3, min_range=0)
    theirs = cv2.adaptiveThreshold(
        grey, 1, cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY, block, 3
    )
    local = cv2.GaussianBlur(
        grey.astype(np.float64), (block, block), 0, borderType=cv2.BORDER_REPLICATE
    )
    clear = np.abs(grey - (local - 3)) > 1
    assert clear.mean() > 0.9
    assert np.array_equal(mask[clear], theirs[clear] == 1)


def test_flat_neighbourhoods_follow_otsu() -> None:
    grey = np.full((80, 80), 10, np.uint8)
    grey[:40] = 200
    grey[5, 5] = 190  # an uneven spot of a bright area stays bright
    mask, threshold = cut_adaptive(grey, kernel="mean", block=9, offset=0, min_range=32)
    assert mask[5, 5]
    assert mask[:30].all()
    assert not mask[50:].any()
    assert threshold == cut_otsu(grey)[1]


@pytest.mark.parametrize(
    ("bright", "dark", "spread"),
    [
        ([240, 240, 240], [10, 10, 10], 12),
        ([255, 60, 40], [20, 20, 60], 15),
        ([200, 220, 90], [90, 40, 120], 10),
    ],
)
def test_two_means_are_scikit_learns(bright: Any, dark: Any, spread: float) -> None:
    answer = two_colours(blobs(60, 90), bright, dark, spread)
    found = cut_two_means(answer, WHITE_BALANCE)
    theirs = sklearn.cluster.KMeans(2, n_init=5, random_state=0, tol=0).fit(
        answer.reshape(-1, 3).astype(float)
    )
    brighter = int(np.argmax(theirs.cluster_centers_ @ WHITE_BALANCE))
    assert np.array_equal(found, (theirs.labels_ == brighter).reshape(60, 90))
    assert np.array_equal(found, blobs(60, 90))


def test_two_means_see_what_grey_cannot() -> None:
    target = blobs(60, 90)
    answer = np.where(target[..., None], np.uint8([150, 60, 0]), np.uint8([0, 120, 60]))
    assert np.ptp(cv2.cvtColor(answer, cv2.COLOR_RGB2GRAY)) < 8
    assert np.array_equal(cut_two_means(answer, WHITE_BALANCE), target) or np.array_equal(
        cut_two_means(answer, WHITE_BALANCE), ~target
    )


def test_two_means_of_a_large_picture_find_a_small_target() -> None:
    answer = np.random.default_rng(0).integers(0, 6, (1024, 1024, 3), dtype=np.uint8)
    target = np.zeros((1024, 1024), bool)
    target[500:540, 700:720] = True
    answer[target] = 250
    assert np.array_equal(decode(answer, scene_of(1024, 1024), method="kmeans2").value, target)


def test_nearest_after_keeps_every_pixel_a_pixel() -> None:
    """Doubled, a bilinear ramp is cut somewhere on it; the nearest pixel is not."""
    answer = np.zeros((6, 6, 3), np.uint8)
    answer[2:4, 2:4] = 255
    scene = scene_of(60, 60, seen=(6, 6))
    after = decode(answer, scene, resize="nearest_after", method="fixed", threshold=20).value
    before = decode(answer, scene, resize="gray", method="fixed", threshold=20).value
    assert after.sum() == 400
    assert before.sum() > 500
    assert (before & after).sum() == 400


@given(st.integers(0, 10_000), st.tuples(*[st.integers(0, 255)] * 3))
@settings(max_examples=40, deadline=None)
def test_a_pixel_goes_to_the_nearer_of_colour_and_black(
    seed: int, colour: tuple[int, int, int]
) -> None:
    picture = np.random.default_rng(seed).integers(0, 256, (9, 11, 3), dtype=np.uint8)
    wide = picture.astype(np.int64)
    to_colour = ((wide - colour) ** 2).sum(axis=2)
    assert np.array_equal(cut_colour(picture, colour, None), to_colour <= (wide**2).sum(axis=2))
    assert np.array_equal(cut_colour(picture, colour, 120.0), to_colour <= 120**2)


def test_a_colour_is_named_in_the_prompt_as_the_decoder_reads_it() -> None:
    scene = scene_of(4, 4)
    named = BinaryMask(BinaryMask.Options(colour=Paint("#ff0000", "red")))
    assert named.fields(scene) == {"colour": "red (#ff0000)", "rest": "black (#000000)"}
    assert BinaryMask(BinaryMask.Options()).fields(scene)["colour"] == "white (#ffffff)"


def test_a_mask_in_its_colour_is_a_mask_and_one_in_another_is_flagged() -> None:
    target = blobs(60, 80)
    full = np.ones((60, 80), bool)
    red = np.where(target[..., None], np.uint8([250, 8, 4]), np.uint8([0, 0, 0]))
    good = decode(red, scene_of(60, 80), colour="#ff0000")
    assert np.array_equal(good.value, target)
    assert good.flags == ()
    grey = np.where(full[..., None], np.uint8([120, 120, 120]), np.uint8([0, 0, 0]))
    other = decode(grey, scene_of(60, 80), colour="#ff0000")
    assert {"not_a_mask", "constant"} <= set(other.flags)
    assert not other.value.any()


@pytest.mark.parametrize("level", [0, 3])
def test_noise_on_black_holds_no_colour(level: int) -> None:
    answer = np.random.default_rng(0).integers(0, level + 1, (50, 50, 3), dtype=np.uint8)
    prediction = decode(answer, scene_of(50, 50), colour="#ff0000")
    assert not prediction.value.any()
    assert "constant" in prediction.flags


@pytest.mark.parametrize("way", [w for w in WAYS if "colour" not in w])
def test_a_flat_picture_is_all_or_nothing_whatever_the_way(way: dict[str, Any]) -> None:
    for level, expected in ((100, False), (160, True)):
        flat = np.random.default_rng(0).integers(level, level + 5, (50, 60, 3), dtype=np.uint8)
        prediction = decode(flat, scene_of(50, 60), **way)
        assert prediction.value.all() == prediction.value.any() == expected
        assert "constant" in prediction.flags


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"block": 20}, "odd"),
        ({"colour": "#000000"}, "black"),
        ({"colour": [31, 0, 0]}, "black"),
        ({"max_distance": 50}, "none is named"),
    ],
)
def test_options_that_cannot_be_are_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        options_of(**given)
