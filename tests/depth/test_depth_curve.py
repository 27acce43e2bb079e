"""Metres by a power law along the edges of the RGB cube, as Vision Banana paints them."""

from __future__ import annotations

import numpy as np
import pytest
from vgen_eval.imaging import Image
from vgen_eval.types import Scene
from vgen_eval_plugins.depth.colours import DepthColours
from vgen_eval_plugins.depth.encoders import DepthColoursEncoder
from vgen_eval_plugins.depth.table import DepthColoursOptions, DepthCurve, Table

CUBE = (
    "#000000", "#ff0000", "#ffff00", "#00ff00", "#00ffff", "#0000ff", "#ff00ff", "#ffffff",
)  # fmt: skip
OPTIONS = DepthColoursOptions(colours=CUBE, curve=DepthCurve(cap=200.0))


def test_segments_end_where_the_paper_puts_them():
    ends = Table(OPTIONS).depth_at(np.arange(8.0))
    assert ends[:7] == pytest.approx([0, 0.80, 1.83, 3.23, 5.28, 8.71, 16.46], abs=0.005)
    assert ends[7] == pytest.approx(200)  # infinity


def test_the_law_is_that_of_the_paper():
    depth = np.array([0.5, 1.0, 10.0, 80.0])
    assert OPTIONS.curve is not None
    assert OPTIONS.curve.share_of(depth) == pytest.approx(1 - (1 + depth / 10) ** -2.0)
    assert OPTIONS.curve.depth_at(OPTIONS.curve.share_of(depth)) == pytest.approx(depth)


@pytest.mark.parametrize(("depth", "step"), [(10.0, 0.02), (80.0, 2.0)])
def test_one_level_of_8_bits_is_as_long_as_the_paper_says(depth, step):
    table = Table(OPTIONS)
    at = table.place_of(np.array([depth]))
    after = table.depth_at(at + 1 / 255)
    assert after[0] - depth == pytest.approx(step, rel=0.15)


def test_what_is_painted_is_read_back():
    scene = Scene(image=Image(np.zeros((40, 50, 3), np.uint8)), size=(40, 50))
    rows, columns = np.mgrid[:40, :50]
    target = np.float32(0.3 * 1.1 ** (rows + columns / 3))
    picture = DepthColoursEncoder(OPTIONS).encode(target, scene)
    found = DepthColours(OPTIONS).decode(picture, scene).value
    assert found.space == "depth"
    near = target < 20
    assert np.abs(found.values - target)[near].max() < 0.1
    assert found.values.max() <= 200


def test_a_prompt_names_the_ends_of_the_segments():
    words = Table(OPTIONS).in_words()
    assert words.startswith("#000000 = 0 m, #ff0000 = 0.801 m, #ffff00 = 1.83 m")
    assert words.endswith("#ffffff = as far as can be seen")


def test_a_curve_stands_alone():
    with pytest.raises(ValueError, match="a curve says metres by itself"):
        DepthColoursOptions(colours=CUBE[:2], values=(1.0, 2.0), curve=DepthCurve())
