"""Standard errors of means in closed form, clustered by group."""

from __future__ import annotations

import math

import numpy as np

from vgen_eval.statistics.clusters import Floats, Ints, sums_and_sizes

__all__ = ["cluster_deviation", "error_of_sums", "standard_error"]


def standard_error(values: Floats, groups: Ints) -> float | None:
    """Standard error of the mean of `values` (n,), whose `groups` (n,) are numbers from 0 on.

    sqrt(G / (G - 1) * sum over groups of (sum of the group - its size * mean)^2) / n, the
    linearised error of a ratio (Cochran 1977, section 6.3; Liang and Zeger 1986). Where each group
    is one sample it is s / sqrt(n). In the unit of the values; None for fewer than two groups.
    """
    return error_of_sums(*sums_and_sizes(values, groups))


def cluster_deviation(values: Floats, groups: Ints) -> float | None:
    """Standard deviation of the groups, as `power` takes it: standard error * sqrt(groups).

    Of groups of one size it is the standard deviation of their means. None for fewer than two.
    """
    sums, sizes = sums_and_sizes(values, groups)
    error = error_of_sums(sums, sizes)
    return None if error is None else error * math.sqrt(len(sums))


def error_of_sums(sums: Floats, sizes: Floats) -> float | None:
    """`standard_error` of groups' sums (G,) and sizes (G,)."""
    count = len(sums)
    if count < 2:
        return None
    n = float(sizes.sum())
    residuals = np.abs(sums - sizes * (sums.sum() / n))
    unit = float(residuals.max())  # so that no square leaves the range of numbers
    if not unit:
        return 0.0
    error = unit * math.sqrt(count / (count - 1) * float(np.square(residuals / unit).sum())) / n
    return error if math.isfinite(error) else None
