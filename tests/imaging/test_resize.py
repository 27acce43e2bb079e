"""Resizing against Pillow and against the definitions, over many sizes."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.imaging import resize

SIDES = st.integers(1, 40)


def numbered(height: int, width: int, dtype: Any = np.int32) -> NDArray[Any]:
    return np.arange(height * width).reshape(height, width).astype(dtype)


# --- labels -------------------------------------------------------------------------------


def test_nearest_maps_pixel_centres() -> None:
    row = np.repeat(np.arange(10, dtype=np.uint8)[None], 3, axis=0)
    found = resize(row, height=3, width=15, kind="labels")
    assert found.tolist() == [[0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 9]] * 3


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SIDES)
def test_nearest_is_the_pixel_whose_area_holds_the_centre(
    height: int, width: int, rows: int, columns: int
) -> None:
    from fractions import Fraction

    found = resize(numbered(height, width), height=rows, width=columns, kind="labels")
    down = [int((Fraction(2 * y + 1, 2)) * height / rows) for y in range(rows)]
    across = [int((Fraction(2 * x + 1, 2)) * width / columns) for x in range(columns)]
    assert np.array_equal(found, numbered(height, width)[np.ix_(down, across)])


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SIDES)
def test_nearest_agrees_with_pillow(height: int, width: int, rows: int, columns: int) -> None:
    # where no centre lies on a border, which Pillow decides by rounding
    if any((2 * at + 1) * old % (2 * new) == 0 for old, new in ((height, rows), (width, columns))
           for at in range(new)):  # fmt: skip
        return
    array = numbered(height, width)
    theirs = PIL.Image.fromarray(array).resize((columns, rows), PIL.Image.Resampling.NEAREST)
    found = resize(array, height=rows, width=columns, kind="labels")
    assert np.array_equal(found, np.asarray(theirs))


@settings(deadline=None)
@given(SIDES, SIDES)
def test_nearest_of_the_mirror_image_is_the_mirror_image(old: int, new: int) -> None:
    row = numbered(1, old)
    there = resize(row, height=1, width=new, kind="labels")
    mirrored = resize(row[:, ::-1], height=1, width=new, kind="labels")[:, ::-1]
    on_a_border = [(2 * at + 1) * old % (2 * new) == 0 for at in range(new)]
    assert np.array_equal(there[0, ~np.array(on_a_border)], mirrored[0, ~np.array(on_a_border)])
    assert (np.abs(there - mirrored) <= 1).all()


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 6))
def test_nearest_enlarged_by_a_whole_factor_repeats_every_label(h: int, w: int, k: int) -> None:
    labels = np.random.default_rng(h * w).choice([0, 10, 20], (h, w))
    found = resize(labels, height=h * k, width=w * k, kind="labels")
    assert np.array_equal(found, np.kron(labels, np.ones((k, k), int)))
    assert np.array_equal(resize(found, height=h, width=w, kind="labels"), labels)


@pytest.mark.parametrize("dtype", [bool, np.uint8, ">i4", np.int64, np.float32])
def test_labels_invent_no_value_and_keep_their_type(dtype: Any) -> None:
    labels = np.random.default_rng(0).choice([0, 10, 20], (12, 13, 2)).astype(dtype)
    found = resize(labels, height=31, width=7, kind="labels")
    assert (found.shape, found.dtype) == ((31, 7, 2), labels.dtype)
    assert set(np.unique(found)) <= set(np.unique(labels))


# --- maps ---------------------------------------------------------------------------------


def triangle(old: int, new: int) -> NDArray[np.float64]:
    """(new, old) weights of a linear filter whose width grows with the step when it shrinks."""
    step = old / new
    wide = max(step, 1.0)
    centres = (np.arange(new)[:, None] + 0.5) * step - 0.5
    weights = np.clip(1 - np.abs(np.arange(old)[None] - centres) / wide, 0, None)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SIDES)
def test_maps_are_filtered_by_triangles(height: int, width: int, rows: int, columns: int) -> None:
    array = np.random.default_rng(height + width).random((height, width)).astype(np.float32)
    found = resize(array, height=rows, width=columns, kind="map")
    expected = triangle(height, rows) @ array @ triangle(width, columns).T
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() <= 1e-5


@pytest.mark.parametrize("size", [(30, 50), (7, 11), (90, 20)])
@pytest.mark.parametrize("shape", [(20, 33), (20, 33, 3)])
def test_maps_of_eight_bits_are_pillows(size: tuple[int, int], shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    theirs = PIL.Image.fromarray(array).resize(size[::-1], PIL.Image.Resampling.BILINEAR)
    found = resize(array, height=size[0], width=size[1], kind="map")
    assert np.array_equal(found, np.asarray(theirs))


def test_enlarged_maps_agree_with_opencv() -> None:
    array = np.random.default_rng(0).random((9, 14)).astype(np.float32)
    theirs = cv2.resize(array, (37, 31), interpolation=cv2.INTER_LINEAR)
    assert np.abs(resize(array, height=31, width=37, kind="map") - theirs).max() <= 1e-5


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [(), (1,), (2,), (3,), (4,), (5,)])
def test_maps_keep_type_and_channels_and_do_not_mix_these(
    dtype: Any, channels: tuple[int, ...]
) -> None:
    array = (np.random.default_rng(0).random((6, 8, *channels)) * 200).astype(dtype)
    found = resize(array, height=9, width=5, kind="map")
    assert (found.shape, found.dtype) == ((9, 5, *channels), array.dtype)
    if channels:
        alone = resize(np.ascontiguousarray(array[..., 0]), height=9, width=5, kind="map")
        assert np.array_equal(found[..., 0], alone)


def test_what_is_unknown_spreads_to_its_neighbours_and_no_further() -> None:
    array = np.ones((8, 8), np.float32)
    array[0, 0] = np.nan
    found = resize(array, height=16, width=16, kind="map")
    assert np.isnan(found[0, 0])
    assert np.isfinite(found[4:, 4:]).all()


# --- photographs --------------------------------------------------------------------------


def test_photographs_are_averaged_when_they_shrink_and_smooth_when_they_grow() -> None:
    photo = np.random.default_rng(0).integers(0, 256, (12, 18, 3), dtype=np.uint8)
    small = resize(photo, height=4, width=6, kind="photo")
    means = photo.reshape(4, 3, 6, 3, 3).mean(axis=(1, 3))
    assert np.abs(small - means).max() <= 0.5 + 1e-9
    large = resize(photo, height=24, width=20, kind="photo")
    assert np.array_equal(large, cv2.resize(photo, (20, 24), interpolation=cv2.INTER_CUBIC))


# --- all of them --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["photo", "map", "labels"])
def test_an_array_of_the_right_size_is_given_back_as_it_is(kind: Any) -> None:
    array = np.zeros((4, 5, 3), np.uint8)
    assert resize(array, height=4, width=5, kind=kind) is array


@pytest.mark.parametrize("kind", ["photo", "map"])
def test_nothing_cannot_be_resized(kind: Any) -> None:
    with pytest.raises(ValueError, match="without pixels"):
        resize(np.zeros((0, 5, 3), np.uint8), height=2, width=2, kind=kind)


@pytest.mark.parametrize("kind", ["photo", "map", "labels"])
@pytest.mark.parametrize("size", [(1, 1), (1, 50), (50, 1), (3, 7)])
def test_a_single_pixel_and_odd_sizes(kind: Any, size: tuple[int, int]) -> None:
    pixel = np.full((1, 1, 3), (7, 8, 9), np.uint8)
    found = resize(pixel, height=size[0], width=size[1], kind=kind)
    assert (found == (7, 8, 9)).all()
    assert found.shape == (*size, 3)
    assert (resize(found, height=1, width=1, kind=kind) == (7, 8, 9)).all()
