"""Student's t, chi-square and the normal against scipy's."""

from __future__ import annotations

import pytest
import scipy.stats
from vgen_eval.statistics.distributions import (
    chi_square_tail,
    normal_below,
    normal_quantile,
    t_below,
    t_quantile,
)


@pytest.mark.parametrize("df", [1, 2, 3, 9, 49, 499, 10_000, 1e6])
def test_student_s_t_is_scipy_s(df: float) -> None:
    for t in (-40.0, -2.5, -0.3, 0.0, 0.1, 1.0, 1.96, 5.0, 30.0):
        assert t_below(t, df) == pytest.approx(scipy.stats.t.cdf(t, df), rel=1e-9, abs=1e-15)
    for share in (1e-6, 0.01, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999):
        assert t_quantile(share, df) == pytest.approx(scipy.stats.t.ppf(share, df), rel=1e-8)


@pytest.mark.parametrize("df", [1, 2, 3, 7, 30, 400])
def test_chi_square_is_scipy_s(df: float) -> None:
    for x in (0.0, 0.01, 0.5, 1.0, df * 0.8, df + 1.0, df * 1.5 + 3, df * 4.0 + 20):
        wanted = scipy.stats.chi2.sf(x, df)
        assert chi_square_tail(x, df) == pytest.approx(wanted, rel=1e-9, abs=1e-14)


def test_the_normal_is_scipy_s() -> None:
    for share in (1e-6, 0.025, 0.5, 0.9):
        assert normal_quantile(share) == pytest.approx(scipy.stats.norm.ppf(share), abs=1e-12)
    for z in (-6.0, -1.0, 0.0, 2.0):
        assert normal_below(z) == pytest.approx(scipy.stats.norm.cdf(z), rel=1e-12)
