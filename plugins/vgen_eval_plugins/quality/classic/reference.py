"""Measures against the picture as it was: PSNR and SSIM."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.quality.classic.luma import luma
from vgen_eval_plugins.quality.classic.measured import Measured

__all__ = ["WINDOW", "psnr", "ssim"]

PEAK = 255.0
WINDOW = 11
"""Side of SSIM's Gaussian window, in pixels."""

_SIGMA = 1.5
_C1, _C2 = (0.01 * PEAK) ** 2, (0.03 * PEAK) ** 2


def psnr(pred: NDArray[np.uint8], target: NDArray[np.uint8]) -> Measured:
    """Peak signal-to-noise ratio in dB over all values of both uint8 (H, W[, C]) pictures.

    10 log10(255^2 / mean squared error), reckoned in float64: in uint8 a difference wraps round.
    None for equal pictures, whose ratio is infinite. ValueError when the shapes differ.
    """
    _check(pred, target)
    error = float(np.mean((pred.astype(np.float64) - target.astype(np.float64)) ** 2))
    if error == 0:
        return Measured(None, "the pictures are identical, their PSNR is infinite")
    return Measured(10 * math.log10(PEAK**2 / error))


def ssim(pred: NDArray[np.uint8], target: NDArray[np.uint8]) -> Measured:
    """Structural similarity in -1..1, the mean over all places of the window within the luma.

    Wang, Bovik, Sheikh, Simoncelli 2004, sections III-B and III-C: Gaussian window 11 x 11 of
    sigma 1.5, K1 0.01, K2 0.03, L 255; moments with the window's weights; no downsampling. None for
    pictures smaller than the window. ValueError when the shapes differ.
    """
    _check(pred, target)
    height, width = pred.shape[:2]
    if min(height, width) < WINDOW:
        return Measured(None, f"{width}x{height} is smaller than SSIM's window of {WINDOW} pixels")
    x, y = luma(pred), luma(target)
    mean_x, mean_y = _weigh(x), _weigh(y)
    var_x, var_y = _weigh(x * x) - mean_x**2, _weigh(y * y) - mean_y**2
    covariance = _weigh(x * y) - mean_x * mean_y
    light = (2 * mean_x * mean_y + _C1) / (mean_x**2 + mean_y**2 + _C1)
    structure = (2 * covariance + _C2) / (var_x + var_y + _C2)
    return Measured(float(np.mean(light * structure)))


def _weigh(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted means over the windows that lie within: (H - 10, W - 10)."""
    blurred = np.asarray(cv2.GaussianBlur(plane, (WINDOW, WINDOW), _SIGMA), np.float64)
    edge = WINDOW // 2
    return blurred[edge:-edge, edge:-edge]


def _check(pred: NDArray[Any], target: NDArray[Any]) -> None:
    for name, picture in (("pred", pred), ("target", target)):
        if picture.dtype != np.uint8:
            raise ValueError(f"{name}: uint8 levels were wanted, {picture.dtype} came")
        if picture.size == 0:
            raise ValueError(f"{name}: the picture has no pixels: {picture.shape}")
    if pred.shape != target.shape:
        raise ValueError(f"pictures of one shape were wanted, {pred.shape} and {target.shape} came")
