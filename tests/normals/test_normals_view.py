"""What is shown of normals: unit vectors in one frame, and the very angles that are scored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from normals_kit import angles_between, dome, random_normals
from vgen_eval.viewing import Directions, ScalarMap
from vgen_eval_plugins.normals.metrics import AngularError
from vgen_eval_plugins.normals.view import NormalsView
from viewkit import panes_of, roles

SIZE = (20, 24)


def metric(**options: Any) -> AngularError:
    return AngularError(AngularError.Options(**options))


def test_the_error_pane_is_the_angle_and_its_mean_is_the_score() -> None:
    truth, pred = dome(*SIZE), random_normals(*SIZE, seed=4)
    valid = np.arange(480).reshape(SIZE) % 5 > 0
    truth[3, 3] = 0.0
    used = metric()
    panes = panes_of(NormalsView(), pred, truth, size=SIZE, valid=valid, metrics={"a": used})
    assert roles(panes) == ["target", "prediction", "error"]
    body = panes[2].body
    assert isinstance(body, ScalarMap)
    counted = valid.copy()
    counted[3, 3] = False
    assert np.array_equal(np.isfinite(body.values), counted)
    wanted = angles_between(pred, truth)[counted]
    np.testing.assert_allclose(body.values[counted], wanted, atol=2e-2)
    scored = used.compute(used.update(pred, truth, valid))
    assert body.values[counted].mean(dtype=np.float64) == pytest.approx(scored["mean"], abs=1e-4)
    assert np.median(body.values[counted]) == pytest.approx(scored["median"], abs=1e-4)
    assert f"Mean {scored['mean']:.1f}, median {scored['median']:.1f} deg" in panes[2].note
    told = (body.kind, body.unit, body.low, body.high, body.ticks)
    assert told == ("error", "deg", 0.0, 45.0, (11.25, 22.5, 30.0))


def test_vectors_are_of_length_1_and_unknown_where_they_are_not_known() -> None:
    truth = dome(*SIZE) * np.float32(0.7)
    truth[0, 0], truth[0, 1] = np.nan, 0.0
    valid = np.ones(SIZE, bool)
    valid[5] = False
    panes = panes_of(NormalsView(), dome(*SIZE), truth, size=SIZE, valid=valid,
                     summary={"frame": "right down away"})  # fmt: skip
    body = panes[0].body
    assert isinstance(body, Directions)
    assert body.frame == "right up toward"
    assert np.isnan(body.values[[0, 0, 5], [0, 1, 9]]).all()
    np.testing.assert_allclose(body.values[9], dome(*SIZE)[9], atol=1e-6)
    assert "read as right down away" in panes[1].note
    assert "Red points right" in panes[1].note


@pytest.mark.parametrize(("short", "angle"), [("right_angle", 90.0), ("drop", np.nan)])
def test_open_pixels_are_a_right_angle_or_dropped_as_they_are_scored(
    short: str, angle: float
) -> None:
    truth, pred = dome(*SIZE), dome(*SIZE)
    pred[2, 2] = np.nan
    used = metric(short=short)
    panes = panes_of(NormalsView(), pred, truth, size=SIZE, metrics={"a": used})
    body = panes[2].body
    assert isinstance(body, ScalarMap)
    assert body.values[2, 2] == pytest.approx(angle, nan_ok=True)
    scored = used.compute(used.update(pred, truth, None))
    assert np.nanmean(body.values) == pytest.approx(scored["mean"], abs=1e-4)
    assert ("90 deg" if short == "right_angle" else "left out") in panes[2].note


def test_an_answer_that_drops_too_much_is_shown_as_it_is_scored() -> None:
    truth, pred = dome(*SIZE), np.full((*SIZE, 3), np.nan, np.float32)
    pred[0, 0] = truth[0, 0]
    used = metric(short="drop", min_valid=10)
    panes = panes_of(NormalsView(), pred, truth, size=SIZE, metrics={"a": used})
    body = panes[2].body
    assert isinstance(body, ScalarMap)
    scored = used.compute(used.update(pred, truth, None))
    assert body.values.mean() == pytest.approx(scored["mean"], abs=1e-3)


def test_nothing_known_is_nothing_shown_and_nothing_scored_is_the_truth_alone() -> None:
    truth = np.zeros((*SIZE, 3), np.float32)
    panes = panes_of(NormalsView(), dome(*SIZE), truth, size=SIZE, metrics={"a": metric()})
    assert panes[2].note == "Colours end at 45 deg."
    assert roles(panes_of(NormalsView(), None, truth, size=SIZE)) == ["target"]
