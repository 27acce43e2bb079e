"""Paired tests: under the hypothesis of no difference, two runs may be exchanged group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval.statistics.clusters import Clusters, Floats, Ints, Take, passes, sums_and_sizes
from vgen_eval.statistics.records import MEAN_RESAMPLES, RESAMPLES, SEED, Permutation

__all__ = ["permute_mean", "permute_merged", "permute_pooled"]

MOST_EXACT = 14
"""Groups of which all 2^groups exchanges are made."""

MOST_EXACT_MERGED = 10
"""The same where each exchange costs a merge of all samples."""

ROUNDING = 1e-12
"""Relative: differences that the order of additions tells apart count as equal."""

NOT_FINITE = "not finite"
UNDEFINED = "undefined under some exchanges"

Exchanged = NDArray[np.uint8]


def permute_mean(
    gaps: Floats, groups: Ints, *, permutations: int = MEAN_RESAMPLES - 1, seed: int = SEED
) -> Permutation:
    """Two-sided test that the mean of paired differences `gaps` (n,) is 0.

    The signs of whole `groups` (n,) are turned: in all ways up to 14 groups, else in
    `permutations` random ways. No p value, "not finite", where a difference is NaN or infinite.
    """
    sums, _ = sums_and_sizes(gaps, groups)
    if not len(sums):
        return _none()
    if not np.isfinite(gaps).all():
        return Permutation(clusters=len(sums), reason=NOT_FINITE)
    total = float(sums.sum())
    clusters = Clusters(sums[:, None], np.arange(len(sums)))

    def differences(exchanged: Exchanged) -> Floats:
        return total - 2 * clusters.weighted(exchanged)[:, 0]

    scale = float(np.abs(sums).sum())
    return _test(len(sums), differences, total, scale, permutations, seed, width=1)


def permute_pooled(
    mine: Floats | Take,
    theirs: Floats | Take,
    groups: Ints,
    compute_mine: Callable[[Floats], Floats],
    compute_theirs: Callable[[Floats], Floats],
    *,
    permutations: int = RESAMPLES - 1,
    seed: int = SEED,
) -> Permutation:
    """Two-sided test that a value made of summed statistics does not differ between two runs.

    `mine` and `theirs`: statistics of the same samples (n, k), or functions that give those of
    some samples; whole `groups` (n,) of them are exchanged. `compute_*`: totals (m, k) -> values
    (m,), NaN where undefined.
    """
    count = int(np.unique(groups).size)
    if not count:
        return _none()
    ours, others = Clusters(mine, groups), Clusters(theirs, groups)

    def ends(exchanged: Exchanged) -> tuple[Floats, Floats]:
        # sums of what is there, not differences of sums: roundings of 0 would become values
        kept = 1 - exchanged
        return (
            compute_mine(ours.weighted(kept) + others.weighted(exchanged)),
            compute_theirs(others.weighted(kept) + ours.weighted(exchanged)),
        )

    def differences(exchanged: Exchanged) -> Floats:
        first, second = ends(exchanged)
        return first - second

    first, second = (float(one[0]) for one in ends(np.zeros((1, count), np.uint8)))
    scale = max(abs(first), abs(second))
    return _test(count, differences, first - second, scale, permutations, seed, width=ours.width)


def permute_merged(
    groups: Ints,
    difference: Callable[[NDArray[np.bool_]], float | None],
    *,
    permutations: int = RESAMPLES - 1,
    seed: int = SEED,
) -> Permutation:
    """The same for values that no sums give; all exchanges are made up to 10 groups.

    `difference`: which of the samples (n,) are exchanged -> the difference then, None where it is
    undefined.
    """
    if not groups.size:
        return _none()
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)

    def differences(exchanged: Exchanged) -> Floats:
        each = (difference(row.astype(bool)[numbers]) for row in exchanged)
        return np.array([np.nan if value is None else value for value in each])

    count = int(numbers.max()) + 1
    observed = float(differences(np.zeros((1, count), np.uint8))[0])
    return _test(
        count,
        differences,
        observed,
        abs(observed),
        permutations,
        seed,
        width=1,
        most_exact=MOST_EXACT_MERGED,
    )


def _none() -> Permutation:
    return Permutation(clusters=0, reason="no sample was scored both ways")


def _test(
    groups: int,
    differences: Callable[[Exchanged], Floats],
    observed: float,
    scale: float,
    permutations: int,
    seed: int,
    *,
    width: int,
    most_exact: int = MOST_EXACT,
) -> Permutation:
    """How often exchanges differ by as much as what was observed."""
    none = Permutation(clusters=groups)
    if np.isinf(observed):
        return msgspec.structs.replace(none, reason=NOT_FINITE)
    if np.isnan(observed):
        return msgspec.structs.replace(none, reason="no difference")
    least = abs(observed) - ROUNDING * scale
    exact = groups <= most_exact
    tried = 2**groups if exact else permutations
    as_large = 0
    for exchanged in _exchanges(groups, tried, seed, exact=exact, width=width):
        found = np.abs(differences(exchanged))
        if not np.isfinite(found).all():
            return msgspec.structs.replace(none, reason=UNDEFINED)
        as_large += int((found >= least).sum())
    # the observed order is one of all, and one more beside random ones (Phipson and Smyth 2010)
    share = as_large / tried if exact else (as_large + 1) / (tried + 1)
    return msgspec.structs.replace(none, p_value=share, permutations=tried, exact=exact)


def _exchanges(
    groups: int, count: int, seed: int, *, exact: bool, width: int
) -> Iterator[Exchanged]:
    """(part, groups), 1 where a group is exchanged: all of them counted up, or random ones."""
    rng = np.random.default_rng(seed)
    bits = -(-groups // 8)
    start = 0
    for part in passes(count, width=width, groups=groups):
        if exact:
            numbers = np.arange(start, start + part)[:, None]
            yield (numbers >> np.arange(groups) & 1).astype(np.uint8)
        else:
            drawn = np.frombuffer(rng.bytes(part * bits), np.uint8).reshape(part, bits)
            yield np.unpackbits(drawn, axis=1, count=groups)
        start += part
