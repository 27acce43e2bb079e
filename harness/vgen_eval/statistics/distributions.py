"""Normal, Student's t and chi-square: the few numbers that tests and intervals take from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

__all__ = ["chi_square_tail", "normal_below", "normal_quantile", "t_below", "t_quantile"]

_NORMAL = NormalDist()
_MOST_TERMS = 10_000
_TINY = 1e-300


def normal_quantile(share: float) -> float:
    """z with P(Z < z) = share, 0 < share < 1."""
    return _NORMAL.inv_cdf(share)


def normal_below(z: float) -> float:
    """P(Z < z)."""
    return _NORMAL.cdf(z)


def t_below(t: float, df: float) -> float:
    """P(T < t) of Student's t with `df` > 0 degrees of freedom."""
    tail = 0.5 * _beta(df / (df + t * t), df / 2, 0.5)
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=256)
def t_quantile(share: float, df: float) -> float:
    """t with P(T < t) = share, 0 < share < 1, `df` > 0."""
    if share == 0.5:
        return 0.0
    if share < 0.5:
        return -t_quantile(1 - share, df)
    high = 1.0
    while t_below(high, df) < share:
        high *= 2
    low = 0.0
    for _ in range(200):  # halving: no derivative that could lead astray in the far tails
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if t_below(middle, df) < share:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def chi_square_tail(x: float, df: float) -> float:
    """P(X > x) of chi-square with `df` > 0 degrees of freedom (DLMF 8.7.1 and 8.9.2)."""
    if x <= 0:
        return 1.0
    a, half = df / 2, x / 2
    front = math.exp(a * math.log(half) - half - math.lgamma(a))
    if half >= a + 1:
        return front * _fraction(
            lambda n: (-n * (n - a), half + 2 * n + 1 - a) if n else (1.0, half + 1 - a)
        )
    term = total = 1 / a
    for n in range(1, _MOST_TERMS):
        term *= half / (a + n)
        total += term
        if term < total * 1e-17:
            break
    return 1 - front * total


def _beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b) (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # where the fraction would converge slowly
        return 1 - _beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip

    def term(n: int) -> tuple[float, float]:
        if n == 0:
            return 1.0, 1.0
        m = n // 2
        if n % 2:
            return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1.0

    return front / a * _fraction(term)


def _fraction(term: Callable[[int], tuple[float, float]]) -> float:
    """a0 / (b0 + a1 / (b1 + ...)) by the modified Lentz method; `term(n)` -> (a, b)."""
    value, c, d = _TINY, _TINY, 0.0
    for n in range(_MOST_TERMS):
        a, b = term(n)
        d = b + a * d or _TINY
        c = b + a / c or _TINY
        d = 1 / d
        value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value
