"""From the original to what the model saw and back: bars, sizes, shapes, points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.imaging import Geometry, Image, prepare_image

SIDES = st.integers(1, 60)
FITS = st.sampled_from(["stretch", "letterbox"])
BARS = {"size": (64, 64), "fit": "letterbox", "pad": (9, 8, 7)}


def photo(height: int, width: int, seed: int = 0) -> Image:
    rng = np.random.default_rng(seed)
    return Image(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))


def geometry_of(image: Image, *, answers: Any = "stretch", **rule: Any) -> Geometry:
    shown, box = prepare_image(image, **rule)
    size = (image.height, image.width)
    return Geometry(original=size, seen=(shown.height, shown.width), box=box, fit=answers)


def labels(height: int, width: int, seed: int = 0) -> NDArray[np.int32]:
    return np.random.default_rng(seed).integers(0, 9, (height, width), dtype=np.int32)


# --- what the model sees ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "rule", "seen", "box"),
    [
        ((30, 40), {}, (30, 40), (0, 0, 30, 40)),
        ((30, 40), {"long_side": 20}, (15, 20), (0, 0, 15, 20)),
        ((40, 30), {"long_side": 20}, (20, 15), (0, 0, 20, 15)),
        ((30, 40), {"long_side": 80}, (30, 40), (0, 0, 30, 40)),
        ((30, 40), {"long_side": 80, "upsample": True}, (60, 80), (0, 0, 60, 80)),
        ((1, 1000), {"long_side": 100}, (1, 100), (0, 0, 1, 100)),
        ((30, 40), {"size": (64, 64)}, (64, 64), (0, 0, 64, 64)),
        ((30, 40), BARS, (64, 64), (8, 0, 48, 64)),
        ((40, 30), BARS, (64, 64), (0, 8, 64, 48)),
        ((64, 64), BARS, (64, 64), (0, 0, 64, 64)),
        ((1, 1), BARS, (64, 64), (0, 0, 64, 64)),
        ((1, 1000), BARS, (64, 64), (31, 0, 1, 64)),
        ((1000, 1), BARS, (64, 64), (0, 31, 64, 1)),
        ((33, 64), BARS, (64, 64), (15, 0, 33, 64)),
        ((50, 70), {**BARS, "size": (31, 57)}, (31, 57), (0, 7, 31, 43)),
    ],
)
def test_pictures_are_prepared_as_the_card_says(
    size: tuple[int, int], rule: Any, seen: tuple[int, int], box: tuple[int, ...]
) -> None:
    shown, found = prepare_image(photo(*size), **rule)
    assert (shown.height, shown.width) == seen
    assert found == box


def test_bars_have_their_colour_and_the_picture_lies_between_them() -> None:
    image = photo(32, 64)
    shown, box = prepare_image(image, **BARS)
    assert box == (16, 0, 32, 64)
    assert np.array_equal(shown.array[16:48], image.array)
    bars = np.concatenate([shown.array[:16], shown.array[48:]])
    assert (bars == (9, 8, 7)).all()


def test_a_picture_of_the_right_size_is_the_same_picture() -> None:
    image = photo(30, 40)
    assert prepare_image(image)[0] is image
    assert prepare_image(image, long_side=40)[0] is image
    assert prepare_image(image, size=(30, 40), fit="letterbox")[0] is image


@settings(deadline=None)
@given(SIDES, SIDES, st.integers(8, 50), st.integers(8, 50), FITS)
def test_the_box_lies_in_the_picture_and_keeps_its_shape(
    height: int, width: int, rows: int, columns: int, fit: Any
) -> None:
    shown, (top, left, h, w) = prepare_image(photo(height, width), size=(rows, columns), fit=fit)
    assert (shown.height, shown.width) == (rows, columns)
    assert 0 <= top <= top + h <= rows
    assert 0 <= left <= left + w <= columns
    assert (h, w) == (rows, columns) or fit == "letterbox"
    if fit == "letterbox":
        scale = min(rows / height, columns / width)
        assert abs(h - max(1, height * scale)) <= 0.5 + 1e-9
        assert abs(w - max(1, width * scale)) <= 0.5 + 1e-9
        assert abs((rows - h - top) - top) <= 1
        assert abs((columns - w - left) - left) <= 1


# --- labels there and back ----------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 5), st.integers(1, 3), FITS)
def test_labels_come_back_exactly_where_sizes_are_multiples(
    height: int, width: int, factor: int, answer: int, fit: Any
) -> None:
    target = labels(height, width)
    geometry = Geometry(
        original=(height, width),
        seen=(height * factor, width * factor),
        box=(0, 0, height * factor, width * factor),
        fit=fit,
    )
    shown = geometry.project(target, "labels", fill=-1)
    assert shown.shape == geometry.seen
    enlarged = np.kron(shown, np.ones((answer, answer), np.int32))
    assert np.array_equal(geometry.restore(enlarged, "labels"), target)


@settings(deadline=None)
@given(
    st.integers(1, 10), st.integers(1, 10), st.integers(1, 4), st.integers(0, 9),
    st.integers(0, 9), st.integers(1, 3), FITS,
)  # fmt: skip
def test_labels_come_back_exactly_from_between_bars(
    height: int, width: int, factor: int, top: int, left: int, answer: int, fit: Any
) -> None:
    target = labels(height, width)
    h, w = height * factor, width * factor
    geometry = Geometry(
        original=(height, width), seen=(h + 2 * top, w + left), box=(top, left, h, w), fit=fit
    )
    shown = geometry.project(target, "labels", fill=-1)
    assert shown.shape == geometry.seen
    outside = np.ones(geometry.seen, bool)
    outside[top : top + h, left : left + w] = False
    assert (shown[outside] == -1).all()
    assert (shown[~outside] >= 0).all()
    enlarged = np.kron(shown, np.ones((answer, answer), np.int32))
    assert np.array_equal(geometry.restore(enlarged, "labels"), target)


@pytest.mark.parametrize("size", [(30, 40), (32, 64), (64, 32), (16, 64), (64, 1), (1, 64)])
@pytest.mark.parametrize("answer", [(64, 64), (128, 128), (640, 640)])
def test_prepared_pictures_give_their_labels_back(
    size: tuple[int, int], answer: tuple[int, int]
) -> None:
    image = photo(*size)
    geometry = geometry_of(image, **BARS)
    target = np.zeros(size, np.int32)
    target[: (size[0] + 1) // 2, : (size[1] + 1) // 2] = 1
    shown = geometry.project(target, "labels", fill=7)
    factor = answer[0] // 64
    found = geometry.restore(np.kron(shown, np.ones((factor, factor), np.int32)), "labels")
    assert found.shape == size
    assert 7 not in found
    assert np.array_equal(found, target)


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, SIDES, SIDES, FITS, FITS)
def test_answers_of_any_size_come_to_the_originals_grid(
    height: int, width: int, rows: int, columns: int, h: int, w: int, shown: Any, fit: Any
) -> None:
    size = (max(8, rows), max(8, columns))
    geometry = geometry_of(photo(height, width), size=size, fit=shown, answers=fit)
    assert geometry.restore(labels(h, w), "labels").shape == (height, width)
    colours = np.full((h, w, 3), (1, 2, 3), np.uint8)
    assert (geometry.restore(colours, "map") == (1, 2, 3)).all()
    assert geometry.restore(colours, "photo").shape == (height, width, 3)


def test_maps_of_numbers_come_back_from_between_bars() -> None:
    ramp = np.linspace(0, 1, 64, dtype=np.float32)[None].repeat(32, axis=0)
    geometry = geometry_of(photo(32, 64), **BARS)
    shown = geometry.project(ramp, "map", fill=np.nan)
    assert np.isnan(shown[:16]).all()
    assert np.array_equal(geometry.restore(shown, "map"), ramp)
    doubled = np.kron(shown, np.ones((2, 2), np.float32))
    assert np.abs(geometry.restore(doubled, "map") - ramp).max() <= 1 / 63 / 2


# --- answers of another shape -------------------------------------------------------------


def test_a_square_answer_with_bars_is_stretched_or_cut() -> None:
    target = np.zeros((90, 160), bool)
    target[20:70, 50:120] = True
    answer = np.zeros((160, 160), bool)
    answer[35:125] = target
    image = photo(90, 160)
    cut = geometry_of(image, answers="letterbox").restore(answer, "labels")
    stretched = geometry_of(image).restore(answer, "labels")
    assert np.array_equal(cut, target)
    iou = (stretched & target).sum() / (stretched | target).sum()
    assert iou == pytest.approx(0.558961, abs=0.01)
    assert geometry_of(image).has_other_shape(answer.shape)


@pytest.mark.parametrize("answer", [(160, 160), (90, 400), (320, 200), (45, 300)])
def test_bars_around_a_whole_answer_are_cut_off_by_its_shape(answer: tuple[int, int]) -> None:
    geometry = Geometry(original=(90, 160), seen=(90, 160), box=(0, 0, 90, 160), fit="letterbox")
    part = geometry.cut(np.zeros(answer))
    assert part.shape[1] / part.shape[0] == pytest.approx(160 / 90, rel=0.02)
    assert part.shape[0] == answer[0] or part.shape[1] == answer[1]
    assert not geometry.has_other_shape(part.shape)


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        ((90, 160), False), ((180, 320), False), ((9, 16), False), ((91, 160), False),
        ((1, 2), False), ((1, 4), True), ((90, 164), True), ((90, 163), False),
        ((160, 90), True), ((1024, 1024), True), ((1024, 1820), False), ((90, 156), True),
    ],
)  # fmt: skip
def test_another_shape_is_two_per_cent_and_more_than_a_pixel(
    answer: tuple[int, int], other: bool
) -> None:
    geometry = Geometry(original=(45, 80), seen=(90, 160), box=(0, 0, 90, 160))
    assert geometry.has_other_shape(answer) is other
    assert geometry.has_other_shape((*answer, 3)) is other


# --- points -------------------------------------------------------------------------------


@settings(deadline=None)
@given(SIDES, SIDES, st.integers(8, 70), st.integers(8, 70), FITS, st.integers(0, 99))
def test_points_go_there_and_back(
    height: int, width: int, rows: int, columns: int, fit: Any, seed: int
) -> None:
    geometry = geometry_of(photo(height, width), size=(rows, columns), fit=fit)
    points = np.random.default_rng(seed).random((5, 2)) * [width, height] - 0.5
    shown = geometry.project_points(points)
    top, left, h, w = geometry.box
    assert (shown >= np.array([left, top]) - 0.5 - 1e-9).all()
    assert (shown <= np.array([left + w, top + h]) - 0.5 + 1e-9).all()
    assert np.abs(geometry.restore_points(shown) - points).max() <= 1e-9


@pytest.mark.parametrize("factor", [1, 3, 5])
def test_points_lie_where_their_pixel_lies(factor: int) -> None:
    geometry = Geometry(
        original=(6, 9), seen=(6 * factor + 4, 9 * factor), box=(2, 0, 6 * factor, 9 * factor)
    )
    target = np.zeros((6, 9), bool)
    target[4, 7] = True
    shown = geometry.project(target, "labels", fill=False)
    centre = np.argwhere(shown).mean(axis=0)[::-1]
    assert geometry.project_points(np.array([[7.0, 4.0]])).tolist() == [centre.tolist()]
    assert geometry.restore_points(centre[None]).tolist() == [[7.0, 4.0]]


def test_no_points_are_no_points() -> None:
    geometry = geometry_of(photo(5, 7))
    assert geometry.project_points(np.zeros((0, 2))).shape == (0, 2)
    assert geometry.restore_points(np.zeros((0, 2))).shape == (0, 2)
