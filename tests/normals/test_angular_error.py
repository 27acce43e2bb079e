"""Angular errors against a reference in double precision, and their edge cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from normals_kit import Floats, angles_between, random_normals, scene_of
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget
from vgen_eval_plugins.normals.angles import median_of_bins
from vgen_eval_plugins.normals.frames import from_house, to_house
from vgen_eval_plugins.normals.metrics import LIMITS, AngularError
from vgen_eval_plugins.normals.native_map import NormalMap

METRIC = AngularError(AngularError.Options())
FACING = np.array([0, 0, 1], np.float32)


def score(pred: Any, target: Any, valid: Any = None) -> dict[str, Any]:
    return dict(METRIC.compute(METRIC.update(pred, target, valid)))


def tilted(angles: NDArray[np.float64]) -> Floats:
    """Vectors at these angles, in degrees, from the direction of the camera."""
    radians = np.radians(angles)
    vectors = np.stack([np.sin(radians), np.zeros_like(radians), np.cos(radians)], axis=-1)
    return np.asarray(vectors, np.float32)


def against_facing(angles: Any) -> tuple[Floats, Floats]:
    """(pred, target), (1, n, 3): every pair at one of the angles."""
    pred = tilted(np.asarray(angles, np.float64)[None, :])
    return pred, np.broadcast_to(FACING, pred.shape)


def noisy(target: Floats, noise: float, seed: int) -> Floats:
    pred = target + noise * np.random.default_rng(seed).normal(size=target.shape)
    return np.asarray(pred / np.linalg.norm(pred, axis=-1, keepdims=True), np.float32)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from([1e-4, 0.01, 0.1, 0.4, 3.0]),
    st.floats(0, 1),
    st.integers(0, 9999),
)
def test_values_agree_with_double_precision(
    height: int, width: int, noise: float, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    target = random_normals(height, width, seed=seed)
    pred = noisy(target, noise, seed + 1)
    valid = rng.random((height, width)) <= share
    valid.flat[0] = True
    pred[rng.random((height, width)) < 0.1] = np.nan
    opened = np.isnan(pred[..., 0])
    errors = np.where(opened, 90.0, angles_between(np.where(opened[..., None], 0, pred), target))
    errors = errors[valid]

    found = score(pred, target, valid)
    assert found["mean"] == pytest.approx(errors.mean(), abs=2e-4)
    assert found["median"] == pytest.approx(np.median(errors), abs=1e-2)
    assert found["rmse"] == pytest.approx(np.sqrt((errors**2).mean()), abs=2e-4)
    for name, limit in LIMITS.items():
        near = (np.abs(errors - limit) < 1e-4).sum()  # may fall on either side
        assert found[name] * errors.size == pytest.approx((errors < limit).sum(), abs=near + 1e-6)
    for name in ("mean", "rmse", *LIMITS):
        assert found[f"pooled_{name}"] == pytest.approx(found[name], abs=1e-12)
    assert found["pooled_median"] == pytest.approx(np.median(errors), abs=0.1 + 1e-3)


def test_large_maps_are_the_sum_of_their_blocks() -> None:
    target = random_normals(300, 700)
    pred = noisy(target, 0.3, 5)
    errors = angles_between(pred, target)
    parts = METRIC.update(pred, target, None)
    assert parts["pixels"] == errors.size
    assert parts["sum"] == pytest.approx(errors.sum(), rel=1e-6)
    assert parts["squares"] == pytest.approx((errors**2).sum(), rel=1e-6)
    assert parts["median"] == pytest.approx(np.median(errors), abs=1e-4)
    counts, _ = np.histogram(errors, bins=1800, range=(0, 180))
    assert np.abs(np.array(parts["bins"]) - counts).sum() <= 20  # of 210,000, at the bins' borders
    assert sum(parts["bins"]) == errors.size


def test_worked_case() -> None:
    pred, target = against_facing([0, 4, 8, 12, 176])
    found = score(pred, target)
    assert found["mean"] == pytest.approx(40, abs=1e-3)
    assert found["median"] == pytest.approx(8, abs=1e-4)
    assert found["rmse"] == pytest.approx(np.sqrt((16 + 64 + 144 + 176**2) / 5), abs=1e-3)
    assert [found[name] for name in LIMITS] == pytest.approx([0.4, 0.4, 0.6, 0.8, 0.8])
    even = score(*against_facing([1, 2, 10, 20]))
    assert even["median"] == pytest.approx(6, abs=1e-4)
    assert even["pooled_median"] == pytest.approx(6, abs=0.1)


@pytest.mark.parametrize(("name", "limit"), LIMITS.items())
def test_a_limit_is_one_of_angles_below_it(name: str, limit: float) -> None:
    assert score(*against_facing([limit - 1e-3]))[name] == 1.0
    assert score(*against_facing([limit + 1e-3]))[name] == 0.0


def test_identical_normals_have_no_error_at_all() -> None:
    target = random_normals(50, 60)
    dots = (target * target).sum(axis=2)
    assert (dots > 1).any()  # an arc cosine would give NaN
    found = score(target.copy(), target)
    assert [found[name] for name in ("mean", "median", "rmse", "pooled_median")] == [0, 0, 0, 0]
    assert all(found[name] == 1 for name in found if "within" in name)


def test_opposite_normals_are_half_a_turn_apart() -> None:
    target = random_normals(20, 20)
    found = score(-target, target)
    assert found["mean"] == pytest.approx(180, abs=0.05)
    assert found["pooled_median"] == pytest.approx(180, abs=0.1)
    assert METRIC.update(-target, target, None)["bins"][-1] == 400


def test_one_surface_in_two_frames_is_one_surface() -> None:
    surface = random_normals(48, 48)
    surface[..., 2] = np.abs(surface[..., 2])  # what a camera sees
    file = from_house(surface, "opencv")
    answer = NormalMap(NormalMap.Options(frame="opengl")).decode(surface, scene_of(48, 48)).value
    assert score(answer, to_house(file, "opencv"))["mean"] <= 1e-3
    assert score(answer, file)["mean"] > 60
    assert score(answer, file * np.float32([1, -1, 1]))["mean"] > 60


def test_zero_vectors_are_unknown_in_the_truth_and_wrong_in_the_answer() -> None:
    target = random_normals(40, 50)
    answer = target.copy()
    target[0] = 0
    answer[1] = 0
    decoded = NormalMap(NormalMap.Options()).decode(answer, scene_of(40, 50)).value
    for pred in (answer, decoded):
        parts = METRIC.update(pred, target, None)
        assert (parts["pixels"], parts["open"]) == (1950, 50)
        found = METRIC.compute(parts)
        assert found["mean"] == pytest.approx(90 * 50 / 1950, abs=1e-4)
        assert found["median"] == pytest.approx(0, abs=1e-4)
        assert found["within_30"] == 1900 / 1950


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, 1e30])
def test_a_pixel_left_open_counts_as_a_right_angle(bad: float) -> None:
    target = np.tile(FACING, (2, 2, 1))
    pred = target.copy()
    pred[0, 0] = bad
    assert score(pred, target)["mean"] == 22.5
    assert score(np.full_like(target, bad), target)["median"] == 90.0


def test_what_is_open_where_nothing_is_known_counts_for_nothing() -> None:
    target = random_normals(6, 6)
    pred = target.copy()
    pred[:3], target[:2] = np.nan, np.nan
    valid = np.ones((6, 6), bool)
    valid[2] = False
    parts = METRIC.update(pred, target, valid)
    assert (parts["pixels"], parts["open"], parts["mean"]) == (18, 0, 0.0)


def test_lengths_do_not_count() -> None:
    target = random_normals(20, 20)
    pred = noisy(target, 0.3, 1)
    exact = score(pred, target)
    for scale in (0.6, 1.01, 3.0):
        assert score(pred * np.float32(scale), target)["mean"] == pytest.approx(
            exact["mean"], abs=1e-3
        )
        assert score(pred, target * np.float32(scale))["mean"] == pytest.approx(
            exact["mean"], abs=1e-3
        )


def test_any_layout_and_type_of_array_is_taken() -> None:
    target = random_normals(12, 14)
    pred = noisy(target, 0.3, 1)
    exact = score(pred, target)["mean"]
    assert score(pred.astype(np.float64), target.astype(np.float64))["mean"] == exact
    assert score(pred[::-1, ::-1], target[::-1, ::-1])["mean"] == pytest.approx(exact, abs=1e-6)
    planes = np.moveaxis(np.ascontiguousarray(np.moveaxis(pred, 2, 0)), 0, 2)
    assert score(planes, target)["mean"] == exact
    valid = np.ones((12, 14), np.uint8)
    assert score(pred, target, valid)["mean"] == exact


def test_pictures_average_and_pixels_pool() -> None:
    small = METRIC.update(*against_facing([10.0]), None)
    large = METRIC.update(*against_facing([40.0] * 9), None)
    merged = METRIC.merge(small, large)
    assert merged == METRIC.merge(large, small)
    found = METRIC.compute(merged)
    assert found["mean"] == pytest.approx(25, abs=1e-3)
    assert found["pooled_mean"] == pytest.approx(37, abs=1e-3)
    assert found["median"] == pytest.approx(25, abs=1e-3)
    assert found["pooled_median"] == pytest.approx(40, abs=0.1)
    assert found["pooled_rmse"] == pytest.approx(np.sqrt((100 + 9 * 1600) / 10), abs=1e-3)
    assert (found["within_11_25"], found["pooled_within_11_25"]) == (0.5, 0.1)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(0, 180), min_size=1, max_size=40), st.integers(0, 3))
def test_pooled_median_is_within_a_bin_of_the_exact_one(angles: list[float], copies: int) -> None:
    values = np.array(angles * (copies + 1))
    bins, _ = np.histogram(values, bins=1800, range=(0, 180))
    assert median_of_bins(bins) == pytest.approx(np.median(values), abs=0.1 + 1e-9)
    exact = int((values < 1e-3).sum())
    assert median_of_bins(bins, exact=exact) == pytest.approx(np.median(values), abs=0.1 + 1e-9)


def test_statistics_are_small_and_plain() -> None:
    from vgen_eval import jsonio

    parts = METRIC.update(*against_facing([10.0, 20.0]), None)
    assert jsonio.plain(parts, "statistics") == parts
    assert len(parts["bins"]) == 1800
    assert all(type(count) is int for count in parts["bins"])


def test_values_say_what_they_are() -> None:
    told = {value.name: value for value in METRIC.values}
    assert list(told) == [
        "mean", "median", "rmse", *LIMITS,
        "pooled_mean", "pooled_median", "pooled_rmse",
        *(f"pooled_{name}" for name in LIMITS), "open",
    ]  # fmt: skip
    assert set(score(*against_facing([1.0]))) == {value.of for value in METRIC.values}
    assert (told.pop("open").aggregation, METRIC.values[-1].higher_is_better) == ("pooled", False)
    for name, value in told.items():
        assert value.aggregation == ("pooled" if name.startswith("pooled") else "mean")
        assert value.higher_is_better == ("within" in name)
        assert value.unit == ("" if "within" in name else "deg")


def test_a_truth_that_says_too_little_is_no_target() -> None:
    target = random_normals(4, 4)
    with pytest.raises(NoValidTarget, match="0 pixels"):
        METRIC.update(target, np.zeros_like(target), None)
    with pytest.raises(NoValidTarget, match="0 pixels"):
        METRIC.update(target, target, np.zeros((4, 4), bool))
    strict = AngularError(AngularError.Options(min_valid=10))
    valid = np.arange(16).reshape(4, 4) < 9
    with pytest.raises(NoValidTarget, match="9 pixels of the normals have a known truth, 10"):
        strict.update(target, target, valid)
    valid[3, 3] = True
    assert strict.update(target, target, valid)["pixels"] == 10


@pytest.mark.parametrize(
    ("pred", "target", "valid"),
    [
        ((4, 4, 3), (4, 5, 3), None),
        ((4, 4), (4, 4), None),
        ((4, 4, 2), (4, 4, 2), None),
        ((4, 4, 3), (4, 4, 3), (4, 5)),
    ],
)
def test_shapes_that_do_not_fit_are_refused(pred: Any, target: Any, valid: Any) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        METRIC.update(np.ones(pred), np.ones(target), None if valid is None else np.ones(valid))


def test_no_pictures_have_no_values() -> None:
    parts = METRIC.update(*against_facing([1.0]), None)
    nothing = {key: [0] * 1800 if key == "bins" else 0 for key in parts}
    assert set(METRIC.compute(nothing).values()) == {None}
