"""Paired differences of two readings: the interval is that of a plain loop, and scipy's."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import kit
import numpy as np
import pytest
import scipy.stats
from vgen_eval.engine.ablation import read_variants
from vgen_eval.plugins import Catalog
from vgen_eval.results.comparing import compare

ANSWER = {"form": "text", "prompt": {"mid": "?"}, "decoder": "toybench:shifted"}
SHIFTS = [0, 7]
N = 60


def off_by(at: int) -> int:
    """How far the model is off at a sample: some way up and down, the same each time."""
    return random.Random(at).randint(-6, 9)


@pytest.fixture
def readings(toys: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> list[Any]:
    """Two readings of a run of 60 samples, in groups as large as the test's parameter."""
    import toybench.parts

    def answer(self: Any, request: Any) -> str:
        number = toybench.parts.number_in(request.images[0])
        return str(number + off_by(number))

    monkeypatch.setattr(toybench.parts.Teller, "_answer", answer)
    metrics = [{"name": "toybench:error"}, {"name": "toybench:middle"}]
    task = kit.task(
        toys, n=N, per_group=request.param, protocol={"answers": [ANSWER], "metrics": metrics}
    )
    card = kit.run(toys, tasks=task, model=kit.model(toys))
    (row,) = read_variants(
        [kit.run_folder(toys, card)], Catalog.discover(), key="shift", values=SHIFTS
    )
    return row


def difference(readings: list[Any], name: str) -> Any:
    base, other = readings
    values = {v.name: v for named in base.job.task.metrics for v in named.values}
    return compare(base.summary, values[name], other.summary, values[name])


ERRORS = np.array([[abs(off_by(at) - shift) for shift in SHIFTS] for at in range(N)], dtype=float)


def rmse(errors: Any) -> float:
    return math.sqrt(sum(e * e for e in errors) / len(errors))


def loop(statistic: Any, per_group: int, resamples: int = 4000) -> tuple[float, float]:
    """95 % of statistic(after) - statistic(before) over resampled groups, in plain Python."""
    rng, groups = random.Random(11), range(N // per_group)
    found = []
    for _ in range(resamples):
        rows = [
            row
            for group in (rng.choice(groups) for _ in groups)
            for row in range(group * per_group, (group + 1) * per_group)
        ]
        before, after = ERRORS[rows].T.tolist()
        found.append(statistic(after) - statistic(before))
    found.sort()
    return found[round(0.025 * resamples)], found[round(0.975 * resamples)]


def middle(errors: list[float]) -> float:
    return float(np.median(errors))


@pytest.mark.parametrize("readings", [1], indirect=True)
def test_the_interval_of_a_mean_is_that_of_scipy_s_paired_bootstrap(readings: list[Any]) -> None:
    found = difference(readings, "mae")
    assert found.difference == pytest.approx(ERRORS[:, 1].mean() - ERRORS[:, 0].mean(), abs=1e-12)
    wanted = scipy.stats.bootstrap(
        (ERRORS[:, 1], ERRORS[:, 0]),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        paired=True, method="BCa", n_resamples=9999, rng=np.random.default_rng(5),
    ).confidence_interval  # fmt: skip
    room = 0.12 * (wanted.high - wanted.low)
    assert found.interval.low == pytest.approx(wanted.low, abs=room)
    assert found.interval.high == pytest.approx(wanted.high, abs=room)
    assert (found.n, found.interval.clusters) == (N, N)


@pytest.mark.parametrize("readings", [3], indirect=True)
@pytest.mark.parametrize(
    ("name", "statistic"), [("mae", np.mean), ("rmse", rmse), ("median", middle)]
)
def test_whole_groups_are_resampled_together_for_both(
    readings: list[Any], name: str, statistic: Any
) -> None:
    found = difference(readings, name)
    before, after = ERRORS.T.tolist()
    assert found.difference == pytest.approx(statistic(after) - statistic(before), abs=1e-12)
    low, high = loop(statistic, per_group=3)
    room = 0.5 if name == "median" else 0.15 * (high - low)  # of whole numbers, in halves
    assert found.interval.low == pytest.approx(low, abs=room)
    assert found.interval.high == pytest.approx(high, abs=room)
    assert found.interval.clusters == N // 3


@pytest.mark.parametrize("readings", [10], indirect=True)
@pytest.mark.parametrize("name", ["mae", "rmse", "median"])
def test_few_groups_give_a_difference_and_no_interval(readings: list[Any], name: str) -> None:
    found = difference(readings, name)
    assert found.difference is not None
    assert (found.interval.low, found.interval.high) == (None, None)
    assert found.interval.reason == "6 groups, fewer than 10"
    assert found.test.exact
    assert (found.test.clusters, found.test.permutations) == (6, 2**6)


@pytest.mark.parametrize("readings", [1], indirect=True)
@pytest.mark.parametrize("name", ["mae", "rmse", "median"])
def test_a_reading_does_not_differ_from_itself(readings: list[Any], name: str) -> None:
    base = readings[0]
    found = difference([base, base], name)
    assert (found.difference, found.interval.low, found.interval.high) == (0.0, 0.0, 0.0)
    assert (found.test.p_value, found.interval.standard_error) == (1.0, 0.0)


@pytest.mark.parametrize("readings", [6], indirect=True)
@pytest.mark.parametrize(
    ("name", "statistic"), [("mae", np.mean), ("rmse", rmse), ("median", middle)]
)
def test_the_test_of_a_difference_exchanges_whole_groups(
    readings: list[Any], name: str, statistic: Any
) -> None:
    """All 2^10 exchanges of 10 groups of 6, one by one."""
    found = difference(readings, name)
    gaps = []
    for turned in itertools.product([False, True], repeat=N // 6):
        sides = np.repeat(turned, 6).astype(int)
        before, after = ERRORS[range(N), sides], ERRORS[range(N), 1 - sides]
        gaps.append(abs(statistic(after.tolist()) - statistic(before.tolist())))
    wanted = sum(gap >= gaps[0] - 1e-9 for gap in gaps) / len(gaps)
    assert 0 < wanted < 1
    assert found.test.p_value == wanted
    assert found.test.exact
    assert found.test.permutations == 2**10
