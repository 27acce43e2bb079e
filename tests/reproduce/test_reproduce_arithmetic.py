"""Verdicts on numbers alone, and the mean of several sets with its interval."""

from __future__ import annotations

import math

import pytest
from vgen_eval.results.reproducing.departures import Departure
from vgen_eval.results.reproducing.verdicts import (
    SLACK,
    Measured,
    Published,
    compare_numbers,
    judge,
    mean_of_sets,
)


@pytest.mark.parametrize(
    ("published", "is_within"),
    [(0.70, True), (0.80, True), (0.7995, True), (0.6995, True), (0.699, False), (0.8006, False)],
)
def test_the_published_value_lies_in_the_interval_give_or_take_its_digit(
    published: float, is_within: bool
) -> None:
    ours = Measured(value=0.75, low=0.70, high=0.80)
    found, by = compare_numbers(ours, Published(value=published, tolerance=0.0005))
    assert (found, by) == (is_within, "interval")


TEMPERATURE = Departure("decoder.options.temperature", 100.0, 1.0)


@pytest.mark.parametrize(
    ("departures", "word", "by"),
    [
        ((), "within", "interval"),
        ((TEMPERATURE,), "outside", "2% of the published value"),
        ((Departure("model.generation.seed", 0, 1),), "within", "interval"),
        ((TEMPERATURE, Departure("samples", {"n": 9}, {"n": 8})), "approximate", "interval"),
    ],
)
def test_an_interval_of_samples_excuses_no_other_reading_of_the_same_ones(
    departures: tuple[Departure, ...], word: str, by: str
) -> None:
    ours = Measured(value=0.3787, low=0.3125, high=0.4403)
    verdict = judge(ours, Published(value=0.428, tolerance=0.0005), departures)
    assert (verdict.word, verdict.by) == (word, by)


@pytest.mark.parametrize("off", [0.0, 0.5, 1.0, 1.0001])
def test_the_slack_stands_in_for_an_interval(off: float) -> None:
    published = Published(value=10.0, tolerance=0.05)
    ours = Measured(value=10.0 + off * (0.05 + SLACK * 10.0))
    assert compare_numbers(ours, published)[0] == (off <= 1.0)


def test_a_value_of_zero_can_be_hit() -> None:
    assert judge(Measured(value=0.0), Published(value=0.0, tolerance=0.05), ()).word == "within"


def test_the_mean_of_sets_has_the_interval_of_independent_sets() -> None:
    parts = [Measured(value=v, low=v - 0.03, high=v + 0.04, n=10) for v in (0.2, 0.4, 0.9)]
    mean = mean_of_sets(parts)
    assert mean.value == pytest.approx(0.5)
    assert mean.low == pytest.approx(0.5 - 0.03 / math.sqrt(3))
    assert mean.high == pytest.approx(0.5 + 0.04 / math.sqrt(3))
    assert mean.n == 30


def test_a_set_without_an_interval_leaves_the_mean_without() -> None:
    parts = [Measured(value=0.2, low=0.1, high=0.3), Measured(value=0.4, no_interval="7 groups")]
    mean = mean_of_sets(parts)
    assert (mean.low, mean.high, mean.no_interval) == (None, None, "of one set: 7 groups")


def test_one_set_is_its_own_mean() -> None:
    only = Measured(value=0.2, low=0.1, high=0.4, n=3)
    assert mean_of_sets([only]) is only
