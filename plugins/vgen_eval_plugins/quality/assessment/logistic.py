"""Logistic curves fitted by least squares: what maps a measure of quality onto opinions."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["PARAMETERS", "Kind", "fit_logistic", "fitted"]

Floats = NDArray[np.float64]
Kind: TypeAlias = Literal["logistic4", "logistic5"]

PARAMETERS: dict[Kind, int] = {"logistic4": 4, "logistic5": 5}

MOST_STEPS = 1000
MOST_DAMPING = 1e12
CLOSE = 1e-7
"""Of the opinions' sum of squares: a step that gains less is the last."""
NEAR = 1e-5
"""The same of a resample, which is fitted from where the fit of all samples ended."""
MOST_NEAR = 6
"""Steps of such a fit; what it has come to by then is taken."""

GRID_STEEPNESS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
GRID_MIDDLES = (-2.0, -1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 2.0)
"""In deviations of x: where fits may start."""

STEEPEST = 50.0
"""Clip of exponents, beyond which a logistic is flat to the last digit."""


def fitted(x: Floats, parameters: Floats, kind: Kind) -> Floats:
    """The curve at x."""
    return _curve(x, parameters, kind)[0]


def fit_logistic(
    x: Floats, y: Floats, weights: Floats, kind: Kind, *, start: Floats | None = None
) -> Floats | None:
    """Parameters of least squares, by Levenberg and Marquardt's method; None where none is found.

    4: (b1 - b2) / (1 + exp(-(x - b3) / b4)) + b2 (VQEG, 2000). 5: b1 (1/2 - 1 / (1 + exp(b2
    (x - b3)))) + b4 x + b5 (Sheikh, Sabir and Bovik, 2006). `x` and `y` (n,) are about of mean 0
    and deviation 1.

    Without a start, it goes down from several: one half-way up at the mean, and for each of six
    slopes the best of eight places, where the other parameters are the best that these allow. The
    end of the least error is taken: a local minimum, which is not proven to be the least of all.
    (On 60 made sets of 300 pairs the correlation fell short of the best of 18 starts of SciPy's
    curve_fit by .001 once, else by less than .0001. On sets of some dozens the least is often a
    step between two pairs, which not every start finds.) The same data have the same starts.
    """
    if weights.sum() <= PARAMETERS[kind] or x.size < 2:
        return None
    scale = float(weights @ (y * y)) or 1.0
    if start is not None:
        return _descend(x, y, weights, kind, start, close=NEAR * scale, steps=MOST_NEAR)[0]
    best, least = None, np.inf
    for each in (_start(x, y, weights, kind), *_grid_starts(x, y, weights, kind)):
        found, error = _descend(x, y, weights, kind, each, close=CLOSE * scale, steps=MOST_STEPS)
        if found is not None and error < least:
            best, least = found, error
    return best


def _descend(
    x: Floats, y: Floats, weights: Floats, kind: Kind, start: Floats, *, close: float, steps: int
) -> tuple[Floats | None, float]:
    """Where it ends, and the weighted sum of squares there.

    It ends where a step gains no more than `close`, or after so many steps; None where no step can
    be made, or MOST_STEPS were too few.
    """
    parameters = start
    curve, slopes = _curve(x, parameters, kind)
    error = float(weights @ (y - curve) ** 2)
    damping = 1e-3
    for _ in range(steps):
        weighted = slopes * weights
        normal, pull = weighted @ slopes.T, weighted @ (y - curve)
        while True:
            damped = normal.copy()
            damped.flat[:: len(parameters) + 1] += damping * (normal.diagonal() + 1e-9)
            try:
                moved = parameters + np.linalg.solve(damped, pull)
            except np.linalg.LinAlgError:
                return None, error
            found, then_slopes = _curve(x, moved, kind)
            then = float(weights @ (y - found) ** 2)
            if np.isfinite(then) and then <= error:
                break
            damping *= 10
            if damping > MOST_DAMPING:  # no way leads further down
                return parameters, error
        gained, damping = error - then, max(damping / 10, 1e-12)
        parameters, curve, slopes, error = moved, found, then_slopes, then
        if gained <= close:
            return parameters, error
    return (parameters if steps < MOST_STEPS else None), error


def _start(x: Floats, y: Floats, weights: Floats, kind: Kind) -> Floats:
    """Half-way up at the mean, rising or falling as the data do."""
    rises = float(weights @ (x * y)) >= 0
    low, high = float(y.min()), float(y.max())
    if kind == "logistic4":
        top, bottom = (high, low) if rises else (low, high)
        return np.array([top, bottom, 0.0, 1.0])
    height = (high - low) * (1.0 if rises else -1.0)
    return np.array([height, 1.0, 0.0, 0.0, float(weights @ y) / float(weights.sum())])


def _grid_starts(x: Floats, y: Floats, weights: Floats, kind: Kind) -> list[Floats]:
    """For each steepness of a grid the best of its middles.

    Given steepness and middle, both curves are linear in the rest, which is solved for.
    """
    roots = np.sqrt(weights)
    ones = np.ones_like(x)
    starts = []
    for steepness in GRID_STEEPNESS:
        tried = []
        for middle in GRID_MIDDLES:
            share = _logistic(steepness * (x - middle))
            parts = [share, ones] if kind == "logistic4" else [share - 0.5, x, ones]
            matrix = np.stack(parts, axis=1) * roots[:, None]
            solved = np.linalg.lstsq(matrix, y * roots, rcond=None)[0]
            error = float(((matrix @ solved - y * roots) ** 2).sum())
            if kind == "logistic4":
                height, bottom = solved
                place = [height + bottom, bottom, middle, 1 / steepness]
            else:
                height, slope, level = solved
                place = [height, steepness, middle, slope, level]
            tried.append((error, place))
        starts.append(np.array(min(tried)[1]))
    return starts


def _curve(x: Floats, parameters: Floats, kind: Kind) -> tuple[Floats, Floats]:
    """The curve (n,) at x and its slopes (parameters, n)."""
    if kind == "logistic4":
        top, bottom, middle, width = parameters
        if abs(width) < 1e-9:
            return np.full(x.shape, np.nan), np.zeros((4, x.size))
        share = _logistic((x - middle) / width)
        bend = (top - bottom) * share * (1 - share) / width
        curve = bottom + (top - bottom) * share
        return curve, np.stack([share, 1 - share, -bend, -bend * (x - middle) / width])
    height, steepness, middle, slope, level = parameters
    share = _logistic(steepness * (x - middle))
    bend = height * share * (1 - share)
    curve = height * (share - 0.5) + slope * x + level
    ones = np.ones_like(x)
    return curve, np.stack([share - 0.5, bend * (x - middle), -bend * steepness, x, ones])


def _logistic(z: Floats) -> Floats:
    values: Floats = 1.0 / (1.0 + np.exp(-np.clip(z, -STEEPEST, STEEPEST)))
    return values
