"""Every way of bringing a map to metres, against plain numpy and scipy; the field's crops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from vgen_eval_plugins.depth.crops import crop_of
from vgen_eval_plugins.depth.fits import fit_robust
from vgen_eval_plugins.depth.luminance import Luminance, to_luminance
from vgen_eval_plugins.depth.maps import DepthMap
from vgen_eval_plugins.depth.metrics import AffineDepth
from vgen_eval_plugins.depth.pixels import spread_pixels


def score(values, target, **options):
    metric = AffineDepth(AffineDepth.Options(**options))
    return metric.update(DepthMap(np.asarray(values, np.float32), "relative"), target, None)


def absrel(found, target):
    return float(np.mean(np.abs(found - target) / target))


@pytest.fixture
def truth():
    rng = np.random.default_rng(4)
    rows, columns = np.mgrid[:48, :64]
    return np.float32(1 + rows / 12 + columns / 30 + 0.1 * rng.random((48, 64)))


def test_log_fit_is_least_squares_to_the_logarithm(truth):
    rng = np.random.default_rng(0)
    pred = np.float32(0.8 - 0.3 * np.log(truth) + 0.02 * rng.normal(size=truth.shape))
    p, d = pred.astype(np.float64).ravel(), truth.astype(np.float64).ravel()
    a, b = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), np.log(d), rcond=None)[0]
    found = score(pred, truth, fit="log_lsq")
    assert found["absrel"] == pytest.approx(absrel(np.exp(a * p + b), d), abs=1e-9)
    assert found["inverted"] == 0
    perfect = score(np.log(truth), truth, fit="log_lsq")
    assert perfect["absrel"] < 1e-6
    assert perfect["inverted"] == 1


def test_median_fit_scales_and_does_not_shift(truth):
    pred = truth * 3 + 1
    ratio = np.median(truth) / np.median(pred)
    found = score(pred, truth, fit="median")
    assert found["absrel"] == pytest.approx(absrel(pred * ratio, truth), abs=1e-6)
    assert score(truth * 7, truth, fit="median")["absrel"] < 1e-6
    assert score(np.zeros_like(truth), truth, fit="median")["degenerate"] == 1


def test_midas_fit_clamps_at_the_cap_and_not_at_the_farthest_pixel(truth):
    pred = np.where(truth > 5.5, 0.0, 1 / truth)  # what is far is infinitely far
    p, d = pred.astype(np.float64).ravel(), truth.astype(np.float64).ravel()
    a, b = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), 1 / d, rcond=None)[0]
    aligned = np.clip(1 / np.maximum(a * p + b, 1 / 10), 1e-3, 10)
    found = score(pred, truth, fit="midas", max_depth=10)
    assert found["absrel"] == pytest.approx(absrel(aligned, d), abs=1e-6)


def test_midas_fit_of_a_flat_map_is_the_cap_everywhere(truth):
    found = score(np.full_like(truth, 0.5), truth, fit="midas", max_depth=10)
    assert found["degenerate"] == 1
    assert found["absrel"] == pytest.approx(absrel(np.full_like(truth, 10), truth), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_robust_line_has_the_least_absolute_error_weighted_by_nearness(seed):
    rng = np.random.default_rng(seed)
    d = rng.uniform(1, 9, 300)
    x = 0.7 - 0.06 * d + rng.normal(size=300) * 0.01
    x[:60] = rng.random(60)  # outliers
    # as a linear programme: a, b and one bound for each residual
    weight = 1 / d
    rows = np.concatenate([np.stack([x, np.ones_like(x)], 1), -np.stack([x, np.ones_like(x)], 1)])
    bounds = np.concatenate([-np.eye(300), -np.eye(300)])
    programme = scipy.optimize.linprog(
        np.concatenate([[0, 0], weight]),
        A_ub=np.concatenate([rows, bounds], axis=1),
        b_ub=np.concatenate([d, -d]),
        bounds=[(None, None)] * 2 + [(0, None)] * 300,
    )
    line = fit_robust(x, d)
    cost = float((np.abs(line.slope * x + line.shift - d) * weight).sum())
    assert cost == pytest.approx(programme.fun, rel=1e-9)


def test_robust_fit_is_not_moved_by_outliers(truth):
    pred = 1 - truth / 10
    pred[:8] = np.random.default_rng(0).random((8, 64))
    robust = score(pred, truth, fit="depth_affine_robust")
    assert robust["delta1"] > 40 / 48
    assert robust["absrel"] < score(pred, truth, fit="depth_lsq")["absrel"]


def test_robust_fit_looks_at_one_known_pixel_a_cell_of_64_by_64():
    known = np.ones((480, 640), bool)
    some = spread_pixels(known, 64)
    assert len(some) == len(set(some)) == 64 * 64
    rows, columns = np.divmod(some.reshape(64, 64), 640)
    assert (rows[:3, 0].tolist(), columns[0, :3].tolist()) == ([3, 11, 18], [5, 15, 25])
    known[:, :320] = False
    known[3, 6], known[5, 5], known[3, 17] = True, True, True
    found = spread_pixels(known, 64)
    assert found[:2].tolist() == [3 * 640 + 6, 3 * 640 + 17]  # the nearest to each cell's middle
    assert known.reshape(-1)[found].all()
    assert spread_pixels(np.zeros((9, 9), bool), 64).size == 0
    assert spread_pixels(np.eye(3, dtype=bool), 64).tolist() == [0, 4, 8]


def test_robust_fit_without_an_answer_at_the_truth_is_the_mean(truth):
    pred = np.full_like(truth, np.nan)
    pred[0, 0], target = 0.5, truth.copy()
    target[0, 0] = np.nan
    found = score(pred, target, fit="depth_affine_robust")
    known = target[np.isfinite(target)].astype(np.float64)
    assert found["degenerate"] == 1
    assert found["absrel"] == pytest.approx(absrel(known.mean(), known), abs=1e-9)


@pytest.mark.parametrize("fit", ["log_lsq", "midas", "depth_affine_robust", "depth_lsq"])
def test_a_flat_map_is_scored_and_flagged(truth, fit):
    metric = AffineDepth(AffineDepth.Options(fit=fit))
    found = metric.update(DepthMap(np.full_like(truth, 0.5), "relative"), truth, None)
    assert "degenerate_fit" in metric.flags(found)
    assert np.isfinite(found["absrel"])


def test_nyu_crop_is_rows_45_to_470_and_columns_41_to_600():
    assert crop_of("eigen_nyu", (480, 640)) == (slice(45, 471), slice(41, 601))
    with pytest.raises(ValueError, match="640x480"):
        crop_of("eigen_nyu", (240, 320))


def test_kitti_crops_are_shares_of_height_and_width():
    assert crop_of("garg", (375, 1242)) == (slice(153, 371), slice(44, 1197))
    assert crop_of("eigen", (352, 1216)) == (slice(117, 321), slice(43, 1172))


def test_pixels_outside_of_the_crop_count_for_nothing():
    target = np.full((480, 640), 2.0, np.float32)
    target[45:471, 41:601] += np.linspace(0, 1, 560, dtype=np.float32)
    inside = target.copy()
    spoilt = np.random.default_rng(0).random(target.shape).astype(np.float32)
    spoilt[45:471, 41:601] = inside[45:471, 41:601]
    found = score(spoilt, target, fit="depth_lsq", crop="eigen_nyu")
    assert found["pixels"] == 426 * 560
    assert found["absrel"] < 1e-6
    assert score(spoilt, target, fit="depth_lsq")["absrel"] > 0.01


def test_luminance_may_be_made_linear_in_light():
    grey = np.repeat(np.uint8([[0, 10, 128, 255]])[..., None], 3, axis=2)
    found = to_luminance(grey, "bt709", "srgb")[0]
    assert found == pytest.approx([0, 10 / 255 / 12.92, 0.215861, 1.0], abs=1e-5)
    assert to_luminance(grey, "max", "srgb")[0] == pytest.approx(found, abs=1e-6)
    colour = np.uint8([[[200, 30, 90]]])
    light = [((v / 255 + 0.055) / 1.055) ** 2.4 for v in (200, 30, 90)]
    wanted = np.dot(light, (0.2126, 0.7152, 0.0722))
    assert to_luminance(colour, "bt709", "srgb")[0, 0] == pytest.approx(wanted, abs=1e-5)
    assert Luminance.Options().gamma == "none"


SCENES = {"near room": (1.1, 3.0), "long room": (0.6, 9.9), "street": (0.6, 290.0)}


def perfect_map(truth, kind):
    """8 bits, 2 to 98 % of the range, near bright: linear in 1 / depth or in depth."""
    values = 1 / truth if kind == "disparity" else -truth
    low, high = np.percentile(values, [2, 98])
    return np.rint(np.clip((values - low) / (high - low), 0, 1) * 255) / 255


@pytest.mark.parametrize("scene", SCENES)
def test_a_fit_in_the_other_space_penalises_a_perfect_map(scene):
    near, far = SCENES[scene]
    share = np.linspace(0, 1, 200)[:, None] * np.ones((1, 160))
    truth = np.float32(near * (far / near) ** share)
    numbers = {
        (kind, fit): score(perfect_map(truth, kind), truth, fit=fit)
        for kind in ("disparity", "depth")
        for fit in ("disparity_lsq_clamped", "depth_lsq")
    }
    for kind, own, other in (
        ("disparity", "disparity_lsq_clamped", "depth_lsq"),
        ("depth", "depth_lsq", "disparity_lsq_clamped"),
    ):
        assert numbers[kind, own]["absrel"] < 0.5 * numbers[kind, other]["absrel"]
        assert numbers[kind, own]["delta1"] >= numbers[kind, other]["delta1"]
    if scene == "near room":
        assert numbers["disparity", "depth_lsq"]["delta1"] > 0.95
    if scene == "street":
        assert numbers["disparity", "depth_lsq"]["delta1"] < 0.5
