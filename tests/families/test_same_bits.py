"""A score hangs on the numbers alone: not on where in memory they lie, nor on what thread runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.types import Metric
from vgen_eval_plugins.depth.maps import DepthMap
from vgen_eval_plugins.depth.metrics import AffineDepth
from vgen_eval_plugins.normals.calibration import choose_frame
from vgen_eval_plugins.normals.frames import CONVENTIONS
from vgen_eval_plugins.normals.metrics import AngularError

SHAPE = (90, 300)
"""Small enough that arrays of it lie on the heap, where they begin anywhere in a cache line."""

Arrays = tuple[NDArray[np.float32], NDArray[np.float32]]


def depths() -> Arrays:
    rng = np.random.default_rng(5)
    target = 10 ** rng.uniform(-1, 1.5, SHAPE)
    painted = 1 / target + rng.normal(0, 0.05, SHAPE)
    return painted.astype(np.float32), target.astype(np.float32)


def vectors() -> Arrays:
    rng = np.random.default_rng(6)
    target = rng.normal(size=(*SHAPE, 3))
    found = target + rng.normal(size=target.shape) * 10 ** rng.uniform(-8, 0, (*SHAPE, 1))
    unit = (v / np.linalg.norm(v, axis=2, keepdims=True) for v in (found, target))
    pred, truth = (v.astype(np.float32) for v in unit)
    truth[rng.random(SHAPE) < 0.1] = 0  # unknown: blocks of the known ones begin anywhere
    return pred, truth


def affine(**options: Any) -> Callable[[Arrays], object]:
    metric: Metric = AffineDepth(AffineDepth.Options(**options))
    return lambda both: dict(metric.update(DepthMap(both[0], "relative"), both[1], None))


def angular(both: Arrays) -> object:
    return dict(AngularError(AngularError.Options()).update(both[0], both[1], None))


def calibrated(both: Arrays) -> object:
    pred, target = (part[10:].reshape(-1, 3) for part in both)
    return choose_frame([(pred, target)], names=CONVENTIONS, declared="opengl")


@pytest.mark.parametrize(
    ("score", "make"),
    [
        (affine(fit="depth_lsq"), depths),
        (affine(fit="disparity_lsq_clamped"), depths),
        (affine(fit="log_lsq"), depths),
        (angular, vectors),
        (calibrated, vectors),
    ],
    ids=["depth_lsq", "disparity_lsq_clamped", "log_lsq", "angular_error", "calibration"],
)
def test_statistics_are_the_same_to_the_last_bit_wherever_the_maps_lie(
    score: Callable[[Arrays], object], make: Callable[[], Arrays]
) -> None:
    both = make()
    wanted = score(both)
    held = []
    for step in range(
        24
    ):  # arrays of a picture's size are taken up, so that the next lie elsewhere
        held += [np.empty(both[0].size * 4 + 16 * step, np.uint8) for _ in range(4)]
        assert score(both) == wanted
    with ThreadPoolExecutor(8) as pool:  # each thread allocates in a place of its own
        assert all(found == wanted for found in pool.map(score, [both] * 32))
