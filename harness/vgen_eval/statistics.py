"""Confidence intervals by resampling whole groups: samples of one image are not independent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

__all__ = [
    "MIN_GROUPS",
    "RESAMPLES",
    "Interval",
    "bootstrap_mean",
    "bootstrap_merged",
    "bootstrap_pooled",
]

MIN_GROUPS = 10
"""Fewer groups than this give no interval: their resamples say nothing."""
RESAMPLES = 1000
SEED = 0
METHOD = "percentile bootstrap, clustered by group"


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A 95 % interval, or why there is none."""

    low: float | None = None
    high: float | None = None
    method: str = METHOD
    clusters: int
    resamples: int = RESAMPLES
    reason: str | None = None


def bootstrap_mean(values: Floats, groups: Ints) -> Interval:
    """Interval of the mean of `values` (n,) over resamples of their `groups` (n,)."""
    import numpy as np

    count = int(groups.max()) + 1 if groups.size else 0
    sizes = np.bincount(groups, minlength=count).astype(np.float64)
    sums = np.bincount(groups, weights=values, minlength=count)
    present = sizes > 0
    table = np.stack([sums[present], sizes[present]], axis=1)

    def mean(totals: Floats) -> Floats:
        return totals[:, 0] / totals[:, 1]

    return _percentile(table, mean)


def bootstrap_pooled(
    table: Floats, groups: Ints, compute: Callable[[Floats], float | None]
) -> Interval:
    """Interval of `compute` (k,) -> value over summed statistics `table` (n, k)."""
    import numpy as np

    count = int(groups.max()) + 1 if groups.size else 0
    sums = np.zeros((count, table.shape[1]))
    np.add.at(sums, groups, table)
    sums = sums[np.bincount(groups, minlength=count) > 0]

    def each(totals: Floats) -> Floats:
        values = [compute(row) for row in totals]
        return np.array([np.nan if value is None else value for value in values])

    return _percentile(sums, each)


def _percentile(table: Floats, statistic: Callable[[Floats], Floats]) -> Interval:
    """Resamples the rows (groups, k) of sums, in blocks that stay small."""
    import numpy as np

    groups = len(table)
    if groups < MIN_GROUPS:
        return Interval(clusters=groups, reason=f"{groups} groups, fewer than {MIN_GROUPS}")
    rng = np.random.default_rng(SEED)
    block = max(1, min(RESAMPLES, 200_000 // groups))
    parts: list[Floats] = []
    for start in range(0, RESAMPLES, block):
        drawn = (rng.integers(0, groups, groups) for _ in range(min(block, RESAMPLES - start)))
        counts = np.stack([np.bincount(one, minlength=groups) for one in drawn])
        parts.append(statistic(counts.astype(np.float64) @ table))
    values = np.concatenate(parts)
    if not np.isfinite(values).all():
        return Interval(clusters=groups, reason="undefined in some resamples")
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(low=float(low), high=float(high), clusters=groups)


def bootstrap_merged(
    rows: Sequence[int],
    groups: Ints,
    value: Callable[[Sequence[int]], float | None],
) -> Interval:
    """Interval of a statistic that no sums give: `value` of the resampled `rows` themselves."""
    import numpy as np

    members: dict[int, list[int]] = {}
    for row, group in zip(rows, groups.tolist(), strict=True):
        members.setdefault(group, []).append(row)
    names = sorted(members)
    if len(names) < MIN_GROUPS:
        return Interval(clusters=len(names), reason=f"{len(names)} groups, fewer than {MIN_GROUPS}")
    rng = np.random.default_rng(SEED)
    values: list[float] = []
    for _ in range(RESAMPLES):
        drawn = rng.integers(0, len(names), size=len(names))
        found = value([row for at in drawn.tolist() for row in members[names[at]]])
        if found is None:
            return Interval(clusters=len(names), reason="undefined in some resamples")
        values.append(found)
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(low=float(low), high=float(high), clusters=len(names))
