"""Painted quality: a grey level or the length of a bar, of right pictures and of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import Image
from vgen_eval.types import NoOptions, Scene
from vgen_eval_plugins.quality.assessment.encoders import BarLengthEncoder, GreyLevelEncoder
from vgen_eval_plugins.quality.assessment.painted import (
    BarLength,
    BarOptions,
    GreyLevel,
    GreyOptions,
)
from vgen_eval_plugins.quality.targets import Opinion

RGB = NDArray[np.uint8]
PHOTO = np.random.default_rng(0).integers(0, 256, (60, 100, 3), dtype=np.uint8)
SCENE = Scene(image=Image(PHOTO), size=(60, 100))
GREY = GreyLevel(GreyOptions())
BAR = BarLength(BarOptions())


def flat(level: int) -> RGB:
    return np.full((60, 100, 3), level, np.uint8)


def bar(length: int, *, top: int = 20, high: int = 12, left: int = 0) -> RGB:
    picture = flat(255)
    picture[top : top + high, left : left + length] = 0
    return picture


@pytest.mark.parametrize("score", [0.0, 13.0, 50.0, 100.0])
def test_what_is_encoded_is_decoded(score: float) -> None:
    target = Opinion(score)
    grey = GREY.decode(GreyLevelEncoder(NoOptions()).encode(target, SCENE), SCENE)
    assert grey.value == pytest.approx(score / 100, abs=0.5 / 255 + 1e-9)
    assert grey.flags == ()
    drawn = BAR.decode(BarLengthEncoder(NoOptions()).encode(target, SCENE), SCENE)
    assert drawn.value == pytest.approx(max(score / 100, 0.01))
    assert drawn.flags == ()


def test_a_frame_and_noise_move_a_grey_little() -> None:
    picture = flat(153)
    picture[:2], picture[-2:] = 0, 0  # 4 of 60 rows
    found = GREY.decode(picture, SCENE)
    assert found.value == pytest.approx(0.6)
    assert found.flags == ()


def test_what_is_not_one_grey_is_flagged() -> None:
    ramp = np.repeat(np.linspace(0, 255, 100).astype(np.uint8)[None, :, None], 60, axis=0)
    assert GREY.decode(np.repeat(ramp, 3, axis=2), SCENE).flags == ("uneven",)
    red = flat(0)
    red[..., 0] = 200
    assert GREY.decode(red, SCENE).flags == ("colour_in_gray",)
    assert "copied_input" in GREY.decode(PHOTO, SCENE).flags


@pytest.mark.parametrize("length", [1, 37, 100])
def test_the_length_of_a_bar_over_the_width_is_the_quality(length: int) -> None:
    assert BAR.decode(bar(length), SCENE).value == pytest.approx(length / 100)


def test_a_bar_elsewhere_and_a_second_one_are_flagged() -> None:
    moved = BAR.decode(bar(30, left=20), SCENE)
    assert (moved.value, moved.flags) == (pytest.approx(0.3), ("bar_off_start",))
    two = bar(30)
    two[50:55, :10] = 0
    found = BAR.decode(two, SCENE)
    assert (found.value, found.flags) == (pytest.approx(0.3), ("several_bars",))


def test_a_ragged_end_counts_by_its_middle() -> None:
    picture = bar(40)
    picture[20:22, 40:60] = 0
    assert BAR.decode(picture, SCENE).value == pytest.approx(0.4)


def disc() -> RGB:
    rows, columns = np.mgrid[:60, :100]
    picture = flat(255)
    picture[(rows - 30) ** 2 + (columns - 50) ** 2 < 100] = 0
    picture[(rows - 30) ** 2 + (columns - 50) ** 2 < 49] = 255
    return picture


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        (flat(255), "nothing in the picture is dark"),
        (flat(0), "60 of 60 pixels high"),
        (disc(), "no rectangle"),
        ("half", "picture was wanted"),
    ],
)
def test_what_is_no_bar_is_undecodable(picture: Any, told: str) -> None:
    with pytest.raises(Undecodable, match=told):
        BAR.decode(picture, SCENE)
