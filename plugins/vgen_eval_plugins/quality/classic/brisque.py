"""BRISQUE: 36 features of a whole picture, and a score by a regression that the user brings.

The regression of BRISQUE's authors is not ours to ship and we fit none in its place: a score needs
the two files of OpenCV's quality module. The features need nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeVar

import cv2
import msgspec
import numpy as np
import yaml
from numpy.typing import NDArray
from vgen_eval.errors import MissingData

from vgen_eval_plugins.quality.classic.luma import luma
from vgen_eval_plugins.quality.classic.measured import Measured
from vgen_eval_plugins.quality.classic.naturalness import (
    fit_asymmetric,
    mean_factor,
    neighbours,
    normalise,
)

__all__ = ["LEAST_SIDE", "Regression", "brisque", "brisque_features", "read_regression"]

Plane = NDArray[np.float64]
File = TypeVar("File")

FEATURES = 36
LEAST_SIDE = 16
"""Least side of a picture: its second scale just holds the 7 x 7 window."""

MOST_BYTES = 32 * 2**20
_WORST = 100.0
_ORDER = (1, 0, 2, 3)
"""Of the shifts, as OpenCV's files have them: down, across, and the two diagonals."""


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """Support vector regression with an RBF kernel, and the ranges that features are scaled by."""

    vectors: Any
    """(V, 36) support vectors."""
    weights: Any
    """(V,)"""
    rho: float
    gamma: float
    low: Any
    """(36,) what is scaled to -1."""
    high: Any
    """(36,) what is scaled to 1."""

    def predict(self, features: Plane) -> float:
        """Sum of weights x exp(-gamma |vector - scaled features|^2), less rho."""
        scaled = 2 * (features - self.low) / (self.high - self.low) - 1
        distance = ((self.vectors - scaled) ** 2).sum(axis=1)
        return float(self.weights @ np.exp(-self.gamma * distance)) - self.rho


def brisque_features(picture: NDArray[np.uint8]) -> Plane | None:
    """(36,) features, 18 a scale: shape and variance of the MSCN coefficients, and of the products
    in four directions shape, mean, left and right variance (Mittal, Moorthy, Bovik 2012, table I).

    The second scale is half the first, by cubic interpolation as OpenCV's program has it. NaN: that
    feature has no meaning, the picture is flat. None: a side is under 16 pixels.
    """
    levels = luma(picture)
    if min(levels.shape) < LEAST_SIDE:
        return None
    half = cv2.resize(levels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_CUBIC)
    return np.concatenate([_describe(levels), _describe(np.asarray(half))])


def _describe(levels: Plane) -> Plane:
    coefficients = normalise(levels)[0][None]  # (1, H, W)
    shape, left, right, _, _ = fit_asymmetric(coefficients.reshape(1, -1))
    found = [shape, (left**2 + right**2) / 2]
    products = neighbours(coefficients)
    for at in _ORDER:
        shape, left, right, scale_left, scale_right = fit_asymmetric(products[at].reshape(1, -1))
        mean = (scale_right - scale_left) * mean_factor(shape)
        found += [shape, mean, left**2, right**2]
    return np.concatenate(found)


def brisque(picture: NDArray[np.uint8], regression: Regression) -> Measured:
    """0..100, lower is better; None with a reason for tiny and for flat pictures."""
    features = brisque_features(picture)
    height, width = picture.shape[:2]
    if features is None:
        return Measured(
            None, f"BRISQUE wants {LEAST_SIDE} pixels a side, the picture is {width}x{height}"
        )
    if not np.isfinite(features).all():
        return Measured(None, "the picture is flat: BRISQUE has no statistics of it")
    found = regression.predict(features)
    return Measured(min(max(found, 0.0), _WORST))


class _Kernel(msgspec.Struct):
    type: str
    gamma: float = 0.0


class _Decision(msgspec.Struct):
    rho: float
    alpha: list[float]


class _Machine(msgspec.Struct, kw_only=True):
    svm: str = msgspec.field(name="svmType")
    kernel: _Kernel
    support_vectors: list[list[float]]
    decision_functions: Annotated[list[_Decision], msgspec.Meta(min_length=1)]


class _Matrix(msgspec.Struct):
    rows: int
    cols: int
    data: list[float]


class _ModelFile(msgspec.Struct):
    opencv_ml_svm: _Machine


class _RangeFile(msgspec.Struct):
    range: _Matrix


def read_regression(model: Path, ranges: Path) -> Regression:
    """The regression of OpenCV's `brisque_model_live.yml` and `brisque_range_live.yml`.

    They are read as data alone. MissingData when a file is not there, is no such file, or holds
    another kind of model.
    """
    machine = _read(model, _ModelFile).opencv_ml_svm
    if (machine.svm, machine.kernel.type) != ("EPS_SVR", "RBF"):
        raise MissingData(
            f"{model}: an EPS_SVR of kernel RBF was wanted, it holds {machine.svm} of kernel "
            f"{machine.kernel.type}"
        )
    decision, rows = machine.decision_functions[0], machine.support_vectors
    if {len(row) for row in rows} != {FEATURES} or len(rows) != len(decision.alpha):
        raise MissingData(
            f"{model}: support vectors of {FEATURES} features, each with a weight, were wanted; "
            f"{len(rows)} vectors and {len(decision.alpha)} weights are there"
        )
    bounds = _read(ranges, _RangeFile).range
    low, high = np.array(bounds.data[:FEATURES]), np.array(bounds.data[FEATURES:])
    if (bounds.rows, bounds.cols) != (2, FEATURES) or len(high) != len(low) or (high <= low).any():
        raise MissingData(f"{ranges}: a matrix `range` of 2 x {FEATURES}, low and high, was wanted")
    vectors, weights = np.array(rows), np.array(decision.alpha)
    numbers = (vectors, weights, low, high, np.array([decision.rho, machine.kernel.gamma]))
    if not all(np.isfinite(each).all() for each in numbers):
        raise MissingData(f"{model}, {ranges}: numbers that are not finite")
    return Regression(
        vectors=vectors,
        weights=weights,
        rho=decision.rho,
        gamma=machine.kernel.gamma,
        low=low,
        high=high,
    )


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Plain data, and OpenCV's matrices as the mappings that they are written as."""


_Loader.add_constructor(
    "tag:yaml.org,2002:opencv-matrix",
    lambda loader, node: loader.construct_mapping(node, deep=True),
)


def _read(path: Path, kind: type[File]) -> File:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise MissingData(f"{path} has more than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
        # OpenCV writes a directive that is no YAML
        text = text.partition("\n")[2] if text.startswith("%YAML:") else text
        return msgspec.convert(yaml.load(text, _Loader), kind)  # noqa: S506, it is a SafeLoader
    except (OSError, UnicodeDecodeError) as exc:
        raise MissingData(f"{path}: {exc}") from exc
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError) as exc:
        raise MissingData(f"{path} is no file of BRISQUE's as OpenCV writes it: {exc}") from exc
