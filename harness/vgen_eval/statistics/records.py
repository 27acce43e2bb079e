"""What is written down of an interval and of a test; no numpy here."""

from __future__ import annotations

from typing import Literal

import msgspec

from vgen_eval.wording import plural

__all__ = [
    "MEAN_RESAMPLES",
    "METHODS",
    "MIN_GROUPS",
    "RESAMPLES",
    "SEED",
    "Interval",
    "Method",
    "Permutation",
    "too_few",
]

MIN_GROUPS = 10
"""Fewer groups than this give no interval: their resamples say nothing."""

MEAN_RESAMPLES = 10_000
"""Of means, where a resample costs next to nothing."""

RESAMPLES = 1000
"""Of values that are computed anew from each resample's statistics."""

SEED = 0

Method = Literal["expanded_bca", "bca", "expanded_percentile", "percentile"]
METHODS: dict[Method, str] = {
    "expanded_bca": "expanded BCa bootstrap, clustered by group",
    "bca": "BCa bootstrap, clustered by group",
    "expanded_percentile": "expanded percentile bootstrap, clustered by group",
    "percentile": "percentile bootstrap, clustered by group",
}
"""Method -> what the record says."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A 95 % interval and the standard error, or why there is none."""

    low: float | None = None
    high: float | None = None
    method: str = METHODS["expanded_bca"]
    clusters: int
    resamples: int = RESAMPLES
    reason: str | None = None
    standard_error: float | None = None
    """Clustered by group: of a mean in closed form, of a pooled value from the resamples."""


class Permutation(msgspec.Struct, frozen=True, kw_only=True):
    """A paired test: might the two runs have been exchanged, group by group?"""

    p_value: float | None = None
    """Two-sided; None, with the reason, where there is nothing to test."""
    method: str = "paired permutation, whole groups exchanged"
    clusters: int
    permutations: int = 0
    exact: bool = False
    """All exchanges were made; otherwise a sample of them, p = (b + 1) / (m + 1)."""
    reason: str | None = None


def too_few(groups: int, *, resamples: int, method: Method) -> Interval:
    """No interval, and why."""
    return Interval(
        clusters=groups,
        resamples=resamples,
        method=METHODS[method],
        reason=f"{plural(groups, 'group')}, fewer than {MIN_GROUPS}",
    )
