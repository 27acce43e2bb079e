"""Permutation tests: scipy's exact ones, a loop over all exchanges, and false alarms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray
from vgen_eval.statistics import permute_mean, permute_merged, permute_pooled

Array = NDArray[Any]
RNG = np.random.default_rng(9)


def ratio(totals: Array) -> Array:
    found: Array = totals[:, 0] / totals[:, 1]
    return found


def scipy_p(gaps: Array, **options: Any) -> float:
    return float(
        scipy.stats.permutation_test(
            (gaps,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", **options
        ).pvalue
    )


@pytest.mark.parametrize("shift", [0.0, 0.4, 1.5])
@pytest.mark.parametrize("count", [1, 2, 9, 14])
def test_few_groups_are_exchanged_in_every_way_as_scipy_does(count: int, shift: float) -> None:
    gaps = RNG.normal(shift, 1.0, count)
    found = permute_mean(gaps, np.arange(count))
    wanted = 1.0 if count == 1 else scipy_p(gaps, n_resamples=np.inf)
    assert found.p_value == pytest.approx(wanted, abs=1e-12)
    assert found.exact
    assert (found.clusters, found.permutations) == (count, 2**count)


def test_ties_count_as_that_large() -> None:
    gaps = np.array([0.1, 0.2, 0.3, -0.1, 0.1, 0.3])
    assert permute_mean(gaps, np.arange(6)).p_value == scipy_p(gaps, n_resamples=np.inf)
    assert permute_mean(np.ones(5), np.arange(5)).p_value == 2 / 2**5
    assert permute_mean(np.zeros(20), np.arange(20)).p_value == 1.0


def test_many_groups_are_exchanged_at_random() -> None:
    gaps = RNG.normal(0.3, 1.0, 50)
    found = permute_mean(gaps, np.arange(50))
    assert not found.exact
    assert found.permutations == 9999
    wanted = scipy_p(gaps, n_resamples=99_999, rng=np.random.default_rng(1))
    assert found.p_value == pytest.approx(wanted, abs=4 * np.sqrt(wanted / 9999))
    # 10,000 orders, the observed one among them: never 0
    assert permute_mean(gaps + 10, np.arange(50)).p_value == 1 / 10_000


def test_whole_groups_turn_their_signs() -> None:
    groups = np.repeat(np.arange(8), RNG.integers(1, 5, 8))
    gaps = RNG.normal(0.5, 1.0, groups.size)
    sums = np.array([gaps[groups == group].sum() for group in range(8)])
    assert permute_mean(gaps, groups).p_value == scipy_p(sums, n_resamples=np.inf)


def every_exchange(mine: Array, theirs: Array, groups: Array) -> float:
    """The p-value of a difference of ratios of sums, exchange by exchange."""
    found = []
    for turned in itertools.product([False, True], repeat=int(groups.max()) + 1):
        sides = np.array(turned)[groups][:, None]
        a, b = np.where(sides, theirs, mine), np.where(sides, mine, theirs)
        found.append(abs(a[:, 0].sum() / a[:, 1].sum() - b[:, 0].sum() / b[:, 1].sum()))
    return float(np.mean([one >= found[0] - 1e-12 for one in found]))


MINE, THEIRS = RNG.integers(1, 60, (2, 30, 2)).astype(float)
THREES = np.repeat(np.arange(10), 3)


def test_statistics_of_pooled_values_change_sides_group_by_group() -> None:
    found = permute_pooled(MINE, THEIRS, THREES, ratio, ratio)
    assert found.p_value == every_exchange(MINE, THEIRS, THREES)
    assert found.exact
    assert found.permutations == 2**10


def test_values_that_no_sums_give_are_tested_alike() -> None:
    def difference(exchanged: NDArray[np.bool_]) -> float:
        a = np.where(exchanged[:, None], THEIRS, MINE).sum(axis=0)
        b = np.where(exchanged[:, None], MINE, THEIRS).sum(axis=0)
        return float(a[0] / a[1] - b[0] / b[1])

    found = permute_merged(THREES, difference)
    assert found == permute_pooled(MINE, THEIRS, THREES, ratio, ratio)
    # the same random exchanges
    ones = np.arange(30)
    assert permute_merged(ones, difference) == permute_pooled(MINE, THEIRS, ones, ratio, ratio)


def test_random_exchanges_of_pooled_values_agree_with_all_of_them() -> None:
    groups = np.repeat(np.arange(15), 2)
    found = permute_pooled(MINE, THEIRS, groups, ratio, ratio, permutations=20_000)
    wanted = every_exchange(MINE, THEIRS, groups)
    assert not found.exact
    assert found.p_value == pytest.approx(wanted, abs=4 * np.sqrt(0.25 / 20_000))


def test_runs_that_are_the_same_do_not_differ() -> None:
    for groups in (THREES, np.arange(30)):
        assert permute_pooled(MINE, MINE, groups, ratio, ratio).p_value == 1.0


def test_without_samples_or_values_there_is_no_test() -> None:
    none = np.zeros(0, np.int64)
    for found in (
        permute_mean(np.zeros(0), none),
        permute_pooled(np.zeros((0, 2)), np.zeros((0, 2)), none, ratio, ratio),
        permute_merged(none, lambda exchanged: 0.0),
    ):
        assert (found.p_value, found.reason) == (None, "no sample was scored both ways")
    undefined = permute_merged(np.arange(4), lambda exchanged: None if exchanged[0] else 1.0)
    assert (undefined.p_value, undefined.reason) == (None, "undefined under some exchanges")
    nothing = permute_merged(np.arange(4), lambda exchanged: None)
    assert (nothing.p_value, nothing.reason) == (None, "no difference")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_difference_that_is_not_finite_is_told_as_that(bad: float) -> None:
    found = permute_mean(np.array([0.5, bad, 1.0]), np.arange(3))
    assert (found.p_value, found.clusters, found.reason) == (None, 3, "not finite")


def test_false_alarms_are_as_rare_as_they_should_be() -> None:
    """At 5 %, of 1,000 pairs that do not differ, skewed, in groups of unequal size."""
    groups = np.repeat(np.arange(25), RNG.integers(1, 5, 25))
    alarms = 0
    for seed in range(1000):
        mine, theirs = RNG.exponential(1.0, (2, 25))[:, groups]
        p = permute_mean(mine - theirs, groups, permutations=199, seed=seed).p_value
        alarms += p is not None and p <= 0.05
    assert 0.03 <= alarms / 1000 <= 0.07
