"""Drawings by what a value is made of: exact colours, and words for what has no value."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from vgen_eval.making.drawing import DOT, LONG_SIDE, NOTHING, draw


class Labels(msgspec.Struct, frozen=True, eq=False):
    labels: Any
    classes: tuple[str, ...]


class Counted(msgspec.Struct, frozen=True, eq=False):
    count: int
    points: Any = None


PHOTO = np.full((20, 30, 3), 9, np.uint8)


def test_a_mask_is_white_on_black() -> None:
    mask = np.zeros((20, 30), bool)
    mask[:5] = True
    drawn = draw(mask, PHOTO)
    assert np.array_equal(drawn.picture[..., 1], mask * np.uint8(255))
    assert drawn.caption == "30 x 20, 25.0% white"


def test_numbers_are_a_ramp_and_what_has_no_value_is_no_grey() -> None:
    values = np.tile(np.linspace(1, 5, 30, dtype=np.float32), (20, 1))
    values[0] = np.nan
    drawn = draw(values, PHOTO)
    assert (drawn.picture[0] == NOTHING).all()
    assert drawn.picture[1, 0].tolist() == [0, 0, 0]
    assert drawn.picture[1, -1].tolist() == [255, 255, 255]
    assert drawn.caption == "30 x 20, 1 to 5, bright is larger"
    assert drawn.legend[0] == ((0, 0, 0), "black: 1")
    assert drawn.legend[-1] == (NOTHING, "no value, 5.0%")
    assert draw(np.full((4, 4), np.nan), PHOTO).caption == "4 x 4, no value"


def test_vectors_are_red_green_blue() -> None:
    vectors = np.zeros((20, 30, 3), np.float32)
    vectors[..., 2] = 1
    vectors[0] = np.nan
    drawn = draw(vectors, PHOTO)
    assert drawn.picture[5, 5].tolist() == [128, 128, 255]
    assert (drawn.picture[0] == NOTHING).all()


def test_classes_have_their_colours_and_names() -> None:
    labels = np.zeros((20, 30), np.int32)
    labels[:5], labels[5:6] = 1, -1
    drawn = draw(Labels(labels, ("a", "b")), PHOTO, colours={"a": (1, 2, 3), "b": (4, 5, 6)})
    assert drawn.picture[0, 0].tolist() == [4, 5, 6]
    assert drawn.picture[19, 0].tolist() == [1, 2, 3]
    assert drawn.legend == (
        ((1, 2, 3), "a, 70.0%"),
        ((4, 5, 6), "b, 25.0%"),
        (NOTHING, "no class, 5.0%"),
    )


def test_points_lie_on_the_photograph() -> None:
    drawn = draw(Counted(1, np.array([[20.0, 10.0]])), PHOTO)
    assert drawn.picture[10, 20].tolist() == list(DOT)
    assert drawn.picture[0, 0].tolist() == [9, 9, 9]
    assert drawn.caption == "count 1, 1 point"
    assert draw(Counted(3), PHOTO).caption == "count 3"


@pytest.mark.parametrize("value", [7, "a text", None, np.zeros((2, 2, 2, 2)), np.zeros((0, 5))])
def test_what_is_no_map_is_said_in_words(value: Any) -> None:
    drawn = draw(value, PHOTO)
    assert drawn.picture is None
    assert drawn.caption


def test_large_maps_are_shown_small_and_no_value_is_invented() -> None:
    values = np.where(np.arange(2000) % 2, 1.0, 3.0) * np.ones((500, 1))
    drawn = draw(values, PHOTO)
    assert drawn.picture.shape == (120, LONG_SIDE, 3)
    assert set(np.unique(drawn.picture)) <= {0, 255}
