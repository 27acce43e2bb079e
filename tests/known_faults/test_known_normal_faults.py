"""Normals that public tools got wrong: axes, rounding above 1, vectors of no length."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faultkit import NORMALS, npy, score
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def unit(vectors: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), np.float64)


def bowl() -> NDArray[np.float64]:
    """(48, 48, 3) of z = 0.3 (x^2 + y^2): x right, y up, z towards the camera."""
    up, right = np.meshgrid(np.linspace(1, -1, 48), np.linspace(-1, 1, 48), indexing="ij")
    return unit(np.stack([-0.6 * right, -0.6 * up, np.ones((48, 48))], axis=-1))


def mean_angle(pred: NDArray[Any], target: NDArray[Any]) -> float:
    """Degrees, by the half-angle form, which needs no arc cosine."""
    gap = np.linalg.norm(pred - target, axis=-1)
    total = np.linalg.norm(pred + target, axis=-1)
    return float(np.degrees(2 * np.arctan2(gap, total)).mean())


@pytest.mark.parametrize(
    ("frame", "expected"),
    [("opencv", 0.0), ("right down away", 0.0), ("opengl", 148.438095),
     ("right down toward", 130.80819)],
)  # fmt: skip
def test_axes_are_turned_as_the_card_says_and_not_guessed(
    tmp_path: Path, frame: str, expected: float
) -> None:
    """https://github.com/baegwangbin/DSINE/issues/12"""
    pred = bowl()
    truth = pred * [1, -1, -1]  # y down, z away from the camera
    run = score(
        tmp_path, NORMALS, {"a.npy": npy(truth.astype(np.float32))},
        {"a.npy": npy(pred.astype(np.float32))},
        size=(48, 48), reading={"frame": frame}, answer={"options": {"frame": "opengl"}},
    )  # fmt: skip
    assert run.number() == pytest.approx(expected, abs=1e-3)
    told = truth * {"opengl": [1, 1, 1], "right down toward": [1, -1, 1]}.get(frame, [1, -1, -1])
    assert mean_angle(pred, told) == pytest.approx(expected, abs=1e-5)


def test_equal_normals_are_0_apart_though_their_product_rounds_above_1(tmp_path: Path) -> None:
    """https://github.com/PointCloudLibrary/pcl/issues/1033"""
    vectors = np.random.default_rng(3).normal(size=(40, 50, 3))
    # a hair too long, as float32 arithmetic leaves them
    normals = (unit(vectors) * (1 + 1e-7)).astype(np.float32)
    truth, pred = normals.copy(), normals.copy()
    truth[0] = 0  # unknown
    pred[1] = 0  # an answer that is none
    products = np.einsum("ijk,ijk->ij", pred, truth)
    assert np.count_nonzero(products > 1) > 1000
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.arccos(products)).any()
    run = score(
        tmp_path, NORMALS, {"a.npy": npy(truth)}, {"a.npy": npy(pred)}, size=(40, 50),
        reading={"frame": "opengl"}, answer={"options": {"frame": "opengl"}},
    )  # fmt: skip
    counted = run.statistics()
    assert (counted["pixels"], counted["open"]) == (1950, 50)
    assert run.number("median") == pytest.approx(0, abs=0.05)
    assert math.isfinite(run.number("mean"))
    # pixels without a direction stay in the denominator, at a right angle
    assert run.number("mean") == pytest.approx(90 * 50 / 1950, abs=0.05)
    assert run.number("within_11_25") == pytest.approx(1900 / 1950, abs=1e-9)
    assert run.number("open") == pytest.approx(50 / 1950, abs=1e-9)
    assert run.summary()["open_fraction"] == 50 / 2000
