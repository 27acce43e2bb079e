"""Power: closed forms of scipy's distributions, and simulated tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from vgen_eval.statistics import groups_needed, smallest_difference

RNG = np.random.default_rng(4)


def true_power(groups: int, effect: float, alpha: float) -> float:
    """Of a two-sided one-sample t test: the noncentral t's two tails."""
    edge = scipy.stats.t.ppf(1 - alpha / 2, groups - 1)
    moved = effect * math.sqrt(groups)
    upper = scipy.stats.nct.sf(edge, groups - 1, moved)
    return float(upper + scipy.stats.nct.cdf(-edge, groups - 1, moved))


@pytest.mark.parametrize("groups", [10, 30, 200, 5000])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.9, 0.01)])
def test_the_smallest_difference_is_found_with_the_power_asked_for(
    groups: int, power: float, alpha: float
) -> None:
    found = smallest_difference(groups, 2.5, power=power, alpha=alpha)
    assert found is not None
    assert true_power(groups, found / 2.5, alpha) == pytest.approx(power, abs=0.3 / groups)


def test_with_many_groups_it_is_the_closed_form_of_the_normal() -> None:
    reach = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)
    assert smallest_difference(10**6, 1.0) == pytest.approx(reach / 1000, rel=1e-5)
    assert groups_needed(0.01, 1.0) == pytest.approx((reach / 0.01) ** 2, abs=3)


@pytest.mark.parametrize("difference", [0.02, 0.3, 1.0, -1.0, 4.0, 1e6])
def test_so_many_groups_are_needed_and_one_fewer_does_not_do(difference: float) -> None:
    groups = groups_needed(difference, 1.0)
    assert groups is not None
    enough = smallest_difference(groups, 1.0)
    assert enough is not None
    assert enough <= abs(difference)
    fewer = smallest_difference(groups - 1, 1.0)
    assert groups == 2 or (fewer is not None and fewer > abs(difference))


def test_simulated_tests_find_the_difference_as_often_as_foretold() -> None:
    groups = groups_needed(0.5, 1.0)
    assert groups == 34
    drawn = RNG.normal(0.5, 1.0, (20_000, groups))
    p_values = scipy.stats.ttest_1samp(drawn, 0.0, axis=1).pvalue
    assert np.mean(p_values < 0.05) == pytest.approx(0.8, abs=0.015)


def test_what_cannot_be_shown_has_no_number() -> None:
    assert groups_needed(0.0, 1.0) is None
    assert groups_needed(float("nan"), 1.0) is None
    assert groups_needed(1e-9, 1.0) is None
    assert groups_needed(0.1, 0.0) == 2
    assert smallest_difference(1, 1.0) is None
    with pytest.raises(ValueError, match="standard deviation"):
        groups_needed(0.1, -1.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        smallest_difference(10, 1.0, power=1.0)
