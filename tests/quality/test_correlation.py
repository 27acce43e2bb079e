"""Correlations with opinions: by hand, beside scipy, and where none is defined."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from vgen_eval.errors import NoValidTarget
from vgen_eval.scoring import ColumnMetric
from vgen_eval.statistics import bootstrap_weighted
from vgen_eval.types import Statistics
from vgen_eval_plugins.quality.assessment.correlation import Correlation
from vgen_eval_plugins.quality.targets import Opinion

Floats = NDArray[np.float64]
NAMES = tuple(value.of for value in Correlation.values)


def metric(*, by_part: bool = False) -> Correlation:
    return Correlation(Correlation.Options(by_part=by_part))


def pooled(pred: Any, mos: Any, parts: Any = None, *, by_part: bool = False) -> Statistics:
    own = metric(by_part=by_part)
    parts = [""] * len(pred) if parts is None else parts
    rows = zip(pred, mos, parts, strict=True)
    found = [own.update(p, Opinion(float(t), part), None) for p, t, part in rows]
    merged = found[0]
    for one in found[1:]:
        merged = own.merge(merged, one)
    return merged


def values(pred: Any, mos: Any, parts: Any = None, *, by_part: bool = False) -> Any:
    return metric(by_part=by_part).compute(pooled(pred, mos, parts, by_part=by_part))


def made(seed: int, n: int, *, coarse: bool) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    mos = rng.uniform(0, 100, n)
    pred = 1 / (1 + np.exp(-(mos - 50) / 12)) + rng.normal(0, 0.2, n)
    return (np.round(pred * 8) / 8, np.round(mos)) if coarse else (pred, mos)


def test_ranks_are_average_ranks_where_predictions_are_tied() -> None:
    # ranks 1.5 1.5 3 4 against 1 2 3 4: sum of products of deviations 4.5, of squares 4.5 and 5
    found = values([1, 1, 2, 3], [10, 20, 30, 40])
    assert found["srcc"] == pytest.approx(4.5 / math.sqrt(4.5 * 5), abs=1e-12)
    assert found["krcc"] == pytest.approx(5 / math.sqrt(5 * 6), abs=1e-12)  # tau-b: one tie
    assert found["plcc"] == pytest.approx(35 / math.sqrt(2.75 * 500), abs=1e-12)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_values_are_those_of_scipy(seed: int, coarse: bool) -> None:
    pred, mos = made(seed, 400, coarse=coarse)
    found = values(pred.tolist(), mos.tolist())
    assert found["srcc"] == pytest.approx(stats.spearmanr(pred, mos).statistic, abs=1e-12)
    assert found["plcc"] == pytest.approx(stats.pearsonr(pred, mos).statistic, abs=1e-12)
    assert found["krcc"] == pytest.approx(stats.kendalltau(pred, mos).statistic, abs=1e-12)


def four(x: Floats, a: float, b: float, c: float, d: float) -> Floats:
    return np.asarray((a - b) / (1 + np.exp(-(x - c) / d)) + b)


def five(x: Floats, a: float, b: float, c: float, d: float, e: float) -> Floats:
    steep = np.clip(b * (x - c), -500, 500)
    return np.asarray(a * (0.5 - 1 / (1 + np.exp(steep))) + d * x + e)


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("falls", [False, True])
def test_fits_are_those_of_scipy(coarse: bool, falls: bool) -> None:
    pred, mos = made(7, 600, coarse=coarse)
    pred = -pred if falls else pred
    found = values(pred.tolist(), mos.tolist())
    turn = -1 if falls else 1
    for name, curve, start in (
        ("plcc_logistic4", four, [100.0, 0.0, float(pred.mean()), turn * 0.3]),
        ("plcc_logistic5", five, [turn * 100.0, 3.0, float(pred.mean()), 0.1, 50.0]),
    ):
        parameters, _ = optimize.curve_fit(curve, pred, mos, p0=start, maxfev=50_000)
        expected = stats.pearsonr(curve(pred, *parameters), mos).statistic
        assert found[name] == pytest.approx(expected, abs=2e-5)
        assert found[name] > 0.85  # a fit that falls makes of bad for good a good measure


@pytest.mark.parametrize("seed", [21, 28, 37])
def test_a_fit_does_not_end_in_the_first_valley(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pred = rng.normal(0, 1, 60)
    mos = 50 + 10 * pred + rng.normal(0, 8, 60)
    expected = 0.0
    for middle, steepness in itertools.product((-1.0, 0.0, 1.0), (1.0, 3.0, 8.0)):
        start = [20.0, steepness, middle, 0.0, 50.0]
        try:
            parameters, _ = optimize.curve_fit(five, pred, mos, p0=start, maxfev=20_000)
        except RuntimeError:  # no end of this start
            continue
        expected = max(expected, stats.pearsonr(five(pred, *parameters), mos).statistic)
    # from half-way up at the mean alone it falls short by .008 to .022
    assert values(pred.tolist(), mos.tolist())["plcc_logistic5"] > expected - 1e-3


def test_equal_predictions_have_no_correlation_and_the_reason_is_told() -> None:
    constant = pooled([3] * 8, [1, 2, 3, 4, 5, 4, 3, 2])
    assert metric().compute(constant) == dict.fromkeys(NAMES)
    told = metric().explain(constant)
    assert set(told) == set(NAMES)
    assert told["srcc"] == "constant_input: every prediction is the same"
    turned = metric().explain(pooled([1, 2, 3, 4, 5, 4, 3, 2], [3] * 8))
    assert turned["plcc"] == "constant_input: every opinion is the same"


def test_two_pairs_have_no_correlation_and_the_reason_is_told() -> None:
    two = pooled([1, 2], [2, 1])
    assert metric().compute(two) == dict.fromkeys(NAMES)
    assert metric().explain(two)["srcc"] == "too_few_samples: 2 of 3 pairs at least"


def test_as_many_parameters_as_pairs_fit_nothing() -> None:
    five_pairs = pooled([1, 2, 3, 5, 4], [10, 20, 30, 40, 50])
    found = metric().compute(five_pairs)
    assert found["srcc"] == pytest.approx(0.9)
    assert found["plcc_logistic4"] is not None
    assert found["plcc_logistic5"] is None
    assert metric().explain(five_pairs) == {
        "plcc_logistic5": "too_few_samples: 5 pairs for 5 parameters"
    }


def test_a_picture_without_an_answer_leaves_no_correlation_unless_something_stands_for_it() -> None:
    gap = pooled([0.1, None, 0.3, 0.5], [1, 2, 3, 4])
    assert metric().compute(gap) == dict.fromkeys(NAMES)
    told = metric().explain(gap)["srcc"]
    assert told.startswith("no_substitute: 1 of 4 pictures")
    assert "answered_only is over the others" in told
    assert "--set protocol.failure_value=constant_quality" in told
    assert values([0.1, 0.5, 0.3, 0.5], [1, 2, 3, 4])["srcc"] is not None


def test_parts_are_correlated_apart_and_their_mean_is_taken() -> None:
    # both parts agree wholly, and lie on scales that together do not
    pred, mos = [1, 2, 3, 11, 12, 13, 14], [4, 5, 6, 1, 2, 4, 3]
    parts = ["game"] * 3 + ["movie"] * 4
    apart = values(pred, mos, parts, by_part=True)
    assert apart["srcc"] == pytest.approx((1 + 0.8) / 2)
    assert apart["krcc"] == pytest.approx((1 + 4 / 6) / 2)
    together = values(pred, mos, parts)
    assert together["srcc"] == pytest.approx(stats.spearmanr(pred, mos).statistic)
    assert together["srcc"] < 0
    lone = values([*pred, 5], [*mos, 5], [*parts, "other"], by_part=True)
    assert lone["srcc"] is None


def test_the_order_of_samples_and_of_merging_changes_nothing() -> None:
    pred, mos = made(3, 60, coarse=True)
    own, order = metric(), np.random.default_rng(0).permutation(60)
    first = pooled(pred.tolist(), mos.tolist())
    second = own.merge(
        pooled(pred[order][:20].tolist(), mos[order][:20].tolist()),
        pooled(pred[order][20:].tolist(), mos[order][20:].tolist()),
    )
    assert own.compute(second) == pytest.approx(own.compute(first), abs=1e-6)


def test_a_weight_counts_a_pair_as_often() -> None:
    pred, mos = made(4, 50, coarse=True)
    weights = np.random.default_rng(5).integers(0, 4, 50)
    columns = np.array([pred, mos, np.zeros(50), np.ones(50)])
    found = metric().compute_columns(columns, weights[None, :], NAMES[:3])[0]
    again = values(np.repeat(pred, weights).tolist(), np.repeat(mos, weights).tolist())
    assert found == pytest.approx([again[name] for name in NAMES[:3]], abs=1e-12)


def test_intervals_of_ten_thousand_pictures_take_seconds_and_hold_the_value() -> None:
    pred, mos = made(6, 10_000, coarse=True)
    columns = np.array([pred, mos, np.zeros(10_000), np.ones(10_000)])
    own: ColumnMetric = metric()
    (rank,) = bootstrap_weighted(
        lambda weights: own.compute_columns(columns, weights, ["srcc"]), np.arange(10_000), 1
    )
    value = own.compute_columns(columns, np.ones((1, 10_000), np.int64), ["srcc"])[0, 0]
    assert rank.low is not None
    assert rank.high is not None
    assert rank.low < value < rank.high
    # of a normal sample Fisher's z says (1 - r^2) / sqrt(n); ranks of a uniform one are near it
    assert rank.standard_error == pytest.approx((1 - value**2) / 100, rel=0.5)


def test_what_is_no_opinion_is_no_target() -> None:
    with pytest.raises(NoValidTarget, match="float"):
        metric().update(0.5, 3.0, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a number"):
        Opinion(float("nan"))


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
import numpy as np
from vgen_eval_plugins.quality.assessment.correlation import Correlation
from vgen_eval_plugins.quality.targets import Opinion
own = Correlation(Correlation.Options())
rows = [own.update(float(at % 7), Opinion(float(at), ""), None) for at in range(20)]
merged = rows[0]
for row in rows[1:]:
    merged = own.merge(merged, row)
found = own.compute(merged)
print(sorted(name for name, value in found.items() if value is None), own.explain(merged))
"""


def test_without_scipy_krcc_alone_is_undefined_and_says_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SCIPY], capture_output=True, text=True, check=False
    )
    assert done.stdout == "['krcc'] {'krcc': 'missing_package: pip install scipy'}\n", done.stderr
