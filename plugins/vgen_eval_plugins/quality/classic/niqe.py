"""NIQE: how far a picture's statistics lie from those of pristine photographs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.resources import files

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.quality.classic.luma import luma
from vgen_eval_plugins.quality.classic.measured import Measured
from vgen_eval_plugins.quality.classic.naturalness import (
    fit_asymmetric,
    mean_factor,
    neighbours,
    normalise,
)

__all__ = ["PATCH", "PristineModel", "fit_pristine", "niqe", "our_pristine_model", "patch_features"]

Plane = NDArray[np.float64]

PATCH = 96
"""Side of a patch in pixels; 48 at the second scale."""

SHARP = 0.75
"""A patch counts as pristine when its sharpness is above this part of the photograph's greatest."""

OUR_MODEL = "niqe_fitted_by_us.json"


class PristineModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A multivariate Gaussian of 36 features of pristine patches, and where it is from."""

    about: str
    photographs: tuple[str, ...]
    patches: int
    mean: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if len(self.mean) != 36 or [len(row) for row in self.covariance] != [36] * 36:
            raise ValueError("a mean of 36 and a covariance of 36 x 36 were wanted")


@functools.cache
def our_pristine_model() -> PristineModel:
    """The model that `fit_pristine` made of a few free photographs: not the authors' own."""
    data = files("vgen_eval_plugins.quality.classic").joinpath(OUR_MODEL).read_bytes()
    return msgspec.json.decode(data, type=PristineModel)


def niqe(picture: NDArray[np.uint8], model: PristineModel | None = None) -> Measured:
    """Distance to the pristine model, 0 or more, lower is better (Mittal, Soundararajan, Bovik
    2013, equation 10). `picture` as `luma` takes it.

    Without a model of your own it is ours: its numbers rank pictures, and are not those of papers.
    None with a reason for pictures of fewer than two patches that are not flat.
    """
    model = model or our_pristine_model()
    levels = luma(picture)
    features = patch_features(levels)[0]
    if len(features) < 2:
        height, width = levels.shape
        return Measured(
            None,
            f"NIQE wants two patches of {PATCH} pixels, {width}x{height} holds {len(features)}",
        )
    features = features[np.isfinite(features).all(axis=1)]
    if len(features) < 2:
        return Measured(None, "the picture is flat: NIQE has no statistics of it")
    apart = features.mean(axis=0) - np.array(model.mean)
    spread = (np.cov(features, rowvar=False) + np.array(model.covariance)) / 2
    squared = float(apart @ np.linalg.pinv(spread, hermitian=True) @ apart)
    return Measured(float(np.sqrt(max(squared, 0.0))))


def patch_features(levels: Plane) -> tuple[Plane, Plane]:
    """(N, 36) features of the whole patches of (H, W) levels, row by row, and (N,) sharpness.

    18 a scale: shape and mean scale of the coefficients, and of the products in each of the four
    directions shape, mean, left and right scale (section II-C). The second scale is the mean of
    2 x 2 pixels. NaN where a patch is flat. Sharpness: mean local deviation at the first scale.
    """
    rows, columns = levels.shape[0] // PATCH, levels.shape[1] // PATCH
    if rows == 0 or columns == 0:
        return np.zeros((0, 36)), np.zeros(0)
    levels = levels[: rows * PATCH, : columns * PATCH]
    half = cv2.resize(levels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    coefficients, deviation = normalise(levels)
    coarse, _ = normalise(np.asarray(half))
    sharpness = _cut(deviation, PATCH).mean(axis=(1, 2))
    blocks = (_cut(coefficients, PATCH), _cut(coarse, PATCH // 2))
    return np.concatenate([_describe(each) for each in blocks], axis=1), sharpness


def _cut(plane: Plane, side: int) -> Plane:
    """(N, side, side) blocks, row by row, of a plane whose sides are multiples of it."""
    rows, columns = plane.shape[0] // side, plane.shape[1] // side
    blocks = plane.reshape(rows, side, columns, side).swapaxes(1, 2)
    return np.ascontiguousarray(blocks).reshape(rows * columns, side, side)


def _describe(blocks: Plane) -> Plane:
    """(N, 18) features of (N, h, w) coefficients."""
    count = len(blocks)
    shape, _, _, left, right = fit_asymmetric(blocks.reshape(count, -1))
    found = [shape, (left + right) / 2]
    for product in neighbours(blocks):
        shape, _, _, left, right = fit_asymmetric(product.reshape(count, -1))
        found += [shape, (right - left) * mean_factor(shape), left, right]
    return np.stack(found, axis=1)


def fit_pristine(
    photographs: Sequence[tuple[str, NDArray[np.uint8]]], *, about: str
) -> PristineModel:
    """The Gaussian of the sharp patches of photographs (name, picture); `about`: whose they are.

    ValueError when they hold too few sharp patches for 36 features.
    """
    chosen = []
    for _, picture in photographs:
        features, sharpness = patch_features(luma(picture))
        if len(features):
            sharp = sharpness > SHARP * sharpness.max()
            chosen.append(features[sharp & np.isfinite(features).all(axis=1)])
    patches = np.concatenate(chosen) if chosen else np.zeros((0, 36))
    if len(patches) <= 36:
        raise ValueError(f"{len(patches)} sharp patches; more than 36 are wanted for 36 features")
    covariance = np.cov(patches, rowvar=False)
    return PristineModel(
        about=about,
        photographs=tuple(name for name, _ in photographs),
        patches=len(patches),
        mean=tuple(float(f"{value:.8g}") for value in patches.mean(axis=0)),
        covariance=tuple(tuple(float(f"{value:.8g}") for value in row) for row in covariance),
    )
