"""How well scores follow what people said: ROC-AUC, and pairs put in the right order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Pairwise",
    "doubled",
    "pairwise_accuracy",
    "pairwise_auc",
    "roc_auc",
    "tie_credits",
    "weighted_roc_auc",
]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ROUNDING = 1e-9
"""What two scores may differ by through the order of additions alone."""


class Pairwise(NamedTuple):
    """Pairs of which one was preferred, by how the scores order them."""

    right: int
    tied: int
    wrong: int

    @property
    def accuracy(self) -> float | None:
        """Share of pairs in the right order, a tie worth one half; None without any pair."""
        return _share(self.right + self.tied / 2, sum(self))

    @property
    def without_ties(self) -> float | None:
        """The same of the pairs that are not tied; None where all are."""
        return _share(self.right, self.right + self.wrong)

    @property
    def ties_wrong(self) -> float | None:
        """The same, each tie counted as wrong."""
        return _share(self.right, sum(self))


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def roc_auc(scores: ArrayLike, positive: ArrayLike) -> float | None:
    """Chance that a positive scores above a negative, ties counted half; (n,) each.

    Mann-Whitney's U over the number of pairs (Hanley and McNeil 1982). None where all are of one
    class.
    """
    values, is_positive = np.asarray(scores, np.float64), np.asarray(positive, bool)
    above, below = values[is_positive], np.sort(values[~is_positive])
    if not above.size or not below.size:
        return None
    fewer = np.searchsorted(below, above, side="left")
    fewer_or_tied = np.searchsorted(below, above, side="right")
    return float((fewer + fewer_or_tied).sum() / (2 * above.size * below.size))


def pairwise_auc(differences: ArrayLike) -> float | None:
    """ROC-AUC of signed score differences (n,), better minus worse; None without any.

    Each pair is entered in both directions: +d as a positive, -d as a negative.
    """
    return roc_auc(*doubled(differences))


def doubled(differences: ArrayLike) -> tuple[Floats, Bools]:
    """Scores (2n,) and which are positive: differences (n,), and then each turned round."""
    signed = np.asarray(differences, np.float64)
    return np.concatenate([signed, -signed]), np.arange(2 * signed.size) < signed.size


def weighted_roc_auc(scores: ArrayLike, positive: ArrayLike, weights: NDArray[np.number]) -> Floats:
    """`roc_auc` (m,) where each score (n,) counts as often as `weights` (m, n) say.

    NaN where one of the classes does not count at all.
    """
    values, is_positive = np.asarray(scores, np.float64), np.asarray(positive, bool)
    found = np.full(len(weights), np.nan)
    if not values.size:
        return found
    order = np.argsort(values, kind="stable")
    values, is_positive = values[order], is_positive[order]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    counts = weights[:, order].astype(np.float64)
    above, below = (
        np.add.reduceat(counts * belongs, starts, axis=1) for belongs in (is_positive, ~is_positive)
    )
    won = (above * (below.cumsum(axis=1) - below / 2)).sum(axis=1)
    pairs = above.sum(axis=1) * below.sum(axis=1)
    np.divide(won, pairs, out=found, where=pairs > 0)
    return found


def tie_credits(
    differences: ArrayLike, band: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What each difference (n,), better minus worse, is worth: 1 right, .5 tied, 0 wrong.

    Tied: smaller than `band` in absolute value, or none at all. A difference of just the band is
    no tie, whatever rounding makes of it.
    """
    signed = np.asarray(differences, np.float64)
    tied = np.abs(signed) < max(band - ROUNDING, ROUNDING)
    return np.where(tied, 0.5, (signed > 0).astype(np.float64))


def pairwise_accuracy(differences: ArrayLike, *, band: float = 0.0) -> Pairwise:
    """How many pairs the differences (n,), better minus worse, put in the right order.

    Ties as `tie_credits` has them.
    """
    worths = tie_credits(differences, band)
    return Pairwise(*(int((worths == worth).sum()) for worth in (1.0, 0.5, 0.0)))
