"""Measures of agreement against published worked examples, other programs, and plain loops."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from vgen_eval.results.judging.measures import Units, measure_labels, measure_pairs
from vgen_eval.statistics import (
    bootstrap_merged,
    bootstrap_pooled,
    bootstrap_weighted,
    cohen_kappa,
    krippendorff_alpha,
    pairwise_accuracy,
    pairwise_auc,
    plain_agreement,
    roc_auc,
    tie_credits,
)
from vgen_eval.statistics.agreement import weighted_roc_auc
from vgen_eval.statistics.raters import confusion, kappa_of

NONE = float("nan")
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3),
    (NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE),
)
"""Krippendorff 2011, section D: four observers, twelve units, values missing."""


# --- ROC-AUC


def test_auc_counts_ties_half() -> None:
    # pairs (positive, negative): .8>.3, .8>.5, .5>.3, .5=.5
    assert roc_auc([0.8, 0.5, 0.3, 0.5], [1, 1, 0, 0]) == 3.5 / 4


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 6, 80) / 5, rng.random(80) < 0.3
    assert roc_auc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@pytest.mark.parametrize("label", [0, 1])
def test_auc_of_one_class_is_none(label: int) -> None:
    assert roc_auc([0.1, 0.9], [label, label]) is None


def test_auc_of_nothing_is_none() -> None:
    assert roc_auc([], []) is None
    assert pairwise_auc([]) is None


def test_auc_of_pairs_enters_each_in_both_directions() -> None:
    # positives .3, .1, -.2; negatives -.3, -.1, .2: above are 3, 2, 1 of three each
    assert pairwise_auc([0.3, 0.1, -0.2]) == pytest.approx(6 / 9)


def test_auc_of_pairs_is_scikit_learns_over_doubled_pairs() -> None:
    differences = np.random.default_rng(3).normal(0.3, 1, 60).round(1)
    doubled = np.concatenate([differences, -differences])
    classes = np.repeat([1, 0], 60)
    assert pairwise_auc(differences) == pytest.approx(roc_auc_score(classes, doubled), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_weighted_auc_is_that_of_scores_that_are_repeated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(0, 6, 40) / 5, rng.random(40) < 0.3
    weights = rng.integers(0, 4, (7, 40))
    found = weighted_roc_auc(scores, positive, weights)
    for each, weighting in zip(found, weights, strict=True):
        rows = np.repeat(np.arange(40), weighting)
        assert each == pytest.approx(roc_auc_score(positive[rows], scores[rows]), abs=1e-12)


def test_a_weighted_auc_is_undefined_where_a_class_does_not_count() -> None:
    found = weighted_roc_auc([1, 2, 2], [1, 0, 1], np.array([[0, 2, 0], [1, 0, 1], [1, 1, 1]]))
    # 1 below 2, 2 beside 2: half a pair of two
    assert np.isnan(found[:2]).all()
    assert found[2] == 0.25
    assert np.isnan(weighted_roc_auc([], [], np.zeros((2, 0)))).all()


# --- intervals


def drawn_units(seed: int = 1, count: int = 90) -> Units:
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 2, count).astype(float)
    judge = (human + rng.integers(0, 5, count)) / 5
    return Units(judge=judge, human=human, groups=rng.integers(0, 30, count))


def test_intervals_of_aucs_are_those_of_the_rows_drawn_one_by_one() -> None:
    units = drawn_units()
    rows = range(len(units.human))
    measures = {
        "labels": (measure_labels(units, (0.0, 1.0))[-1],
                   lambda at: roc_auc(units.judge[at], units.human[at] == 1)),
        "pairs": (measure_pairs(units, band=0.05)[0], lambda at: pairwise_auc(units.judge[at])),
    }  # fmt: skip
    for measured, value in measures.values():
        wanted = bootstrap_merged(rows, units.groups, lambda at, of=value: of(np.asarray(at)))  # type: ignore[misc]
        assert measured.name == "auc"
        assert measured.interval is not None
        assert measured.interval.method == wanted.method
        for field in ("low", "high", "standard_error"):
            assert getattr(measured.interval, field) == pytest.approx(getattr(wanted, field))


def test_both_kappas_have_the_intervals_that_each_has_alone() -> None:
    units = drawn_units()
    known = (0.0, 0.5, 1.0)
    _, *kappas = measure_labels(units, known)[:3]
    read = np.abs(units.judge[:, None] - np.array(known)).argmin(axis=1)
    said = np.searchsorted(known, units.human)
    for measured, weights in zip(kappas, ("none", "quadratic"), strict=True):
        wanted = bootstrap_pooled(
            confusion(read, said, 3),
            units.groups,
            lambda t, how=weights: kappa_of(t, 3, how),  # type: ignore[misc]
        )
        assert measured.interval == wanted


def test_percentiles_leave_no_group_out() -> None:
    seen: set[int] = set()

    def mean(weights: np.ndarray) -> np.ndarray:
        seen.update(weights.sum(axis=1).tolist())
        return weights @ np.arange(20)[:, None] / 20

    bootstrap_weighted(mean, np.arange(20), 1, method="expanded_percentile")
    assert seen == {20}


# --- pairs


def test_pairs_are_right_tied_or_wrong_by_the_band() -> None:
    found = pairwise_accuracy([0.4, 0.04, 0.0, -0.04, -0.4], band=0.05)
    assert found == (1, 3, 1)
    assert found.accuracy == 2.5 / 5
    assert found.without_ties == 1 / 2
    assert found.ties_wrong == 1 / 5


@pytest.mark.parametrize(("better", "worse"), [(0.85, 0.8), (0.3, 0.25), (0.15, 0.1), (1, 0.95)])
def test_a_difference_of_just_the_band_is_no_tie(better: float, worse: float) -> None:
    # in binary some of these come out below .05
    assert pairwise_accuracy([better - worse], band=0.05).right == 1


def test_without_a_band_equal_scores_alone_are_ties() -> None:
    assert tie_credits([0.001, 0.0, -0.001], 0.0).tolist() == [1.0, 0.5, 0.0]
    assert tie_credits([0.1 + 0.2 - 0.3], 0.0).tolist() == [0.5]


def test_pairs_that_are_all_tied_have_no_accuracy_without_ties() -> None:
    found = pairwise_accuracy([0.01, -0.01], band=0.05)
    assert (found.accuracy, found.without_ties, found.ties_wrong) == (0.5, None, 0.0)


def test_no_pairs_have_no_accuracy() -> None:
    assert pairwise_accuracy([]).accuracy is None


# --- kappa


def test_kappa_of_a_worked_table() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed .7, by chance .5
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert plain_agreement(first, second) == 0.7


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("ours", "theirs"), [("none", None), ("quadratic", "quadratic")])
def test_kappa_is_that_of_scikit_learn(seed: int, ours: str, theirs: str | None) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 60)
    second = np.where(rng.random(60) < 0.6, first, rng.integers(0, 4, 60))
    found = cohen_kappa(first, second, weights=ours)  # type: ignore[arg-type]
    assert found == pytest.approx(cohen_kappa_score(first, second, weights=theirs), abs=1e-12)


def test_kappa_of_known_categories_that_do_not_occur_is_that_of_scikit_learn() -> None:
    first, second = [0, 0, 3, 3, 0], [0, 3, 3, 3, 0]
    found = cohen_kappa(first, second, weights="quadratic", categories=range(4))
    theirs = cohen_kappa_score(first, second, weights="quadratic", labels=[0, 1, 2, 3])
    assert found == pytest.approx(theirs, abs=1e-12)


def test_kappa_is_none_where_chance_alone_would_agree() -> None:
    assert cohen_kappa([1, 1], [1, 1]) is None
    assert cohen_kappa([], []) is None


# --- alpha


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_published_example(level: str, published: float) -> None:
    found = krippendorff_alpha(OBSERVERS, level=level)  # type: ignore[arg-type]
    assert found is not None
    assert round(found, 3) == published


def test_alpha_of_the_published_binary_example() -> None:
    first, second = (0, 1, 0, 0, 0, 0, 0, 0, 1, 0), (1, 1, 1, 0, 0, 1, 0, 0, 0, 0)
    found = krippendorff_alpha([first, second], level="nominal")
    assert found is not None
    assert round(found, 3) == 0.095


def test_alpha_of_the_published_nominal_example() -> None:
    first, second = "aabbdcccedda", "babbbcccedddd"[:12]
    codes = [[ord(letter) for letter in rater] for rater in (first, second)]
    found = krippendorff_alpha(codes, level="nominal")
    assert found is not None
    assert round(found, 3) == 0.692


def plain_alpha(ratings: list[list[float]], level: str) -> float:
    """Alpha by pairs of ratings, written out."""
    units = [[v for v in column if v == v] for column in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    every = sorted(value for unit in units for value in unit)

    def apart(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(low <= value <= high for value in every)
        return (between - (every.count(a) + every.count(b)) / 2) ** 2 if a != b else 0.0

    seen = sum(
        2 * sum(apart(a, b) for a, b in combinations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum(apart(a, b) for a, b in product(every, every)) / (len(every) - 1)
    return 1 - seen / expected


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_that_of_plain_loops(seed: int, level: str) -> None:
    rng = np.random.default_rng(seed)
    ratings = rng.integers(1, 6, (3, 25)).astype(float)
    ratings[rng.random((3, 25)) < 0.25] = np.nan
    found = krippendorff_alpha(ratings, level=level)  # type: ignore[arg-type]
    assert found == pytest.approx(plain_alpha(ratings.tolist(), level), abs=1e-12)


def test_alpha_of_interval_data_takes_as_many_values_as_ratings() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.normal(1000, 0.1, (2, 40))
    found = krippendorff_alpha(ratings, level="interval")
    assert found == pytest.approx(plain_alpha(ratings.tolist(), "interval"), abs=1e-9)


@pytest.mark.parametrize("pair", [(3.0, 1.0), (1.0, 1.3), (3.0, 2.0), (0.1, 0.7)])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_two_ratings_that_differ_agree_as_chance_does(
    pair: tuple[float, float], level: str
) -> None:
    ratings = [[pair[0]], [pair[1]]]
    assert krippendorff_alpha(ratings, level=level) == 0.0  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e170, 1e300])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_knows_no_unit(unit: float, level: str) -> None:
    ratings = np.random.default_rng(0).integers(1, 6, (2, 25)).astype(float)
    plain = krippendorff_alpha(ratings, level=level)  # type: ignore[arg-type]
    found = krippendorff_alpha(ratings * unit, level=level)  # type: ignore[arg-type]
    assert found == pytest.approx(plain, abs=1e-9)


def test_alpha_of_interval_data_needs_no_table_of_all_values() -> None:
    ratings = np.random.default_rng(0).random((2, 4000))
    tracemalloc.start()
    krippendorff_alpha(ratings, level="interval")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_alpha_is_one_where_all_agree_and_none_where_nothing_varies() -> None:
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]], level="ordinal") == 1.0
    assert krippendorff_alpha([[1, 1], [1, 1]], level="nominal") is None
    assert krippendorff_alpha([[1, NONE], [NONE, 2]], level="nominal") is None
