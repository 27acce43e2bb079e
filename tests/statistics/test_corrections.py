"""Corrections for several tests: scipy's, worked cases, and the definition of a step-down."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from vgen_eval.statistics import adjust, benjamini_hochberg, holm

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_benjamini_hochberg_is_scipy_s(count: int) -> None:
    p_values = np.round(RNG.beta(0.4, 2.0, count), 2)  # with ties
    assert benjamini_hochberg(p_values.tolist()) == pytest.approx(
        scipy.stats.false_discovery_control(p_values).tolist(), rel=1e-12
    )


def test_holm_worked_out() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_holm_rejects_what_its_steps_reject(level: float) -> None:
    p_values = RNG.beta(0.3, 3.0, 12).tolist()
    rejected = set()
    for step, at in enumerate(sorted(range(12), key=p_values.__getitem__)):
        if p_values[at] > level / (12 - step):
            break
        rejected.add(at)
    assert {at for at, p in enumerate(holm(p_values)) if p <= level} == rejected


def test_tests_that_were_not_made_count_for_nothing() -> None:
    assert adjust([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert adjust([0.01, None, 0.04], "benjamini_hochberg") == [0.02, None, 0.04]
    assert adjust([None]) == [None]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    for correct in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="is no p-value"):
            correct([0.5, wrong])
