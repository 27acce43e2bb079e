"""Correlations of weighted pairs: a weight is how often a pair counts, as in a resample."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.quality.assessment.logistic import Kind, fit_logistic, fitted

__all__ = ["LEAST_PAIRS", "Pairs", "krcc_lacks", "pearson"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_PAIRS = 3
"""Two pairs always agree or disagree wholly."""


def pearson(a: Floats, b: Floats, weights: Floats) -> float:
    """Weighted Pearson correlation of (n,) and (n,); NaN where one of them is constant."""
    total = weights.sum()
    a = a - (weights @ a) / total
    b = b - (weights @ b) / total
    root = float(np.sqrt(weights @ (a * a)) * np.sqrt(weights @ (b * b)))
    if not root > 0 or not np.isfinite(root):
        return float("nan")
    return float(np.clip((weights @ (a * b)) / root, -1.0, 1.0))


def krcc_lacks() -> str | None:
    """The package without which KRCC is not counted; None where it is there."""
    return "scipy" if _find_kendalltau() is None else None


@cache
def _find_kendalltau() -> Callable[..., Any] | None:
    """SciPy's, which scikit-image brings; loaded where it is used, since it takes its time."""
    try:
        from scipy.stats import kendalltau
    except ImportError:
        return None
    return cast("Callable[..., Any]", kendalltau)


class Pairs:
    """Predictions and opinions (n,) of the same pictures, looked at once for many weightings."""

    def __init__(self, pred: Floats, target: Floats) -> None:
        self.pred = pred
        self.target = target
        self.levels, codes = np.unique(pred, return_inverse=True)
        self._pred_codes: Ints = codes.reshape(-1).astype(np.int64)
        opinions, codes = np.unique(target, return_inverse=True)
        self._target_codes: Ints = codes.reshape(-1).astype(np.int64)
        self._opinions = opinions.size
        self._starts: dict[Kind, Floats | None] = {}

    def __len__(self) -> int:
        return int(self.pred.size)

    def fault(self, weights: Ints) -> str | None:
        """Why no correlation is defined; None when one is."""
        count = int(weights.sum())
        if count < LEAST_PAIRS:
            return f"too_few_samples: {count} of {LEAST_PAIRS} pairs at least"
        used = weights > 0
        for what, codes in (("prediction", self._pred_codes), ("opinion", self._target_codes)):
            taken = codes[used]
            if taken.min() == taken.max():
                return f"constant_input: every {what} is the same"
        return None

    def srcc(self, weights: Ints) -> float:
        """Spearman's rank correlation, ties at their average rank."""
        floats = weights.astype(np.float64)
        own = self._ranks(self._pred_codes, self.levels.size, floats)
        others = self._ranks(self._target_codes, self._opinions, floats)
        return pearson(own, others, floats)

    def _ranks(self, codes: Ints, levels: int, weights: Floats) -> Floats:
        """(n,) ranks up to a constant: what lies before a level, and half of the level itself."""
        sizes = np.bincount(codes, weights=weights, minlength=levels)
        ranks: Floats = (np.cumsum(sizes) - sizes / 2)[codes]
        return ranks

    def plcc(self, weights: Ints) -> float:
        """Pearson's correlation."""
        return pearson(self.pred, self.target, weights.astype(np.float64))

    def krcc(self, weights: Ints) -> float:
        """Kendall's tau-b; NaN where SciPy is not installed, see `krcc_lacks`."""
        kendalltau = _find_kendalltau()
        if kendalltau is None:
            return float("nan")
        drawn = np.repeat(self._order, weights[self._order])
        pred, target = self._pred_codes[drawn], self._target_codes[drawn]
        # the p-value is not used: the one that is quick to make is asked for
        return float(kendalltau(pred, target, method="asymptotic").statistic)

    @cached_property
    def _order(self) -> Ints:
        return np.lexsort((self._target_codes, self._pred_codes)).astype(np.int64)

    def plcc_fitted(self, weights: Ints, kind: Kind) -> float:
        """Pearson's correlation after a logistic fit of the opinions; NaN where none is found.

        Weighted samples are fitted from where the fit of all of them ended.
        """
        if kind not in self._starts:
            everything = np.ones(len(self), np.float64)
            self._starts[kind] = fit_logistic(*self._levels(everything), kind)
        start = self._starts[kind]
        if start is None:
            return float("nan")
        floats = weights.astype(np.float64)
        x, y, sizes = self._levels(floats)
        found = fit_logistic(x, y, sizes, kind, start=start)
        if found is None:
            return float("nan")
        total = sizes.sum()
        curve = fitted(x, found, kind)
        curve = curve - (sizes @ curve) / total
        mean = (floats @ self.target) / floats.sum()
        # opinions of one level meet the same point of the curve: their mean says all of the product
        spread = np.sqrt(sizes @ (curve * curve)) * np.sqrt(floats @ (self.target - mean) ** 2)
        if not spread > 0 or not np.isfinite(spread):
            return float("nan")
        return float(
            np.clip((sizes @ (curve * (y * self._unit + self._centre - mean))) / spread, -1, 1)
        )

    def _levels(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Each level of the predictions that counts: itself, its mean opinion, its weight.

        Both in units of all pairs' mean and deviation, which a fit of least squares does not see.
        """
        sizes: Floats = np.bincount(
            self._pred_codes, weights=weights, minlength=self.levels.size
        ).astype(np.float64)
        sums = np.bincount(
            self._pred_codes, weights=weights * self.target, minlength=self.levels.size
        )
        some = sizes > 0
        x = (self.levels[some] - self.pred.mean()) / (self.pred.std() or 1.0)
        y = (sums[some] / sizes[some] - self._centre) / self._unit
        return x, y, sizes[some]

    @cached_property
    def _centre(self) -> float:
        return float(self.target.mean())

    @cached_property
    def _unit(self) -> float:
        return float(self.target.std()) or 1.0
