"""Polygons and run lengths: pixel for pixel what pycocotools makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pycocotools.mask
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval_plugins.datasets.segments import draw_segments, pack_mask, unpack_mask

SIZE = (40, 50)


def runs_of(mask: NDArray[np.bool_]) -> list[int]:
    flat = mask.T.ravel()
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flat, [not flat[-1]]])))
    starts = np.concatenate([[0], edges])
    return [int(n) for n in np.diff(starts)]


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_polygons_are_drawn_as_coco_draws_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    polygons = [(rng.random(2 * rng.integers(3, 8)) * 60 - 5).tolist() for _ in range(3)]
    mask = draw_segments(polygons, SIZE)
    theirs = pycocotools.mask.decode(pycocotools.mask.frPyObjects(polygons, *SIZE))
    assert mask.dtype == bool
    assert np.array_equal(mask, theirs.sum(axis=2) > 0)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_run_lengths_come_back_whatever_their_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = (int(rng.integers(1, 80)), int(rng.integers(1, 80)))
    mask = rng.random(size) < rng.choice([0, 0.01, 0.5, 0.99, 1])
    packed = pack_mask(mask)
    plain = {"size": list(size), "counts": runs_of(mask)}
    assert np.array_equal(unpack_mask(packed, size), mask)
    for form in ({"size": list(size), "counts": packed}, plain):
        assert np.array_equal(draw_segments(form, size), mask)
        assert np.array_equal(draw_segments([form], size), mask)


def test_parts_are_joined_and_none_is_empty() -> None:
    square, other = [2, 2, 10, 2, 10, 10, 2, 10], [20, 20, 30, 20, 30, 30]
    joined = draw_segments([square, other], SIZE)
    assert np.array_equal(joined, draw_segments([square], SIZE) | draw_segments([other], SIZE))
    assert not draw_segments([], SIZE).any()
    assert not draw_segments([[1, 1, 2, 2]], SIZE).any()  # a line has no pixels


@pytest.mark.parametrize(
    ("segmentation", "reason"),
    [
        ("polygon", "no list of parts"),
        (7, "no list of parts"),
        ([[1, 2, 3, 4, 5]], "x, y"),
        ([["a"] * 6], "x, y"),
        ([[True] * 6], "x, y"),
        ([[1, 2, 3, 4, 5, float("nan")]], "far outside"),
        ([[1, 2, 3, 4, 5, 1e12]], "far outside"),
        ({"size": [40, 51], "counts": [2000]}, "of the size"),
        ({"size": [40, 50], "counts": [1999]}, "add up to 1999"),
        ({"size": [40, 50], "counts": [-1, 2001]}, "whole numbers"),
        ({"size": [40, 50], "counts": None}, "whole numbers"),
        ({"counts": [2000]}, "of the size"),
        ({"size": [40, 50], "counts": "0"}, "do not fill"),
        ({"size": [40, 50], "counts": "`"}, "cut off"),
        ({"size": [40, 50], "counts": "\x7f"}, "character"),
        ({"size": [40, 50], "counts": "o" * 12 + "0"}, "no picture has"),
    ],
)
def test_what_is_no_segmentation_is_refused(segmentation: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        draw_segments(segmentation, SIZE)


def test_every_cut_of_run_lengths_is_refused() -> None:
    mask = np.random.default_rng(0).random(SIZE) < 0.3
    packed = pack_mask(mask)
    for end in range(len(packed)):
        with pytest.raises(ValueError, match=r"cut off|fill"):
            unpack_mask(packed[:end], SIZE)
