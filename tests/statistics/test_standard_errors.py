"""Standard errors: scipy's without groups, and by hand with them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from vgen_eval.statistics import bootstrap_mean, cluster_deviation, standard_error

RNG = np.random.default_rng(5)


def test_without_groups_it_is_that_of_scipy() -> None:
    values = RNG.gamma(2.0, 1.0, 77)
    wanted = scipy.stats.sem(values)
    assert standard_error(values, np.arange(77)) == pytest.approx(wanted, rel=1e-12)
    assert bootstrap_mean(values, np.arange(77)).standard_error == pytest.approx(wanted, rel=1e-12)
    assert cluster_deviation(values, np.arange(77)) == pytest.approx(values.std(ddof=1), rel=1e-12)


def test_of_groups_of_one_size_it_is_that_of_their_means() -> None:
    values = RNG.normal(size=(20, 3))
    found = standard_error(values.ravel(), np.repeat(np.arange(20), 3))
    assert found == pytest.approx(scipy.stats.sem(values.mean(axis=1)), rel=1e-12)
    deviation = cluster_deviation(values.ravel(), np.repeat(np.arange(20), 3))
    assert deviation == pytest.approx(values.mean(axis=1).std(ddof=1), rel=1e-12)


def test_groups_of_two_sizes_by_hand() -> None:
    # mean 2; group sums less size * mean: (1 + 1) - 4 = -2 and 4 - 2 = 2
    found = standard_error(np.array([1.0, 1.0, 4.0]), np.array([0, 0, 1]))
    assert found == pytest.approx(math.sqrt(2 / 1 * (4 + 4)) / 3, rel=1e-15)


def test_it_is_how_far_means_of_such_sets_lie_apart() -> None:
    def drawn() -> tuple[float, float]:
        groups = np.repeat(np.arange(60), RNG.integers(1, 6, 60))
        values = RNG.gamma(2.0, 1.0, 60)[groups] + RNG.normal(size=groups.size)
        found = standard_error(values, groups)
        assert found is not None
        return float(values.mean()), found

    means, errors = np.array([drawn() for _ in range(3000)]).T
    assert np.sqrt((errors**2).mean()) == pytest.approx(means.std(ddof=1), rel=0.05)


def test_copies_of_a_sample_in_its_group_add_no_certainty() -> None:
    values = RNG.normal(size=25)
    once = standard_error(values, np.arange(25))
    copies = standard_error(np.repeat(values, 9), np.repeat(np.arange(25), 9))
    assert copies == pytest.approx(once, rel=1e-12)


def test_one_group_has_none() -> None:
    assert standard_error(np.ones(5), np.zeros(5, np.int64)) is None
    assert standard_error(np.ones(0), np.zeros(0, np.int64)) is None
    assert cluster_deviation(np.ones(5), np.zeros(5, np.int64)) is None
    assert standard_error(np.ones(5), np.arange(5)) == 0.0
