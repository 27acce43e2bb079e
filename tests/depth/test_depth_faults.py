"""Faults that depth evaluations are known for, each made again small."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval.imaging import Image, decode_depth, encode_png
from vgen_eval.types import Scene
from vgen_eval_plugins.depth.colours import DepthColours
from vgen_eval_plugins.depth.luminance import Luminance
from vgen_eval_plugins.depth.maps import DepthMap
from vgen_eval_plugins.depth.metrics import AffineDepth
from vgen_eval_plugins.depth.native_map import DepthMapOptions, NativeDepth
from vgen_eval_plugins.depth.table import DepthColoursOptions

Map = NDArray[Any]


def scene_of(height: int, width: int) -> Scene:
    return Scene(image=Image(np.zeros((height, width, 3), np.uint8)), size=(height, width))


def metric(**options: Any) -> AffineDepth:
    return AffineDepth(AffineDepth.Options(**options))


def absrel(values: Map, target: Map, *, space: Any = "depth", fit: Any = "none") -> float:
    found = metric(fit=fit).update(DepthMap(values, space), target, None)
    return float(found["absrel"])


def ramp(near: float, far: float) -> NDArray[np.float32]:
    return np.linspace(near, far, 600).reshape(20, 30).astype(np.float32)


def test_millimetres_in_16_bits_are_not_squeezed_to_8() -> None:
    truth = np.round(np.linspace(500, 9500, 1200)).reshape(30, 40).astype(np.uint16)
    pred = np.round(truth * 1.1).astype(np.uint16)
    metres = [decode_depth(encode_png(a), what="a", scale=0.001) for a in (pred, truth)]
    assert (metres[1].min(), metres[1].max()) == pytest.approx((0.5, 9.5), abs=1e-6)
    assert absrel(*metres) == pytest.approx(0.1, abs=1e-4)


def test_flat_prediction_is_the_mean_depth_and_flagged() -> None:
    decoder = Luminance(Luminance.Options())
    flat = decoder.decode(np.full((20, 30, 3), 128, np.uint8), scene_of(20, 30))
    assert flat.flags == ("constant",)
    rule = metric(fit="depth_lsq")
    found = rule.update(flat.value, ramp(1, 5), None)
    assert found["absrel"] == pytest.approx(0.442108, abs=1e-4)
    assert found["absrel"] == pytest.approx(absrel(np.full((20, 30), 3.0), ramp(1, 5)), abs=1e-6)
    assert rule.flags(found) == ["degenerate_fit"]


def test_inverse_depth_is_fitted_to_inverse_depth() -> None:
    depth = 10 ** np.linspace(0, 1.6, 600).reshape(20, 30).astype(np.float32)
    answer = (1 / depth - 1 / depth.max()) / (1 - 1 / depth.max())  # affine in it, 0 the farthest
    read = NativeDepth(DepthMapOptions(space="disparity")).decode(answer, scene_of(20, 30)).value
    for fit in ("disparity_lsq", "disparity_lsq_clamped"):
        assert absrel(read.values, depth, space=read.space, fit=fit) <= 1e-4
    assert absrel(answer, depth, space="relative", fit="depth_lsq") > 0.5  # what is lost otherwise


def test_aligned_disparity_below_zero_is_no_negative_and_no_infinite_depth() -> None:
    target = np.array([[1.0, 2.0, 4.0, 8.0, 16.0, 80.0]])
    answer = np.array([[1.0, 0.5, 0.25, 0.125, 0.0625, -0.02]])
    slope, shift = np.polyfit(answer[0], 1 / target[0], 1)
    assert slope * -0.02 + shift == pytest.approx(-0.009375, abs=1e-4)
    read = NativeDepth(DepthMapOptions(space="disparity")).decode(answer, scene_of(1, 6)).value
    found = absrel(read.values, target, space=read.space, fit="disparity_lsq_clamped")
    assert found == pytest.approx(0.038136, abs=1e-4)


def test_pixels_without_a_reading_are_no_depth() -> None:
    floats = np.full((8, 8), 2.0, np.float32)
    floats[0], floats[1], floats[2], floats[3] = np.nan, np.inf, 0, -1
    buffer = io.BytesIO()
    np.save(buffer, floats)
    target = decode_depth(buffer.getvalue(), what="target")
    found = metric(fit="none").update(DepthMap(np.full((8, 8), 2.2), "depth"), target, None)
    assert (found["pixels"], found["absrel"]) == (32, pytest.approx(0.1, abs=1e-5))

    marked = np.full((8, 8), 2000, np.uint16)
    marked[:2], marked[2:4] = 65535, 0
    target = decode_depth(encode_png(marked), what="target", scale=0.001)
    valid = ~np.isin(marked, [0, 65535])
    found = metric(fit="none").update(DepthMap(np.full((8, 8), 2.2), "depth"), target, valid)
    assert (found["pixels"], found["absrel"]) == (32, pytest.approx(0.1, abs=1e-5))
    # the same markers in an answer leave its pixels open
    options = DepthMapOptions(scale=0.001, invalid=(0, 65535))
    read = NativeDepth(options).decode(marked, scene_of(8, 8)).value.values
    assert np.array_equal(np.isnan(read), ~valid)


def test_target_that_is_wholly_invalid_is_left_out_and_does_not_turn_the_mean_into_nan() -> None:
    rule, pred = metric(fit="none"), DepthMap(np.full((4, 4), 2.5, np.float32), "depth")
    scored, left_out = [], 0
    for target in (np.zeros((4, 4), np.float32), np.full((4, 4), 2.0, np.float32)):
        try:
            scored.append(rule.update(pred, target, None))
        except NoValidTarget:
            left_out += 1
    assert (len(scored), left_out) == (1, 1)
    assert rule.compute(scored[0])["absrel"] == pytest.approx(0.25, abs=1e-6)


def test_one_scale_for_each_encoding_gives_the_same_metres() -> None:
    depth = np.linspace(2, 60, 200).reshape(10, 20).astype(np.float32)
    for units in (256, 1000):
        stored = encode_png(np.round(depth * units).astype(np.uint16))
        target = decode_depth(stored, what="target", scale=1 / units)
        assert absrel(depth, target) == pytest.approx(0, abs=2e-3)
    wrong = decode_depth(encode_png(np.round(depth * 256).astype(np.uint16)), what="t", scale=1e-3)
    assert absrel(depth, wrong) == pytest.approx(2.90625, abs=2e-3)


def rainbow() -> list[tuple[int, int, int]]:
    """Blue over green to red in 256 steps, dark at both ends."""
    t = np.linspace(0, 1, 256)[:, None]
    rgb = np.clip(1.5 - np.abs(4 * t - np.array([3.0, 2.0, 1.0])), 0, 1) * 255
    return [(int(r), int(g), int(b)) for r, g, b in np.rint(rgb)]


def test_rainbow_map_is_flagged_in_grey_and_read_with_its_table() -> None:
    depth, table = ramp(1, 5), rainbow()
    painted = np.array(table, np.uint8)[np.rint((depth - 1) / 4 * 255).astype(int)]
    grey = Luminance(Luminance.Options()).decode(painted, scene_of(20, 30))
    assert "colour_in_gray" in grey.flags
    assert absrel(grey.value.values, depth, space="relative", fit="depth_lsq") > 0.3
    read = DepthColours(DepthColoursOptions(colours=tuple(table))).decode(painted, scene_of(20, 30))
    assert read.flags == ()
    assert absrel(read.value.values, depth, space="relative", fit="depth_lsq") <= 0.01
