"""The bootstrap against scipy's on samples without groups, and where nothing is left to chance."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray
from vgen_eval.statistics import (
    bootstrap_mean,
    bootstrap_merged,
    bootstrap_pooled,
    permute_pooled,
)
from vgen_eval.statistics.bootstrap import bootstrap_several

Array = NDArray[Any]
RNG = np.random.default_rng(3)
SKEWED = RNG.lognormal(0.0, 0.8, 40)
PAIRS = np.stack([RNG.gamma(2.0, 1.0, 60), RNG.gamma(3.0, 1.0, 60)], axis=1)


def ratio(totals: Array) -> Array:
    found: Array = totals[:, 0] / totals[:, 1]
    return found


@pytest.mark.parametrize(("method", "name"), [("bca", "BCa"), ("percentile", "percentile")])
def test_the_interval_of_a_mean_is_scipy_s(method: Any, name: Any) -> None:
    found = bootstrap_mean(SKEWED, np.arange(40), method=method, resamples=40_000)
    wanted = scipy.stats.bootstrap(
        (SKEWED,), np.mean, method=name, n_resamples=40_000, rng=np.random.default_rng(8)
    ).confidence_interval
    room = 0.06 * (wanted.high - wanted.low)  # four deviations of the upper end
    assert found.low == pytest.approx(wanted.low, abs=room)
    assert found.high == pytest.approx(wanted.high, abs=room)


@pytest.mark.parametrize(("method", "name"), [("bca", "BCa"), ("percentile", "percentile")])
def test_the_interval_of_a_pooled_value_is_scipy_s(method: Any, name: Any) -> None:
    found = bootstrap_pooled(PAIRS, np.arange(60), ratio, method=method, resamples=20_000)
    wanted = scipy.stats.bootstrap(
        (PAIRS[:, 0], PAIRS[:, 1]),
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True, method=name, n_resamples=20_000, rng=np.random.default_rng(8),
    )  # fmt: skip
    ends = wanted.confidence_interval
    room = 0.03 * (ends.high - ends.low)
    assert found.low == pytest.approx(ends.low, abs=room)
    assert found.high == pytest.approx(ends.high, abs=room)
    assert found.standard_error == pytest.approx(wanted.standard_error * np.sqrt(60 / 59), rel=0.03)


def test_expanded_intervals_of_normal_means_are_those_of_student_s_t() -> None:
    values = RNG.normal(5.0, 1.0, 12)
    values = np.concatenate([values, 10 - values])  # no skew
    found = bootstrap_mean(values, np.arange(24), resamples=200_000)
    half = scipy.stats.t.ppf(0.975, 23) * scipy.stats.sem(values)
    assert found.low == pytest.approx(5 - half, abs=0.03 * half)
    assert found.high == pytest.approx(5 + half, abs=0.03 * half)
    plain = bootstrap_mean(values, np.arange(24), resamples=200_000, method="percentile")
    assert found.low < plain.low < plain.high < found.high  # type: ignore[operator]


def test_a_skewed_mean_has_the_longer_arm_on_the_long_side() -> None:
    found = bootstrap_mean(SKEWED, np.arange(40))
    plain = bootstrap_mean(SKEWED, np.arange(40), method="percentile")
    assert found.high - SKEWED.mean() > 1.3 * (SKEWED.mean() - found.low)
    assert found.high > plain.high  # type: ignore[operator]
    assert found.low > plain.low  # type: ignore[operator]


@pytest.mark.parametrize("method", ["expanded_bca", "bca", "percentile"])
def test_equal_values_give_an_interval_of_no_width(method: Any) -> None:
    groups = np.repeat(np.arange(15), np.arange(1, 16))
    values = np.full(groups.size, 0.1)
    mean = bootstrap_mean(values, groups, method=method)
    assert (mean.low, mean.high) == pytest.approx((0.1, 0.1), rel=1e-14)
    assert (mean.low, mean.standard_error) == (mean.high, 0.0)
    table = np.stack([values, np.ones_like(values)], axis=1)
    pooled = bootstrap_pooled(table, groups, ratio, method=method)
    assert (pooled.low, pooled.standard_error) == (pooled.high, 0.0)
    zero = bootstrap_mean(values * 0, groups, method=method)
    assert (zero.low, zero.high, zero.standard_error) == (0.0, 0.0, 0.0)


def test_equal_merged_values_give_an_interval_of_no_width() -> None:
    found = bootstrap_merged(range(20), np.arange(20), lambda rows: 3.0)
    assert (found.low, found.high, found.standard_error) == (3.0, 3.0, 0.0)
    assert found.method == "expanded percentile bootstrap, clustered by group"


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e200, 1e306, 1e308])
def test_nothing_that_is_no_number_comes_out(scale: float) -> None:
    values = scale * (1 + np.arange(30.0) % 7)
    for found in (
        bootstrap_mean(values, np.arange(30)),
        bootstrap_pooled(values[:, None], np.arange(30), lambda totals: totals[:, 0] / 30),
    ):
        ends = (found.low, found.high, found.standard_error)
        if found.low is None:
            assert (ends, found.reason) == ((None, None, None), "undefined in some resamples")
        else:
            assert all(np.isfinite(end) for end in ends)
            assert found.low < values.mean() < found.high  # type: ignore[operator]


def test_scale_and_place_of_the_values_carry_over() -> None:
    found = bootstrap_mean(SKEWED, np.arange(40))
    moved = bootstrap_mean(1000 - 5 * SKEWED, np.arange(40))
    small = bootstrap_mean(1e-200 * SKEWED, np.arange(40))
    assert moved.low == pytest.approx(1000 - 5 * found.high, rel=1e-4)  # type: ignore[operator]
    assert moved.high == pytest.approx(1000 - 5 * found.low, rel=1e-4)  # type: ignore[operator]
    assert small.low == pytest.approx(1e-200 * found.low, rel=1e-9)  # type: ignore[operator]


def test_the_order_of_samples_does_not_matter() -> None:
    groups = np.repeat(np.arange(30), RNG.integers(1, 4, 30))
    table = RNG.integers(0, 50, (groups.size, 2)) + 1.0
    order = RNG.permutation(groups.size)
    assert bootstrap_pooled(table, groups, ratio) == bootstrap_pooled(
        table[order], groups[order], ratio
    )
    assert bootstrap_mean(table[:, 0], groups) == bootstrap_mean(table[order, 0], groups[order])


def test_groups_may_have_gaps_in_their_numbers() -> None:
    assert bootstrap_mean(SKEWED, np.arange(40) * 3) == bootstrap_mean(SKEWED, np.arange(40))
    assert bootstrap_pooled(PAIRS, np.arange(60) * 3 + 5, ratio) == bootstrap_pooled(
        PAIRS, np.arange(60), ratio
    )


def test_several_values_of_one_table_are_each_what_they_are_alone() -> None:
    def both(totals: Array) -> Array:
        return np.stack([totals[:, 0] / totals[:, 1], totals[:, 1]], axis=1)

    found = bootstrap_several(PAIRS, np.arange(60), both, 2)
    assert found[0] == bootstrap_pooled(PAIRS, np.arange(60), ratio)
    assert found[1] == bootstrap_pooled(PAIRS, np.arange(60), lambda totals: totals[:, 1])
    few = bootstrap_several(PAIRS[:4], np.arange(4), both, 2)
    assert [one.reason for one in few] == ["4 groups, fewer than 10"] * 2


def test_a_table_in_pieces_is_summed_as_a_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from vgen_eval.statistics import clusters

    groups = RNG.permutation(np.repeat(np.arange(40), RNG.integers(1, 5, 40)))
    table = RNG.integers(0, 9, (groups.size, 3)).astype(float)
    weights = RNG.integers(0, 4, (5, 40))
    whole = clusters.Clusters(table, groups)
    sums = np.array([table[groups == group].sum(axis=0) for group in range(40)])
    for piece in (1, 20, 10_000):
        monkeypatch.setattr(clusters, "PIECE", piece)
        assert np.array_equal(whole.weighted(weights), weights @ sums)
    (each,) = clusters.leave_out(40, 1000, width=3)
    assert np.array_equal(each, 1 - np.eye(40))
    (sevenths,) = clusters.leave_out(40, 7, width=3)
    assert [np.flatnonzero(row == 0).tolist() for row in sevenths] == [
        list(range(part, 40, 7)) for part in range(7)
    ]


def test_statistics_of_one_group_alone_leave_none_behind() -> None:
    """0.1 + 0.2 + 0.3 without its parts is 0, not 5e-17, of which a root or a ratio is made."""
    table = np.zeros((30, 2))
    table[[4, 5, 6], 0] = 0.1, 0.2, 0.3
    table[:, 1] = 1.0
    groups = np.r_[0:4, 4, 4, 4, 5:28]
    seen: list[float] = []

    def compute(totals: Array) -> Array:
        seen.extend(totals[:, 0].tolist())
        return np.sqrt(totals[:, 0] / totals[:, 1])

    assert bootstrap_pooled(table, groups, compute).low == 0.0
    other = table * [0.0, 1.0]
    assert permute_pooled(table, other, groups, compute, compute).p_value == 1.0
    multiples = np.array(seen) / (0.1 + 0.2 + 0.3)
    assert np.abs(multiples - multiples.round()).max() < 1e-12
    assert not ((multiples > 0) & (multiples < 0.5)).any()
    assert multiples.min() == 0.0


def test_wide_statistics_of_many_samples_take_little_memory() -> None:
    """1,800 bins of 20,000 samples would be 288 MB as a table."""

    def take(rows: NDArray[np.int64]) -> Array:
        return np.repeat(1.0 + rows[:, None] % 5, 1800, axis=1)

    tracemalloc.start()
    found = bootstrap_pooled(take, np.arange(20_000), lambda totals: totals.mean(axis=1) / 20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.low < 3.0 < found.high  # type: ignore[operator]
    assert peak < 200e6


def test_many_samples_and_resamples_of_a_mean_take_little_memory() -> None:
    tracemalloc.start()
    found = bootstrap_mean(RNG.normal(size=10_000), np.arange(10_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.clusters, found.resamples) == (10_000, 10_000)
    assert peak < 50e6
