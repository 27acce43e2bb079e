"""Confidence intervals: whole groups are resampled, and the loop that says so agrees."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from vgen_eval.statistics import (
    MIN_GROUPS,
    Interval,
    bootstrap_mean,
    bootstrap_merged,
    bootstrap_pooled,
)


def loop_interval(
    rows: Sequence[Sequence[float]], groups: Sequence[int],
    statistic: Callable[[list[Sequence[float]]], float], *, resamples: int = 4000,
) -> tuple[float, float]:  # fmt: skip
    """95 % percentile bootstrap over groups in plain Python, with a generator of its own."""
    rng = random.Random(12345)
    members: dict[int, list[Sequence[float]]] = {}
    for row, group in zip(rows, groups, strict=True):
        members.setdefault(group, []).append(row)
    names = list(members)
    found = sorted(
        statistic([row for _ in names for row in members[rng.choice(names)]])
        for _ in range(resamples)
    )
    return found[round(0.025 * resamples)], found[round(0.975 * resamples)]


def close(found: Interval, expected: tuple[float, float], *, rel: float = 0.12) -> None:
    """Both ends within a share of the interval's width: what 1000 resamples can hold."""
    assert found.low is not None
    assert found.high is not None
    room = rel * (expected[1] - expected[0])
    assert found.low == pytest.approx(expected[0], abs=room)
    assert found.high == pytest.approx(expected[1], abs=room)


RNG = np.random.default_rng(7)
GROUPS = np.repeat(np.arange(40), RNG.integers(1, 6, 40))
VALUES = RNG.gamma(2.0, 1.5, 40)[GROUPS] + RNG.normal(0, 0.3, GROUPS.size)


def test_an_interval_of_a_mean_agrees_with_a_plain_loop() -> None:
    rows = [[float(v)] for v in VALUES]
    expected = loop_interval(rows, GROUPS.tolist(), lambda r: statistics.fmean(x for (x,) in r))
    close(bootstrap_mean(VALUES, GROUPS, method="percentile"), expected, rel=0.08)


def test_an_interval_of_a_mean_agrees_with_the_normal_approximation() -> None:
    values = RNG.normal(10.0, 2.0, 400)
    found = bootstrap_mean(values, np.arange(400))
    half = 1.96 * values.std() / math.sqrt(400)
    close(found, (values.mean() - half, values.mean() + half))
    assert found.clusters == 400
    assert found.resamples == 10_000
    assert found.method == "expanded BCa bootstrap, clustered by group"


def test_copies_of_a_sample_in_its_group_do_not_shrink_the_interval() -> None:
    values = RNG.normal(size=30)
    once = bootstrap_mean(values, np.arange(30))
    copies = bootstrap_mean(np.repeat(values, 50), np.repeat(np.arange(30), 50))
    assert (copies.low, copies.high) == pytest.approx((once.low, once.high), abs=1e-12)
    alone = bootstrap_mean(np.repeat(values, 50), np.arange(1500))
    assert alone.high is not None
    assert alone.low is not None
    assert once.high is not None
    assert once.low is not None
    assert alone.high - alone.low < 0.3 * (once.high - once.low)


def test_an_interval_of_pooled_statistics_agrees_with_a_plain_loop() -> None:
    intersection = RNG.integers(0, 100, GROUPS.size).astype(float)
    union = intersection + RNG.integers(0, 100, GROUPS.size)
    table = np.stack([intersection, union], axis=1)
    found = bootstrap_pooled(table, GROUPS, lambda t: t[:, 0] / t[:, 1], method="percentile")
    assert (found.resamples, found.method) == (
        1000, "percentile bootstrap, clustered by group",
    )  # fmt: skip

    def ciou(rows: list[Sequence[float]]) -> float:
        return sum(r[0] for r in rows) / sum(r[1] for r in rows)

    close(found, loop_interval(table.tolist(), GROUPS.tolist(), ciou))


def test_an_interval_of_what_no_sums_give_agrees_with_a_plain_loop() -> None:
    found = bootstrap_merged(
        range(GROUPS.size), GROUPS, lambda rows: float(np.median(VALUES[list(rows)])),
        method="percentile",
    )  # fmt: skip
    rows = [[float(v)] for v in VALUES]
    middle = loop_interval(rows, GROUPS.tolist(), lambda r: statistics.median(x for (x,) in r))
    close(found, middle, rel=0.25)  # a median of few groups jumps


@pytest.mark.parametrize("groups", [0, 1, MIN_GROUPS - 1])
def test_fewer_than_ten_groups_give_no_interval_and_a_reason(groups: int) -> None:
    values, names = np.ones(groups * 20), np.repeat(np.arange(groups), 20)
    for found in (
        bootstrap_mean(values, names),
        bootstrap_pooled(values[:, None], names, lambda totals: totals[:, 0]),
        bootstrap_merged(range(values.size), names, lambda rows: 1.0),
    ):
        assert (found.low, found.high) == (None, None)
        noun = "group" if groups == 1 else "groups"
        assert found.reason == f"{groups} {noun}, fewer than 10"
        assert found.clusters == groups


def test_ten_groups_are_enough() -> None:
    found = bootstrap_mean(np.arange(10.0), np.arange(10))
    assert found.low is not None
    assert found.reason is None


def test_a_statistic_that_some_resamples_lack_has_no_interval() -> None:
    table = np.zeros((12, 1))
    table[0] = 1.0
    for found in (
        bootstrap_pooled(table, np.arange(12), lambda t: np.where(t[:, 0] > 0, 1.0, np.nan)),
        bootstrap_merged(range(12), np.arange(12), lambda rows: 1.0 if 0 in rows else None),
    ):
        assert found.low is None
        assert found.reason == "undefined in some resamples"


def test_the_same_numbers_give_the_same_interval() -> None:
    assert bootstrap_mean(VALUES, GROUPS) == bootstrap_mean(VALUES.copy(), GROUPS.copy())
    swapped = bootstrap_mean(VALUES[::-1], GROUPS[::-1])
    same = bootstrap_mean(VALUES, GROUPS)
    assert (swapped.low, swapped.high) == pytest.approx((same.low, same.high))


def test_many_groups_are_resampled_in_blocks_of_the_same_draw() -> None:
    values = np.random.default_rng(0).normal(size=30_000)
    found = bootstrap_mean(values, np.arange(30_000))
    half = 1.96 * values.std() / math.sqrt(30_000)
    close(found, (values.mean() - half, values.mean() + half))
