"""The measures of a judge's numbers beside what people said, with intervals by group."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval.results.judging.record import Measured
from vgen_eval.statistics.agreement import (
    doubled,
    pairwise_accuracy,
    pairwise_auc,
    roc_auc,
    tie_credits,
    weighted_roc_auc,
)
from vgen_eval.statistics.bootstrap import bootstrap_mean, bootstrap_several, bootstrap_weighted
from vgen_eval.statistics.raters import (
    Level,
    Weights,
    cohen_kappa,
    confusion,
    kappa_of,
    krippendorff_alpha,
    plain_agreement,
)
from vgen_eval.statistics.records import Interval

__all__ = ["MOST_CATEGORIES", "Units", "categories_of", "measure_labels", "measure_pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CATEGORIES = 10
"""Labels of more different numbers are a scale, no categories."""

_WEIGHTS: tuple[tuple[str, Weights], ...] = (("kappa", "none"), ("kappa_quadratic", "quadratic"))
_CATEGORICAL: tuple[Level, ...] = ("nominal", "ordinal")


class Units(msgspec.Struct, frozen=True, kw_only=True):
    """What both say something of, one entry each."""

    judge: Floats
    """(n,): the judge's numbers; of pairs, by how much the better one's is better."""
    human: Floats
    """(n,): labels; of pairs nothing, (0,)."""
    groups: Ints
    """(n,): numbers of groups."""


def categories_of(labels: Floats) -> tuple[float, ...]:
    """The different labels in their order; () where they are too many to be categories."""
    known = np.unique(labels)
    return tuple(known.tolist()) if len(known) <= MOST_CATEGORIES else ()


def measure_labels(units: Units, categories: Sequence[float]) -> tuple[Measured, ...]:
    """Agreement, kappas, alphas and AUC of the judge's numbers with the labels.

    Measures of categories read each number as the nearest category, the lower of two as near;
    the interval alpha and the AUC take it as it is.
    """
    auc = _label_auc(units, categories)
    interval_alpha = _alpha(units.judge, units.human, "interval", name="alpha_interval")
    if len(categories) < 2:
        names = ("agreement", "kappa", "kappa_quadratic", "alpha_nominal", "alpha_ordinal")
        reason = _no_categories(categories)
        none = (Measured(name=name, value=None, reason=reason) for name in names)
        return (*none, interval_alpha, auc)
    known = np.asarray(categories)
    read, said = _nearest(units.judge, known), np.searchsorted(known, units.human)
    agreement = Measured(
        name="agreement",
        value=plain_agreement(read, said),
        interval=bootstrap_mean((read == said).astype(np.float64), units.groups),
    )
    kappas = _kappas(read, said, len(known), units.groups)
    alphas = [_alpha(known[read], units.human, level) for level in _CATEGORICAL]
    return (agreement, *kappas, *alphas, interval_alpha, auc)


def _no_categories(categories: Sequence[float]) -> str:
    """Why nothing can be said of categories: there are too many, or one."""
    if categories:
        return f"every label is {categories[0]:g}: there is nothing to tell apart"
    return f"labels of more than {MOST_CATEGORIES} different numbers are no categories"


def _nearest(numbers: Floats, categories: Floats) -> Ints:
    """Number of the category that lies nearest; of two as near, the lower."""
    # half of each: the difference of two numbers may be too large for a number
    places: Ints = np.abs(numbers[:, None] / 2 - categories[None, :] / 2).argmin(axis=1)
    return places


def _kappas(read: Ints, said: Ints, count: int, groups: Ints) -> list[Measured]:
    """Of each weighting, from the same resamples."""
    values = [
        cohen_kappa(read, said, weights=weights, categories=range(count)) for _, weights in _WEIGHTS
    ]
    # both raters know one category, the same: no weighting changes that
    if None in values:
        reason = "chance alone would agree throughout"
        return [Measured(name=name, value=None, reason=reason) for name, _ in _WEIGHTS]
    intervals = bootstrap_several(
        confusion(read, said, count),
        groups,
        lambda totals: np.stack([kappa_of(totals, count, how) for _, how in _WEIGHTS], axis=1),
        len(_WEIGHTS),
    )
    return [
        Measured(name=name, value=value, interval=interval)
        for (name, _), value, interval in zip(_WEIGHTS, values, intervals, strict=True)
    ]


def _alpha(judge: Floats, human: Floats, level: Level, *, name: str = "") -> Measured:
    """Of the judge and the people as two raters. No interval: its distribution is its own."""
    value = krippendorff_alpha(np.stack([judge, human]), level=level)
    reason = "every rating is the same" if value is None else None
    return Measured(name=name or f"alpha_{level}", value=value, reason=reason)


def _label_auc(units: Units, categories: Sequence[float]) -> Measured:
    """Of the higher label against the lower."""
    if len(categories) != 2:
        reason = f"an AUC is of two labels, not of {len(categories) or 'many'}"
        if len(categories) == 1:
            reason = _no_categories(categories)
        return Measured(name="auc", value=None, reason=reason)
    positive = units.human == max(categories)
    value = roc_auc(units.judge, positive)
    if value is None:
        one = max(categories) if positive.any() else min(categories)
        return Measured(name="auc", value=None, reason=f"every label is {one:g}")
    return Measured(
        name="auc", value=value, interval=_auc_interval(units.judge, positive, units.groups)
    )


def measure_pairs(units: Units, *, band: float) -> tuple[Measured, ...]:
    """AUC and accuracy of signed differences; ties half, dropped, wrong; how many are tied."""
    differences = units.judge
    found = pairwise_accuracy(differences, band=band)
    return (
        Measured(
            name="auc",
            value=pairwise_auc(differences),
            interval=_auc_interval(*doubled(differences), np.tile(units.groups, 2)),
        ),
        Measured(
            name="accuracy",
            value=found.accuracy,
            interval=bootstrap_mean(tie_credits(differences, band), units.groups),
        ),
        Measured(
            name="accuracy_ties_dropped",
            value=found.without_ties,
            reason="every pair is a tie" if found.without_ties is None else None,
        ),
        Measured(name="accuracy_ties_wrong", value=found.ties_wrong),
        Measured(name="ties", value=found.tied / len(differences)),
    )


def _auc_interval(scores: Floats, positive: NDArray[np.bool_], groups: Ints) -> Interval:
    (interval,) = bootstrap_weighted(
        lambda weights: weighted_roc_auc(scores, positive, weights)[:, None],
        groups,
        1,
        method="expanded_percentile",
    )
    return interval
