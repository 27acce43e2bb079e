"""What is shown of depth is what is scored: the same fit, the same pixels, the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.viewing import Pane, ScalarMap
from vgen_eval_plugins.depth.maps import DepthMap, Space
from vgen_eval_plugins.depth.metrics import AffineDepth, AffineDepthOptions
from vgen_eval_plugins.depth.view import DepthView
from viewkit import panes_of, roles

SIZE = (12, 16)
TRUTH = np.linspace(1.0, 6.0, 192, dtype=np.float32).reshape(SIZE)
NOISE = np.random.default_rng(3).normal(scale=0.05, size=SIZE)
VALID = np.arange(192).reshape(SIZE) % 7 > 0
FITS = (
    "depth_lsq", "disparity_lsq", "disparity_lsq_clamped", "midas", "depth_affine_robust",
    "log_lsq", "median",
)  # fmt: skip


def metric(**options: Any) -> AffineDepth:
    return AffineDepth(AffineDepthOptions(**options))


def shown(values: Any, space: Space, used: AffineDepth | None, **more: Any) -> list[Pane]:
    pred = DepthMap(np.asarray(values, np.float32), space)
    metrics = {} if used is None else {"affine_depth": used}
    more = {"target": TRUTH, "valid": VALID, "size": SIZE, **more}
    return list(panes_of(DepthView(), pred, more.pop("target"), metrics=metrics, **more))


def values(pane: Pane) -> NDArray[Any]:
    assert isinstance(pane.body, ScalarMap)
    return pane.body.values


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("space", ["relative", "depth"])
def test_the_pane_has_the_absrel_and_rmse_of_the_score(fit: Any, space: Space) -> None:
    used = metric(fit=fit, max_depth=5.5)
    raw = 1 / TRUTH + NOISE if fit in ("disparity_lsq", "disparity_lsq_clamped", "midas") else (
        TRUTH + 4 * NOISE
    )  # fmt: skip
    pred = DepthMap(raw.astype(np.float32), space)
    scored = used.compute(used.update(pred, TRUTH, VALID))
    panes = shown(raw, space, used)
    assert roles(panes) == ["target", "prediction", "error", "error"]
    counted = VALID & (TRUTH < 5.5) & (TRUTH > 1e-3)
    metres = values(panes[1]).astype(np.float64)
    absrel = (np.abs(metres - TRUTH) / TRUTH)[counted].mean()
    rmse = np.sqrt(((metres - TRUTH)[counted] ** 2).mean())
    assert absrel == pytest.approx(scored["absrel"], rel=1e-5)
    assert rmse == pytest.approx(scored["rmse"], rel=1e-5)
    signed, relative = values(panes[2]), values(panes[3])
    assert np.array_equal(np.isfinite(signed), counted)
    assert np.array_equal(np.isfinite(relative), counted)
    np.testing.assert_allclose(signed[counted], (metres - TRUTH)[counted], atol=1e-6)
    assert relative[counted].mean() == pytest.approx(scored["absrel"], rel=1e-5)
    assert f"{scored['absrel']:.3f}" in panes[3].note


def test_an_affine_answer_comes_back_as_the_truth_and_the_note_has_its_line() -> None:
    panes = shown((TRUTH - 1) / 4, "relative", metric(fit="depth_lsq"))
    np.testing.assert_allclose(values(panes[1]), TRUTH, rtol=1e-5)
    assert "depth = 4 x + 1." in panes[1].note
    assert "Near is bright" in panes[1].note
    assert np.nanmax(np.abs(values(panes[2]))) < 1e-4


def test_truth_and_prediction_share_one_range_and_errors_have_fixed_ones() -> None:
    target, pred, signed, relative = shown(TRUTH + NOISE, "depth", metric(max_depth=80.0))
    assert target.shares == pred.shares == "depth"
    bodies = [pane.body for pane in (target, pred, signed, relative)]
    assert all(isinstance(body, ScalarMap) for body in bodies)
    told = [(b.kind, b.unit, b.low, b.high, b.reverse) for b in bodies]  # type: ignore[union-attr]
    assert told == [
        ("sequential", "m", None, None, True),
        ("sequential", "m", None, None, True),
        ("diverging", "m", -0.5, 0.5, False),
        ("error", "", 0.0, 0.5, False),
    ]
    assert "±0.5 m, about a tenth of how far the target reaches (5.89 m" in signed.note


@pytest.mark.parametrize(
    ("scale", "end"), [(1.0, 0.5), (0.5, 0.2), (2.0, 1.0), (10.0, 5.0), (0.1, 0.05), (1e-6, 5e-7)]
)
@pytest.mark.parametrize("max_depth", [None, 1000.0])
def test_the_signed_error_ends_at_a_round_tenth_of_the_target_whoever_answers(
    scale: float, end: float, max_depth: float | None
) -> None:
    truth = (scale * TRUTH).astype(np.float32)
    used = metric(min_depth=1e-9, max_depth=max_depth)
    for answer in (truth, 1.5 * truth, truth[::-1]):
        body = shown(answer, "depth", used, target=truth)[2].body
        assert isinstance(body, ScalarMap)
        assert (body.low, body.high) == (-end, end)


def test_a_few_far_pixels_do_not_widen_the_colours_of_the_signed_error() -> None:
    truth = TRUTH.copy()
    truth[0, :3] = 900.0
    body = shown(TRUTH, "depth", metric(), target=truth)[2].body
    assert isinstance(body, ScalarMap)
    assert body.high == 0.5


def test_pixels_without_a_truth_and_beyond_the_crop_have_no_error() -> None:
    truth = np.full((480, 640), 3.0, np.float32)
    truth[:, 320:] = 4.0
    truth[100, 100] = np.nan
    pred = np.where(truth > 3.5, 0.2, 0.9)
    panes = shown(pred, "relative", metric(crop="eigen_nyu"), target=truth, valid=None,
                  size=(480, 640))  # fmt: skip
    inside = np.zeros((480, 640), bool)
    inside[45:471, 41:601] = True
    inside[100, 100] = False
    assert np.array_equal(np.isfinite(values(panes[2])), inside)
    assert np.isnan(values(panes[0])[100, 100])
    assert "crop eigen_nyu" in panes[2].note


def test_open_pixels_are_hatched_in_the_prediction_and_counted_in_the_error() -> None:
    raw = TRUTH.copy()
    raw[0, :] = np.nan
    used = metric(fit="depth_lsq")
    panes = shown(raw, "depth", used, valid=None)
    assert np.isnan(values(panes[1])[0]).all()
    scored = used.compute(used.update(DepthMap(raw, "depth"), TRUTH, None))
    assert values(panes[3]).mean() == pytest.approx(scored["absrel"], rel=1e-5)
    assert "Open pixels (8.3 %)" in panes[2].note


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (np.full(SIZE, 0.5), "No line can be fitted: the numbers"),
        (1 - TRUTH / 10, "No line can be fitted the right way round"),
    ],
)
def test_where_no_line_fits_the_numbers_are_shown_as_they_were_read(raw: Any, told: str) -> None:
    used = metric(fit="depth_lsq", require_polarity="near_is_dark")
    panes = shown(raw, "relative", used, substitute=True)
    np.testing.assert_allclose(values(panes[1]), raw.astype(np.float32))
    assert panes[1].shares == ""
    assert panes[1].title.startswith("Failure value")
    assert told in panes[1].note
    mean = float(TRUTH[VALID].mean(dtype=np.float64))
    assert f"Scored as {mean:.3g} m everywhere" in panes[1].note
    np.testing.assert_allclose(values(panes[2])[VALID], (mean - TRUTH)[VALID], atol=1e-5)


def test_metres_without_a_fit_stay_metres() -> None:
    panes = shown(TRUTH + 0.5, "depth", metric(fit="none"))
    np.testing.assert_allclose(values(panes[1]), TRUTH + 0.5, rtol=1e-6)
    assert "No fit: metres as they are" in panes[1].note
    assert panes[1].title == "Prediction"


@pytest.mark.parametrize(("space", "shares"), [("relative", ""), ("depth", "depth")])
def test_without_a_metric_or_a_valid_pixel_the_map_is_shown_alone(
    space: Space, shares: str
) -> None:
    for used, valid in ((None, VALID), (metric(), np.zeros(SIZE, bool))):
        panes = shown(TRUTH, space, used, valid=valid)
        assert roles(panes) == ["target", "prediction"]
        assert panes[1].shares == shares
    assert np.isnan(values(panes[0])).all()


def test_the_truth_alone_is_shown_where_nothing_was_scored() -> None:
    panes = panes_of(DepthView(), None, TRUTH, size=SIZE, metrics={"a": metric()})
    assert roles(panes) == ["target"]


def test_of_two_fits_the_first_is_shown_and_named() -> None:
    pred = DepthMap((TRUTH + NOISE).astype(np.float32), "relative")
    metrics = {"first": metric(fit="depth_lsq"), "second": metric(fit="median")}
    panes = panes_of(DepthView(), pred, TRUTH, size=SIZE, metrics=metrics)
    assert panes[1].note.endswith("As first has it.")
    scored = metrics["first"].compute(metrics["first"].update(pred, TRUTH, None))
    assert values(panes[3]).mean() == pytest.approx(scored["absrel"], rel=1e-5)
