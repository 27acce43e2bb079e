"""Confidence intervals by resampling whole groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval.statistics.clusters import (
    TOTALS,
    Clusters,
    Floats,
    Ints,
    Take,
    blocks,
    draw_counts,
    leave_out,
    passes,
    sums_and_sizes,
)
from vgen_eval.statistics.distributions import normal_below, normal_quantile, t_quantile
from vgen_eval.statistics.errors import error_of_sums
from vgen_eval.statistics.records import (
    MEAN_RESAMPLES,
    METHODS,
    MIN_GROUPS,
    RESAMPLES,
    SEED,
    Interval,
    Method,
    too_few,
)

__all__ = [
    "bootstrap_mean",
    "bootstrap_merged",
    "bootstrap_pooled",
    "bootstrap_several",
    "bootstrap_weighted",
]

UNDEFINED = "undefined in some resamples"

MOST_PARTS = 1000
"""Leave-one-out values behind the acceleration; beyond it, several groups are left out at once."""

LEAST_PARTS = 100
"""The same of statistics so wide that each costs as much as a resample."""

WIDEST = 1.5
"""At most so much is an interval expanded, however rough the statistic."""

ROUNDING = 1e-12
"""Relative to the value: what the order of additions may change, and no more."""


def bootstrap_mean(
    values: Floats,
    groups: Ints,
    *,
    method: Method = "expanded_bca",
    resamples: int = MEAN_RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """95 % interval and standard error of the mean of `values` (n,), in `groups` (n,).

    Groups are numbers from 0 on; those without a value do not count. A resample draws as many
    groups as there are, with all of their samples. Methods: docs/statistics.md.
    """
    sums, sizes = sums_and_sizes(values, groups)
    count = len(sums)
    if count < MIN_GROUPS:
        return too_few(count, resamples=resamples, method=method)
    rng = np.random.default_rng(seed)
    found = np.empty(resamples)
    # sum and size in one number: both are fetched from memory together
    pairs = sums + 1j * sizes
    for part in blocks(found, count):
        drawn = rng.integers(0, count, (len(part), count), dtype=np.int32)
        totals = pairs.take(drawn).sum(axis=1)
        part[:] = totals.real / totals.imag
    total, n = float(sums.sum()), float(sizes.sum())
    interval = _interval(found, total / n, (total - sums) / (n - sizes), count, method)
    if not interval.standard_error:
        return interval
    return msgspec.structs.replace(interval, standard_error=error_of_sums(sums, sizes))


def bootstrap_pooled(
    table: Floats | Take,
    groups: Ints,
    compute: Callable[[Floats], Floats],
    *,
    method: Method = "expanded_bca",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """95 % interval and standard error of a value made of statistics that add up.

    `table`: the samples' statistics (n, k), or a function that gives those of some samples.
    `groups` (n,): numbers from 0 on. `compute`: totals (m, k) -> values (m,), NaN where it is
    undefined. Needs some 100 MB beside the table, however long that is.
    """
    (interval,) = bootstrap_several(
        table,
        groups,
        lambda totals: compute(totals)[:, None],
        1,
        method=method,
        resamples=resamples,
        seed=seed,
    )
    return interval


def bootstrap_several(
    table: Floats | Take,
    groups: Ints,
    compute: Callable[[Floats], Floats],
    values: int,
    *,
    method: Method = "expanded_bca",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Interval, ...]:
    """`bootstrap_pooled` of several values of the same totals: `compute` (m, k) -> (m, values)."""
    count = int(np.unique(groups).size)
    if count < MIN_GROUPS:
        return (too_few(count, resamples=resamples, method=method),) * values
    clusters = Clusters(table, groups)

    def of(weightings: Iterator[NDArray[np.integer]]) -> Floats:
        return np.concatenate([compute(clusters.weighted(weights)) for weights in weightings])

    width = clusters.width
    rng = np.random.default_rng(seed)
    (observed,) = of(iter([np.ones((1, count), np.uint8)]))
    most = min(MOST_PARTS, max(LEAST_PARTS, TOTALS // max(1, width)))
    left_out = of(leave_out(count, most, width=width))
    found = of(draw_counts(rng, count, m) for m in passes(resamples, width=width, groups=count))
    return tuple(
        _interval(found[:, at], value, left_out[:, at], count, method)
        for at, value in enumerate(observed.tolist())
    )


def bootstrap_weighted(
    compute: Callable[[NDArray[np.integer]], Floats],
    groups: Ints,
    values: int,
    *,
    method: Method = "expanded_bca",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Interval, ...]:
    """The same of values that are made of weighted samples: ranks, correlations, fits.

    `compute`: how often each sample counts (m, n) -> the values (m, values), NaN where undefined.
    `groups` (n,): numbers from 0 on.
    """
    count = int(np.unique(groups).size)
    if count < MIN_GROUPS:
        return (too_few(count, resamples=resamples, method=method),) * values
    numbered = np.unique(groups, return_inverse=True)[1].reshape(-1)

    def of(weightings: Iterator[NDArray[np.integer]]) -> Floats:
        return np.concatenate([compute(weights[:, numbered]) for weights in weightings])

    rng = np.random.default_rng(seed)
    (observed,) = of(iter([np.ones((1, count), np.uint8)]))
    left_out = observed[None, :]
    if method in ("bca", "expanded_bca"):
        left_out = of(leave_out(count, LEAST_PARTS, width=groups.size))
    parts = passes(resamples, width=groups.size, groups=count)
    found = of(draw_counts(rng, count, part) for part in parts)
    return tuple(
        _interval(found[:, at], value, left_out[:, at], count, method)
        for at, value in enumerate(observed.tolist())
    )


def bootstrap_merged(
    rows: Sequence[int],
    groups: Ints,
    value: Callable[[Sequence[int]], float | None],
    *,
    method: Literal["expanded_percentile", "percentile"] = "expanded_percentile",
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """95 % interval and standard error of what no sums give: `value` of the rows of resamples.

    `rows` (n,) belong to `groups` (n,); `value` is None where it is undefined. No BCa: it needs a
    statistic that moves a little when a group is left out, and medians do not.
    """
    members: dict[int, list[int]] = {}
    for row, group in zip(rows, groups.tolist(), strict=True):
        members.setdefault(group, []).append(row)
    names = sorted(members)
    if len(names) < MIN_GROUPS:
        return too_few(len(names), resamples=resamples, method=method)

    def of(chosen: Iterable[int]) -> float:
        found = value([row for at in chosen for row in members[names[at]]])
        return math.nan if found is None else found

    rng = np.random.default_rng(seed)
    found = [of(rng.integers(0, len(names), len(names)).tolist()) for _ in range(resamples)]
    observed = of(range(len(names)))
    return _interval(np.array(found), observed, np.array([observed]), len(names), method)


def _interval(
    found: Floats, observed: float, left_out: Floats, groups: int, method: Method
) -> Interval:
    """From the resamples' values (m,), the observed one, and those without some groups each."""
    none = Interval(clusters=groups, resamples=len(found), method=METHODS[method])
    everything = np.concatenate([found, left_out, [observed]])
    if not np.isfinite(everything).all():
        return msgspec.structs.replace(none, reason=UNDEFINED)
    if np.ptp(everything) <= ROUNDING * float(np.abs(everything).max()):
        return msgspec.structs.replace(none, low=observed, high=observed, standard_error=0.0)
    unit = float(np.abs(everything).max())  # so that no square leaves the range of numbers
    shares = _shares(found / unit, observed / unit, left_out / unit, groups, method)
    low, high = (float(end) for end in np.quantile(found, shares))
    ends = {"low": low, "high": high}
    if method.startswith("expanded"):
        # the value may lie at the edge of all its resamples, and is still one that it may have
        ends = {"low": min(low, observed), "high": max(high, observed)}
    # resamples of n groups vary too little by sqrt((n - 1) / n)
    error = unit * float((found / unit).std(ddof=1)) * math.sqrt(groups / (groups - 1))
    if not math.isfinite(error):
        return msgspec.structs.replace(none, reason=UNDEFINED)
    return msgspec.structs.replace(none, **ends, standard_error=error)


def _shares(
    found: Floats, observed: float, left_out: Floats, groups: int, method: Method
) -> tuple[float, float]:
    """Which parts of the resamples lie below the two ends.

    BCa: Efron (1987), with ties at the observed value counted half. Expanded: Hesterberg (2015),
    section 3.3: Student's t in the place of the normal, and as much wider as resamples are too
    narrow, which for a mean is sqrt(n / (n - 1)). BCa measures it, since other values need more:
    the jackknife's standard error over the resamples'.
    """
    z = normal_quantile(0.975)
    if method == "percentile":
        return 0.025, 0.975
    if method == "expanded_percentile":
        share = normal_below(t_quantile(0.975, groups - 1) * math.sqrt(groups / (groups - 1)))
        return 1 - share, share
    deviations = left_out.mean() - left_out
    squares = float((deviations**2).sum())
    if method == "expanded_bca":
        jackknife = math.sqrt(squares * (len(left_out) - 1) / len(left_out))
        deviation = float(found.std(ddof=1))
        wider = jackknife / deviation if deviation else 1.0
        z = t_quantile(0.975, groups - 1) * min(max(wider, 1.0), WIDEST)
    below = float((found < observed - ROUNDING).mean())
    share = 0.5 * (below + float((found <= observed + ROUNDING).mean()))
    least = 0.5 / len(found)
    bias = normal_quantile(min(max(share, least), 1 - least))
    skew = float((deviations**3).sum()) / (6 * squares**1.5) if squares else 0.0
    low, high = (_corrected(bias, skew, end) for end in (-z, z))
    return low, high


def _corrected(bias: float, skew: float, z: float) -> float:
    """Efron (1987), formula 2.8."""
    moved = bias + z
    room = 1 - skew * moved
    if room <= 0:
        return 1.0 if moved > 0 else 0.0
    return normal_below(bias + moved / room)
