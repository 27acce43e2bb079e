"""Frames of normals: 48 of them, each a permutation with signs, half of them mirrored."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval_plugins.normals.frames import (
    ALIASES,
    CONVENTIONS,
    HOUSE,
    PROPER,
    from_house,
    parse_frame,
    to_house,
)

DIRECTIONS = {
    "right": (1, 0, 0), "left": (-1, 0, 0), "up": (0, 1, 0), "down": (0, -1, 0),
    "toward": (0, 0, 1), "away": (0, 0, -1),
}  # fmt: skip


def matrix(frame: str) -> NDArray[np.float64]:
    """Rows: where each component of the frame points, in the house's axes."""
    return np.array([DIRECTIONS[word] for word in frame.split()], np.float64)


def some_vectors() -> NDArray[np.float32]:
    return np.random.default_rng(0).normal(size=(5, 7, 3)).astype(np.float32)


def test_there_are_48_and_24_of_them_are_rotations() -> None:
    assert len(set(CONVENTIONS)) == 48
    assert len({matrix(frame).tobytes() for frame in CONVENTIONS}) == 48
    assert CONVENTIONS[0] == HOUSE == "right up toward"
    assert len(PROPER) == 24


@pytest.mark.parametrize("frame", CONVENTIONS)
def test_vectors_go_to_the_house_and_back_as_the_matrix_says(frame: str) -> None:
    vectors = some_vectors()
    turned = vectors.astype(np.float64) @ matrix(frame).T  # components along the frame's axes
    assert np.array_equal(from_house(vectors, frame), turned.astype(np.float32))
    assert np.array_equal(to_house(from_house(vectors, frame), frame), vectors)
    assert np.array_equal(from_house(to_house(vectors, frame), frame), vectors)
    assert (frame in PROPER) == (round(np.linalg.det(matrix(frame))) == 1)
    assert parse_frame(frame).is_proper == (frame in PROPER)


@pytest.mark.parametrize(
    ("alias", "facing", "proper"),
    [("opengl", (0, 0, 1), True), ("opencv", (0, 0, -1), True), ("dsine", (0, 0, 1), False)],
)
def test_a_wall_that_faces_the_camera_under_each_alias(
    alias: str, facing: tuple[int, int, int], proper: bool
) -> None:
    wall = np.array([[[0.0, 0.0, 1.0]]])
    assert from_house(wall, alias)[0, 0].tolist() == list(facing)
    assert parse_frame(alias).is_proper == proper


def test_published_frames_are_what_their_words_say() -> None:
    assert ALIASES["opencv"] == "right down away"
    # DSINE: axes named right, down, front, and a wall that faces the camera is (0, 0, 1)
    assert np.array_equal(matrix(ALIASES["dsine"]), -matrix("right down away"))
    floor_and_left_wall = np.array([[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]])
    assert from_house(floor_and_left_wall, "dsine")[0].tolist() == [[0, 1, 0], [-1, 0, 0]]


def test_zeros_keep_their_sign_and_types_stay() -> None:
    flipped = from_house(np.zeros((1, 1, 3), np.float32), "left down away")
    assert flipped.dtype == np.float32
    assert not np.signbit(flipped).any()
    assert to_house(np.array([1, 2, 3], np.int16), "away left up").tolist() == [-2, 3, -1]
    assert np.isnan(to_house(np.full((2, 2, 3), np.nan), "opencv")).all()


@pytest.mark.parametrize(
    "name", ["right, up, toward", " OpenGL ", "RIGHT UP TOWARD", "right  up\ttoward"]
)
def test_a_frame_is_read_whatever_its_case_and_spacing(name: str) -> None:
    assert str(parse_frame(name)) == HOUSE


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("right up", "right up toward"),
        ("right up towards", "right up toward"),
        ("right down forward", "right down toward"),
        ("open_cv", "opencv"),
        ("right left up", "right/left"),
        ("right up toward away", "up/down"),
        ("", "toward/away"),
        ("x y z", "opengl"),
    ],
)
def test_what_is_no_frame_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match="is no frame: three words") as caught:
        parse_frame(name)
    assert hint in str(caught.value)
