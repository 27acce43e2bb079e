"""The five ways of finding dots in the same red mask: what each counts, and where they part."""

from __future__ import annotations

import math
from typing import get_args

import cv2
import msgspec
import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.imaging import Image
from vgen_eval.types import Prediction, Scene
from vgen_eval_plugins.counting.dots import Method, find_components, find_peaks
from vgen_eval_plugins.counting.encoders import RedDotsEncoder, RedDotsEncoderOptions
from vgen_eval_plugins.counting.red_dots import RedDots, RedDotsOptions
from vgen_eval_plugins.counting.targets import CountTarget

METHODS = get_args(Method)
SIDE = 1024
RGB = NDArray[np.uint8]


def scene_of(picture: RGB) -> Scene:
    return Scene(image=Image(picture), size=(picture.shape[0], picture.shape[1]))


def grey(height: int = 768, width: int = SIDE) -> RGB:
    return np.full((height, width, 3), 90, np.uint8)


def disc(picture: RGB, x: int, y: int, radius: int, colour: tuple[int, ...] = (255, 0, 0)) -> None:
    rows, columns = np.ogrid[: picture.shape[0], : picture.shape[1]]
    picture[(rows - y) ** 2 + (columns - x) ** 2 <= radius**2] = colour


def decode(answer: RGB, picture: RGB, **options: object) -> Prediction:
    return RedDots(msgspec.convert(options, RedDotsOptions)).decode(answer, scene_of(picture))


def counts(answer: RGB, picture: RGB, **options: object) -> dict[str, int]:
    return {name: decode(answer, picture, method=name, **options).value for name in METHODS}


def test_the_default_is_blobs_behind_the_difference_gate() -> None:
    assert RedDotsOptions().method == "blob+diff"
    with pytest.raises(msgspec.ValidationError, match="method"):
        msgspec.convert({"method": "watershed"}, RedDotsOptions)
    with pytest.raises(msgspec.ValidationError, match="difference_gate"):
        msgspec.convert({"difference_gate": False}, RedDotsOptions)


@settings(max_examples=25, deadline=None)
@given(
    method=st.sampled_from(METHODS),
    count=st.integers(0, 150),
    known=st.booleans(),
    upright=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_encoded_dots_are_counted_exactly_by_every_method(
    method: str, count: int, known: bool, upright: bool, seed: int
) -> None:
    height, width = (SIDE, 700) if upright else (700, SIDE)
    scene = scene_of(grey(height, width))
    points = np.random.default_rng(seed).uniform(0, 1, (count, 2)) * [width, height]
    target = CountTarget(count, points if known else None)
    answer = RedDotsEncoder(RedDotsEncoderOptions()).encode(target, scene)
    decoder = RedDots(msgspec.convert({"method": method}, RedDotsOptions))
    prediction = decoder.decode(answer, scene)
    assert prediction.value == count
    assert len(prediction.summary["points"]) == count


def test_where_the_dots_are_is_told_alike_by_every_method() -> None:
    answer = grey()
    places = [(100, 100), (300, 200), (700, 600)]
    for x, y in places:
        disc(answer, x, y, 8)
    for method in METHODS:
        found = decode(answer, grey(), method=method).summary["points"]
        assert np.allclose(found, places, atol=0.6), method


def test_red_that_was_there_before_is_counted_without_the_gate_alone() -> None:
    picture = grey()
    disc(picture, 100, 100, 9)
    answer = picture.copy()
    disc(answer, 500, 300, 9)
    assert counts(answer, picture) == {
        "components": 2, "components+diff": 1, "blob": 2, "blob+diff": 1, "peak_dt": 2,
    }  # fmt: skip


def test_large_red_things_are_components_and_peaks_and_no_blobs() -> None:
    answer = grey()
    disc(answer, 300, 300, 60)
    assert counts(answer, grey()) == {
        "components": 1, "components+diff": 1, "blob": 0, "blob+diff": 0, "peak_dt": 1,
    }  # fmt: skip


def test_dots_that_run_together_are_told_apart_by_their_peaks_alone() -> None:
    answer = grey()
    disc(answer, 300, 300, 12)
    disc(answer, 320, 300, 12)
    found = counts(answer, grey(), min_circularity=None, min_inertia=None)
    assert found["peak_dt"] == 2
    assert found["components"] == found["blob"] == 1


def test_a_dot_that_is_ragged_counts_several_times_by_its_peaks() -> None:
    answer = grey()
    cv2.ellipse(answer, (400, 300), (18, 9), 0, 0, 360, (255, 0, 0), cv2.FILLED)
    answer[291:297, 400:403] = answer[304:310, 400:403] = 90  # a waist
    assert decode(answer, grey(), method="components").value == 1
    assert decode(answer, grey(), method="peak_dt").value == 2


@pytest.mark.parametrize("method", ["components", "peak_dt"])
def test_a_count_that_hangs_on_a_limit_is_flagged(method: str) -> None:
    answer = grey()
    for x in (200, 600):
        disc(answer, x, 300, 10)
    pixels = int((answer[:, :400, 0] == 255).sum())
    depth = float(scipy.ndimage.distance_transform_edt(answer[..., 0] == 255).max())
    name, size = ("min_area", pixels) if method == "components" else ("peak_min_value", depth)

    def flags(limit: float) -> tuple[str, ...]:
        return decode(answer, grey(), method=method, **{name: limit}).flags

    assert flags(0.8 * size) == flags(1.2 * size) == ()
    assert flags(0.95 * size) == flags(1.05 * size) == ("unstable_count",)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fill", [(90, 90, 90), (255, 0, 0)])
def test_flat_pictures_hold_one_component_at_most(method: str, fill: tuple[int, ...]) -> None:
    answer = np.full((40, 50, 3), fill, np.uint8)
    prediction = decode(answer, np.zeros((40, 50, 3), np.uint8), method=method)
    full = fill == (255, 0, 0) and not method.startswith("blob")
    assert prediction.value == int(full)
    assert "constant" in prediction.flags


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_components_agree_with_scipy(seed: int, min_area: int) -> None:
    mask = (np.random.default_rng(seed).random((30, 41)) < 0.4).astype(np.uint8) * 255
    labels, number = scipy.ndimage.label(mask, np.ones((3, 3)))
    areas = np.bincount(labels.ravel(), minlength=number + 1)[1:]
    kept = np.flatnonzero(areas >= min_area) + 1
    middles = scipy.ndimage.center_of_mass(mask, labels, kept)
    found, _ = find_components(mask, min_area=min_area)
    assert len(found) == len(kept)
    assert np.allclose(sorted(map(tuple, found[:, ::-1])), sorted(middles))


def plain_peaks(mask: NDArray[np.uint8], *, min_value: float, reach: int) -> int:
    """Local maxima of the distance to the rim, pixel by pixel; plateaus by flood."""
    framed = np.pad(mask > 0, 1)
    depth = scipy.ndimage.distance_transform_edt(framed)[1:-1, 1:-1]
    height, width = mask.shape
    tops = np.zeros(mask.shape, bool)
    for y in range(height):
        for x in range(width):
            near = [
                depth[v, u]
                for v in range(max(0, y - reach), min(height, y + reach + 1))
                for u in range(max(0, x - reach), min(width, x + reach + 1))
                if math.hypot(u - x, v - y) <= reach
            ]
            tops[y, x] = mask[y, x] > 0 and depth[y, x] >= max(near) - 1e-5
    labels, number = scipy.ndimage.label(tops, np.ones((3, 3)))
    return sum(depth[labels == at].max() >= min_value for at in range(1, number + 1))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.sampled_from([1.2, 1.7, 2.5]))
def test_peaks_agree_with_a_plain_loop(seed: int, reach: int, min_value: float) -> None:
    rng = np.random.default_rng(seed)
    mask = np.zeros((26, 31), np.uint8)
    for _ in range(4):
        x, y, radius = rng.integers(0, 31), rng.integers(0, 26), rng.integers(1, 8)
        cv2.circle(mask, (int(x), int(y)), int(radius), 255, cv2.FILLED)
    found, _ = find_peaks(mask, min_value=min_value, min_distance=reach)
    assert len(found) == plain_peaks(mask, min_value=min_value, reach=reach)
