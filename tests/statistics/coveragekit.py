"""How often 95 % intervals hold the truth, over many simulated data sets whose truth is known.

python tests/statistics/coveragekit.py [SETS]     every population, as in docs/statistics.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from vgen_eval.statistics import Interval, bootstrap_mean, bootstrap_pooled

__all__ = ["POPULATIONS", "Population", "coverage"]

Array = NDArray[Any]
Random = np.random.Generator
RESAMPLES = 1000


class Population(NamedTuple):
    """Draws sets of so many groups; knows the truth, and the interval of a set."""

    draw: Callable[[Random, int], Any]
    truth: float
    interval: Callable[[Any, int], Interval]


def _scores(share: Callable[[Random, int], Array]) -> Callable[[Random, int], tuple[Array, Array]]:
    """One to five samples a group around a level of the group's own: values and groups."""

    def draw(rng: Random, groups: int) -> tuple[Array, Array]:
        names = np.repeat(np.arange(groups), rng.integers(1, 6, groups))
        return share(rng, groups)[names] + 0.05 * rng.normal(size=names.size), names

    return draw


def _of_mean(drawn: tuple[Array, Array], seed: int) -> Interval:
    return bootstrap_mean(*drawn, resamples=RESAMPLES, seed=seed)


def _confusion(classes: int, rarest: float) -> Callable[[Random, int], tuple[Array, Array]]:
    """One to three pictures a group: intersections and unions of classes (n, 2 * classes).

    Common and rare classes; answers of a group are good or bad together; false alarms.
    """
    present = np.geomspace(0.9, rarest, classes)
    best = np.linspace(0.95, 0.5, classes)

    def draw(rng: Random, groups: int) -> tuple[Array, Array]:
        names = np.repeat(np.arange(groups), rng.integers(1, 4, groups))
        shape = (names.size, classes)
        area = rng.gamma(1.5, 100.0, shape) * (rng.random(shape) < present)
        quality = rng.beta(5, 3, (groups, 1))[names]
        both = area * best * quality
        alarms = rng.gamma(1.0, 20.0, shape) * (rng.random(shape) < 0.03)
        return np.hstack([both, area + alarms]), names

    return draw


def _true_miou(classes: int, rarest: float) -> float:
    """From the expectations of the sums: areas of 150, alarms of 20, quality 5 / 8."""
    present = np.geomspace(0.9, rarest, classes)
    best = np.linspace(0.95, 0.5, classes)
    return float(np.mean(150 * present * best * (5 / 8) / (150 * present + 20 * 0.03)))


def miou(totals: Array) -> Array:
    """(m, 2 * classes) -> (m,): over the classes that occur."""
    both, union = np.hsplit(totals, 2)
    there = union > 0
    ious = np.divide(both, union, out=np.zeros_like(union), where=there)
    found: Array = ious.sum(axis=1) / there.sum(axis=1)
    return found


def _of_miou(drawn: tuple[Array, Array], seed: int) -> Interval:
    return bootstrap_pooled(*drawn, miou, resamples=RESAMPLES, seed=seed)


def _some(classes: int, rarest: float) -> Population:
    return Population(_confusion(classes, rarest), _true_miou(classes, rarest), _of_miou)


POPULATIONS = {
    "mean": Population(_scores(lambda rng, n: rng.beta(4.0, 2.0, n)), 4 / 6, _of_mean),
    "miou": _some(8, 0.2),
    "mean of errors, skewed": Population(
        _scores(lambda rng, n: rng.gamma(2.0, 1.0, n)), 2.0, _of_mean
    ),
    "mean of errors, very skewed": Population(
        _scores(lambda rng, n: rng.lognormal(0.0, 1.0, n)), float(np.exp(0.5)), _of_mean
    ),
    "mean of right or wrong, 90 %": Population(
        lambda rng, n: ((rng.random(n) < 0.9).astype(float), np.arange(n)), 0.9, _of_mean
    ),
    "miou, 19 classes, rare ones": _some(19, 0.05),
}


def coverage(population: Population, *, groups: int, sets: int, seed: int) -> float:
    """Share of `sets` whose interval holds the truth; each resamples with a seed of its own."""

    def held() -> Iterator[bool]:
        rng = np.random.default_rng(seed)
        for number in range(sets):
            found = population.interval(population.draw(rng, groups), number)
            assert found.low is not None
            assert found.high is not None
            yield found.low <= population.truth <= found.high

    return sum(held()) / sets


if __name__ == "__main__":
    SETS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for name, population in POPULATIONS.items():
        found = [coverage(population, groups=groups, sets=SETS, seed=1) for groups in (50, 500)]
        print(f"{name:32} {found[0]:6.1%} {found[1]:6.1%}", flush=True)
