"""Rank statistics against scipy's, and worked cases."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from vgen_eval.statistics import kendall_tau, kendall_w, pairwise_wins, ranks

RNG = np.random.default_rng(6)


@pytest.mark.parametrize("ties", [3, 1000])
def test_kendall_s_tau_b_is_scipy_s(ties: int) -> None:
    x, y = RNG.integers(0, ties, (2, 25)).astype(float)
    wanted = scipy.stats.kendalltau(x, y, variant="b").statistic
    assert kendall_tau(x.tolist(), y.tolist()) == pytest.approx(wanted, abs=1e-12)


def test_an_order_of_ties_alone_agrees_with_none() -> None:
    assert kendall_tau([1.0, 1.0], [1.0, 2.0]) is None
    assert kendall_tau([], []) is None
    assert kendall_w([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]) is None
    assert kendall_w([[1.0, 2.0]]) is None
    assert kendall_w([[1.0], [1.0]]) is None


def test_places_are_scipy_s() -> None:
    values = RNG.integers(0, 6, 15).astype(float)
    assert ranks(values.tolist(), higher_is_better=False) == scipy.stats.rankdata(values).tolist()
    assert ranks(values.tolist(), higher_is_better=True) == scipy.stats.rankdata(-values).tolist()


@pytest.mark.parametrize("ties", [3, 1000])
@pytest.mark.parametrize("shape", [(3, 4), (6, 9), (20, 3)])
def test_kendall_s_w_is_friedman_s_chi_square(shape: tuple[int, int], ties: int) -> None:
    scores = RNG.integers(0, ties, shape).astype(float)
    found = kendall_w(scores.tolist())
    wanted = scipy.stats.friedmanchisquare(*scores.T)
    assert found is not None
    assert found.chi_square == pytest.approx(wanted.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
    assert found.w == pytest.approx(found.chi_square / (shape[0] * (shape[1] - 1)), rel=1e-12)


def test_kendall_s_w_of_one_order_and_of_opposite_ones() -> None:
    same = kendall_w([[1, 2, 3, 4], [10, 20, 30, 40], [0, 1, 2, 9]])
    assert same is not None
    assert same.w == 1.0
    opposite = kendall_w([[1, 2, 3, 4], [4, 3, 2, 1]])
    assert opposite is not None
    assert (opposite.w, opposite.p_value) == (0.0, 1.0)


def test_kendall_s_w_is_the_mean_of_spearman_s_correlations() -> None:
    scores = RNG.normal(size=(5, 12))
    pairs = scipy.stats.spearmanr(scores, axis=1).statistic[np.triu_indices(5, 1)]
    found = kendall_w(scores.tolist())
    assert found is not None
    assert found.w == pytest.approx((1 + 4 * pairs.mean()) / 5, rel=1e-12)


def test_wins_are_counted_sample_by_sample_where_both_have_a_value() -> None:
    nan = float("nan")
    values = np.array([[1.0, 2.0, 3.0, nan], [1.0, 1.0, 4.0, 5.0], [nan, nan, nan, nan]])
    found = pairwise_wins(values, higher_is_better=True)
    assert found.wins.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert found.ties.tolist() == [[3, 1, 0], [1, 4, 0], [0, 0, 0]]
    assert found.both.tolist() == [[3, 3, 0], [3, 4, 0], [0, 0, 0]]
    lower = pairwise_wins(values, higher_is_better=False)
    assert lower.wins.tolist() == found.wins.T.tolist()
