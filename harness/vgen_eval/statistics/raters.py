"""Agreement of raters beyond chance: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vgen_eval.statistics.clusters import Floats, Ints

__all__ = [
    "Level",
    "Weights",
    "cohen_kappa",
    "confusion",
    "kappa_of",
    "krippendorff_alpha",
    "plain_agreement",
]

ROUNDING = 1e-12
"""What sums of squares leave of an alpha that is 0."""

Weights = Literal["none", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def plain_agreement(first: ArrayLike, second: ArrayLike) -> float | None:
    """Share of units (n,) that both raters give the same; None without any."""
    same = np.asarray(first) == np.asarray(second)
    return float(same.mean()) if same.size else None


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: Weights = "none",
    categories: Sequence[float] | None = None,
) -> float | None:
    """Cohen's kappa of two raters' categories (n,) each (Cohen 1960; weighted, 1968).

    `categories`: all that there are, in their order; those that occur where none are given. With
    quadratic weights two ratings disagree by the square of how many places they lie apart. None
    where chance alone would agree throughout: both raters know one category, the same.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    known = np.unique(np.concatenate([one, other]) if categories is None else categories)
    if not one.size:
        return None
    cells = confusion(np.searchsorted(known, one), np.searchsorted(known, other), len(known))
    (value,) = kappa_of(cells.sum(axis=0, keepdims=True), len(known), weights)
    return None if np.isnan(value) else float(value)


def confusion(first: Ints, second: Ints, count: int) -> Floats:
    """Each unit's table (n, count * count), 1 where it stands: its sums are a confusion matrix.

    `first`, `second` (n,): numbers of categories.
    """
    table = np.zeros((len(first), count * count))
    table[np.arange(len(first)), first * count + second] = 1.0
    return table


def kappa_of(totals: Floats, count: int, weights: Weights) -> Floats:
    """Kappa (m,) of confusion matrices (m, count * count); NaN where it is undefined."""
    cells = totals.reshape(-1, count, count)
    apart = np.subtract.outer(np.arange(count), np.arange(count))
    cost = (apart != 0).astype(np.float64) if weights == "none" else apart.astype(np.float64) ** 2
    chance = cells.sum(axis=2)[:, :, None] * cells.sum(axis=1)[:, None, :]
    seen, expected = (cells * cost).sum(axis=(1, 2)), (chance * cost).sum(axis=(1, 2))
    whole = cells.sum(axis=(1, 2))
    found = np.full(len(cells), np.nan)
    some = expected > 0
    found[some] = 1 - seen[some] * whole[some] / expected[some]
    return found


def krippendorff_alpha(ratings: ArrayLike, *, level: Level) -> float | None:
    """Krippendorff's alpha of `ratings` (raters, units), NaN where a rater gave none.

    Units with fewer than two ratings do not count. 1 - D_o / D_e over the coincidences of values
    (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section D), with his
    differences for nominal, ordinal and interval data. None where nothing can be paired, or
    where all ratings are one value.
    """
    table = np.asarray(ratings, np.float64)
    table = table[:, np.isfinite(table).sum(axis=0) > 1]
    known, codes = np.unique(table[np.isfinite(table)], return_inverse=True)
    if len(known) < 2:
        return None
    if level == "interval":
        return _interval_alpha(table)
    units = np.nonzero(np.isfinite(table))[1]
    # how often each unit was given each value
    counts = np.zeros((table.shape[1], len(known)))
    np.add.at(counts, (units, codes.reshape(-1)), 1.0)
    share = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * share[:, None]).T @ counts - np.diag((counts * share[:, None]).sum(axis=0))
    totals = counts.sum(axis=0)
    cost = _differences(totals, level)
    expected = float((np.outer(totals, totals) * cost).sum())
    return 1 - (float(totals.sum()) - 1) * float((pairs * cost).sum()) / expected


def _differences(totals: Floats, level: Level) -> Floats:
    """Squared differences (v, v) of the values in their order."""
    if level == "nominal":
        return 1 - np.eye(len(totals))
    # ranks between two values: all ratings from one to the other, half of both ends
    middle = np.cumsum(totals) - totals / 2
    ordinal: Floats = np.subtract.outer(middle, middle) ** 2
    return ordinal


def _interval_alpha(table: Floats) -> float:
    """Alpha of interval data from sums of squares: values may be as many as ratings.

    `table`: (raters, units), each with two ratings or more, not all the same.
    """
    given = np.isfinite(table)
    # ratings between -1 and 1, about 0: no square leaves the range of numbers, or loses digits
    values = table / np.abs(table[given]).max()
    values -= values[given].mean()
    values /= np.abs(values[given]).max()
    values[~given] = 0.0
    sizes = given.sum(axis=0)
    around = np.where(given, values - values.sum(axis=0) / sizes, 0.0)
    # the sum over ordered pairs of (a - b)^2 is 2 m times that of squares about the mean
    within = 2 * sizes * (around**2).sum(axis=0)
    whole = float(sizes.sum())
    between = 2 * whole * float((values**2).sum())
    alpha = 1 - (whole - 1) * float((within / (sizes - 1)).sum()) / between
    return alpha if abs(alpha) > ROUNDING else 0.0
