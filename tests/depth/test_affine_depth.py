"""Affine depth: against plain numpy, at the edges, and merged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval_plugins.depth.fits import BLOCK, fit_line
from vgen_eval_plugins.depth.maps import DepthMap
from vgen_eval_plugins.depth.metrics import AffineDepth

Map = NDArray[Any]
FITS = ("depth_lsq", "disparity_lsq", "disparity_lsq_clamped")
NAMES = ("delta1", "delta2", "delta3", "absrel", "rmse", "log10")


def metric(**options: Any) -> AffineDepth:
    return AffineDepth(AffineDepth.Options(**options))


def score(
    values: Any, target: Any, valid: Any = None, *, space: Any = "relative", **options: Any
) -> dict[str, Any]:
    pred = DepthMap(np.atleast_2d(np.asarray(values, np.float32)), space)
    truth = np.atleast_2d(np.asarray(target, np.float32))
    return metric(**options).update(pred, truth, valid)


def plain_reference(
    values: Map, target: Map, fit: str, *, low: float = 1e-3, high: float = math.inf
) -> dict[str, float]:
    """The definitions in float64, with numpy's own solver; relative map, no open pixels."""
    known = np.isfinite(target) & (target > np.float32(low)) & (target < np.float32(high))
    p, d = values[known].astype(np.float64), target[known].astype(np.float64)
    goal = d if fit == "depth_lsq" else 1 / d
    used = p > 0 if fit == "disparity_lsq" else np.ones(len(p), bool)
    a, b = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1)[used], goal[used], rcond=None)[0]
    found = a * p + b
    if fit == "disparity_lsq":
        found = 1 / np.maximum(found, 1e-3)
    elif fit == "disparity_lsq_clamped":
        found = 1 / np.maximum(found, 1 / d.max())
    found = np.clip(found, low, high)
    ratio = np.maximum(found / d, d / found)
    return {
        "delta1": float(np.mean(ratio < 1.25)),
        "delta2": float(np.mean(ratio < 1.25**2)),
        "delta3": float(np.mean(ratio < 1.25**3)),
        "absrel": float(np.mean(np.abs(found - d) / d)),
        "rmse": float(np.sqrt(np.mean((found - d) ** 2))),
        "log10": float(np.mean(np.abs(np.log10(found) - np.log10(d)))),
    }


def random_pair(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Map, Map]:
    target = rng.uniform(0.3, 30, shape).astype(np.float32)
    values = (1 / target + rng.normal(0, 0.2, shape)).astype(np.float32)
    return values, target


@settings(max_examples=120, deadline=None)
@given(
    st.integers(2, 40), st.integers(2, 40), st.integers(0, 10_000), st.sampled_from(FITS),
    st.sampled_from([math.inf, 10.0]), st.booleans(),
)  # fmt: skip
def test_agrees_with_plain_numpy(
    height: int, width: int, seed: int, fit: str, high: float, holes: bool
) -> None:
    rng = np.random.default_rng(seed)
    values, target = random_pair(rng, (height, width))
    if holes:
        target[rng.random(target.shape) < 0.4] = np.nan
        target[rng.random(target.shape) < 0.1] = 0
    target[0, :2], values[0, :2] = (1.0, 2.0), (0.9, 0.4)
    found = score(values, target, fit=fit, max_depth=None if math.isinf(high) else high)
    wanted = plain_reference(values, target, fit, high=high)
    for name in NAMES:
        assert found[name] == pytest.approx(wanted[name], rel=1e-9, abs=1e-12), name
    assert found["pixels"] == np.count_nonzero((target > 1e-3) & (target < high))


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_agrees_with_plain_numpy_over_several_blocks(fit: str, holes: float) -> None:
    rng = np.random.default_rng(5)
    values, target = random_pair(rng, (300, 401))
    assert values.size > 3 * BLOCK
    target[rng.random(target.shape) < holes] = np.nan
    found, wanted = score(values, target, fit=fit), plain_reference(values, target, fit)
    assert {n: found[n] for n in NAMES} == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("offset", [0.0, 0.5, 100.0])
def test_line_is_that_of_an_orthogonal_solver_to_1e_10(inverse: bool, offset: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.random(2 * BLOCK + 17) + offset
    depth = 1 + 3 * (x - offset) + rng.normal(0, 0.1, x.size) + 1
    line = fit_line(x, depth, space="disparity" if inverse else "depth")
    goal = 1 / depth if inverse else depth
    centred = x - x.mean()  # the same line, better conditioned
    slope, level = np.linalg.lstsq(np.stack([centred, np.ones_like(x)], 1), goal, rcond=None)[0]
    assert line.slope == pytest.approx(slope, rel=1e-10)
    assert line.shift == pytest.approx(level - slope * x.mean(), rel=1e-10)


def test_numbers_on_a_large_offset_are_fitted_without_cancellation() -> None:
    ramp = np.arange(50_000, dtype=np.float64)
    line = fit_line(1e9 + ramp, 2 + ramp / 1000, space="depth")
    assert line.slope == pytest.approx(1e-3, rel=1e-9)
    assert not line.degenerate


@given(st.floats(0.01, 50), st.floats(-5, 5), st.sampled_from(["depth_lsq", FITS[2]]))
def test_any_scale_and_shift_is_forgiven(scale: float, shift: float, fit: str) -> None:
    target = np.linspace(1, 9, 77, dtype=np.float32).reshape(7, 11)
    linear = target if fit == "depth_lsq" else 1 / target
    found = score(scale * linear + shift, target, fit=fit)
    assert found["delta1"] == 1.0
    assert found["absrel"] < 5e-4  # float32 on a large shift


def test_thresholds_are_strict() -> None:
    found = score([2.5, 3.125, 3.90625, 4.0], [2.0, 2.0, 2.0, 5.0], space="depth", fit="none")
    assert (found["delta1"], found["delta2"], found["delta3"]) == (0.0, 0.5, 0.75)


def test_values_of_a_worked_example() -> None:
    found = score([2.0, 1.0], [1.0, 2.0], space="depth", fit="none")
    assert found["absrel"] == pytest.approx((1.0 + 0.5) / 2)
    assert found["rmse"] == pytest.approx(1.0)
    assert found["log10"] == pytest.approx(math.log10(2))


def test_log_error_of_ratios_too_large_to_multiply() -> None:
    found = score(np.full((1, 64), 1e30), np.full((1, 64), 1.0), space="depth", fit="none")
    assert found["log10"] == pytest.approx(30, rel=1e-7)


@pytest.mark.parametrize("fit", FITS)
def test_constant_prediction_is_the_mean_and_said_to_be_degenerate(fit: str) -> None:
    target = np.linspace(1, 5, 600, dtype=np.float32).reshape(20, 30)
    truth = target.astype(np.float64)
    level = truth.mean() if fit == "depth_lsq" else 1 / (1 / truth).mean()
    for constant in (0.0, 0.5, 128 / 255, 1e6):
        found = score(np.full((20, 30), constant), target, fit=fit)
        assert found["absrel"] == pytest.approx(np.mean(np.abs(level - truth) / truth), rel=1e-9)
        assert metric(fit=fit).flags(found) == ["degenerate_fit"]


def test_one_grey_level_somewhere_is_a_line_all_the_same() -> None:
    values = np.full((1000, 1000), 0.5, np.float32)
    values[3, 4] = 0.5 + 1 / 255
    found = score(values, np.linspace(1, 5, 1_000_000).reshape(1000, 1000), fit="depth_lsq")
    assert found["degenerate"] == 0


@pytest.mark.parametrize("fit", FITS)
def test_a_map_the_wrong_way_round_is_flagged_and_not_punished(fit: str) -> None:
    target = np.linspace(2, 6, 99, dtype=np.float32).reshape(9, 11)
    bright_near = 3 - target / 2 if fit == "depth_lsq" else 1 / target
    right = score(bright_near, target, fit=fit)
    wrong = score(3 - bright_near, target, fit=fit)
    assert metric(fit=fit).flags(right) == []
    assert metric(fit=fit).flags(wrong) == ["inverted"]
    assert wrong["absrel"] == pytest.approx(right["absrel"], abs=1e-6)


@pytest.mark.parametrize("fit", ["depth_lsq", "disparity_lsq_clamped"])
def test_required_polarity_turns_the_other_sign_into_the_constant_fit(fit: str) -> None:
    target = np.linspace(2, 6, 99, dtype=np.float32).reshape(9, 11)
    bright, dark = 1 / target, 1 - 1 / target
    flat = score(np.full(target.shape, 0.5), target, fit=fit)["absrel"]
    for wanted, good, bad in (("near_is_bright", bright, dark), ("near_is_dark", dark, bright)):
        rule = metric(fit=fit, require_polarity=wanted)
        kept = score(good, target, fit=fit, require_polarity=wanted)
        lost = score(bad, target, fit=fit, require_polarity=wanted)
        assert rule.flags(kept) == []
        assert kept["absrel"] < flat / 2
        assert rule.flags(lost) == ["degenerate_fit", "inverted"]
        assert lost["absrel"] == pytest.approx(flat, rel=1e-9)


def test_spaces_are_converted_to_that_of_the_fit() -> None:
    target = np.linspace(1, 8, 50, dtype=np.float32).reshape(5, 10)
    for fit in FITS:
        for space, values in (("depth", 3 * target), ("disparity", 0.2 / target)):
            found = score(values, target, space=space, fit=fit)
            assert found["absrel"] < 1e-6
            assert metric(fit=fit).flags(found) == []
    assert score(1 / target, target, space="disparity", fit="none")["absrel"] < 1e-6
    crooked = score(1 / target, target, space="relative", fit="depth_lsq")
    assert crooked["absrel"] > 0.05


def test_a_map_in_metres_that_runs_backwards_is_inverted() -> None:
    target = np.linspace(1, 8, 50, dtype=np.float32).reshape(5, 10)
    assert score(9 - target, target, space="depth", fit="depth_lsq")["inverted"] == 1
    assert score(9 - target, target, space="depth", fit="none")["inverted"] == 0


def test_what_cannot_be_inverted_has_no_answer_but_is_scored() -> None:
    target = np.array([[1.0, 2.0, 4.0, 3.0, 3.0]])
    found = score([[1.0, 2.0, 4.0, 0.0, -1.0]], target, space="depth", fit="disparity_lsq_clamped")
    assert (found["pixels"], found["open"]) == (5, 2)
    stand_in = 1 / ((1 + 1 / 2 + 1 / 4) / 3)
    assert found["absrel"] == pytest.approx(2 * abs(stand_in - 3) / 3 / 5, rel=1e-6)


def test_open_pixels_take_the_mean_of_the_others_and_leave_the_fit() -> None:
    target = np.array([[1.0, 2.0, 3.0, 9.0]])
    found = score([[0.1, 0.2, 0.3, np.nan]], target, fit="depth_lsq")
    assert found["absrel"] == pytest.approx((9 - 2) / 9 / 4, rel=1e-5)
    metres = score([[1.0, 2.0, 3.0, np.inf]], target, space="depth", fit="none")
    assert metres["absrel"] == pytest.approx((9 - 2) / 9 / 4)
    assert metres["open"] == 1


@pytest.mark.parametrize("fit", FITS)
def test_all_open_at_valid_targets_is_the_constant_fit(fit: str) -> None:
    target = np.array([[1.0, 2.0, 4.0, np.nan]])
    found = score([[np.nan, np.nan, np.nan, 0.3]], target, fit=fit)
    flat = score([[0.5, 0.5, 0.5, 0.5]], target, fit=fit)
    assert (found["open"], found["degenerate"]) == (3, 1)
    assert found["absrel"] == pytest.approx(flat["absrel"])


def test_without_a_fit_all_open_is_the_mean_of_the_map_or_the_least_depth() -> None:
    target = np.array([[2.0, 2.0, np.nan]])
    elsewhere = score([[np.nan, np.nan, 3.0]], target, space="depth", fit="none")
    assert (elsewhere["absrel"], elsewhere["degenerate"]) == (pytest.approx(0.5), 1)
    nowhere = score(np.full((1, 3), np.nan), target, space="depth", fit="none")
    assert nowhere["absrel"] == pytest.approx(0.9995)


def test_saturated_black_leaves_the_disparity_fit_and_is_scored() -> None:
    target = np.array([[1.0, 2.0, 4.0, 5.0]])
    values = [[1.0, 0.5, 0.25, 0.0]]
    fitted = score(values, target, fit="disparity_lsq", max_depth=10)
    assert fitted["absrel"] == pytest.approx((10 - 5) / 5 / 4, rel=1e-5)  # 1 / 1e-3, clipped to 10
    black = score(np.zeros((1, 4)), target, fit="disparity_lsq")
    assert (black["degenerate"], black["delta3"] > 0) == (1, True)


def test_bounds_are_strict_and_compare_in_float32() -> None:
    target = np.array([[0.001, 0.0011, 5.0, 10.0, 9.9]])
    assert np.float64(np.float32(0.001)) > 0.001  # a float64 test would let it pass
    found = score(target * 0 + 1, target, space="depth", fit="none", max_depth=10)
    assert found["pixels"] == 3


def test_aligned_depth_is_clipped_to_the_bounds() -> None:
    found = score(
        [[50.0, 0.001]], [[5.0, 5.0]], space="depth", fit="none", min_depth=1, max_depth=8
    )
    assert found["absrel"] == pytest.approx((3 / 5 + 4 / 5) / 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0, -1.0])
def test_targets_that_are_no_depth_are_not_valid(bad: float) -> None:
    found = score([[1.1, 7.0]], [[1.0, bad]], space="depth", fit="none")
    assert (found["pixels"], found["absrel"]) == (1, pytest.approx(0.1))


def test_pixels_that_are_not_valid_count_for_nothing() -> None:
    valid = np.array([[True, False]])
    found = score([[1.1, 9.0]], [[1.0, 2.0]], valid, space="depth", fit="none")
    assert (found["pixels"], found["absrel"]) == (1, pytest.approx(0.1))


@pytest.mark.parametrize("target", [[[np.nan, 0.0]], [[0.0005, -3.0]], np.zeros((0, 0))])
def test_target_without_a_valid_pixel_is_a_fault_of_the_data(target: Any) -> None:
    truth = np.asarray(target, np.float32)
    with pytest.raises(NoValidTarget):
        metric().update(DepthMap(np.ones(truth.shape, np.float32), "relative"), truth, None)


def test_picture_under_min_valid_has_no_target() -> None:
    assert score(np.arange(10), np.arange(1, 11), min_valid=10)["pixels"] == 10
    with pytest.raises(NoValidTarget, match="9 pixels have a valid depth, 10 are needed"):
        score(np.arange(9), np.arange(1, 10), min_valid=10)
    with pytest.raises(NoValidTarget):
        score(np.arange(10), [*range(1, 10), 0], min_valid=10)


def test_relative_map_without_a_fit_is_refused_with_the_cure() -> None:
    with pytest.raises(ValueError, match="give the metric a fit"):
        score([[0.5]], [[1.0]], fit="none")


def test_shapes_that_differ_and_other_things_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        score(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="differ in shape"):
        score(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 2), bool))
    with pytest.raises(TypeError, match="DepthMap"):
        metric().update(np.ones((2, 2)), np.ones((2, 2)), None)


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match="max_depth"):
        AffineDepth.Options(min_depth=2, max_depth=1)


@given(st.lists(st.integers(0, 999), min_size=2, max_size=6))
def test_merged_values_are_the_means_over_pictures(seeds: list[int]) -> None:
    rule = metric(fit="depth_lsq")
    parts = []
    for seed in seeds:
        values, target = random_pair(np.random.default_rng(seed), (4, 5 + seed % 7))
        parts.append(rule.update(DepthMap(values, "relative"), target, None))
    merged = parts[0]
    for part in parts[1:]:
        merged = rule.merge(merged, part)
    found = rule.compute(merged)
    for name in NAMES:
        mean = np.mean([rule.compute(part)[name] or 0.0 for part in parts])
        assert found[name] == pytest.approx(mean, rel=1e-12)
    assert merged["n"] == len(parts)


def test_values_over_nothing_are_undefined() -> None:
    nothing = dict.fromkeys(score([[1.0, 2.0]], [[1.0, 2.0]]), 0)
    assert set(metric().compute(nothing).values()) == {None}
    assert [value.name for value in AffineDepth.values] == [*NAMES, "open"]


def test_arguments_are_left_as_they_were() -> None:
    values, target = random_pair(np.random.default_rng(3), (9, 9))
    before = values.copy(), target.copy()
    metric().update(DepthMap(values, "relative"), target, None)
    assert np.array_equal(values, before[0])
    assert np.array_equal(target, before[1])
