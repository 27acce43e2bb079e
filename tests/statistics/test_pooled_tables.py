"""Statistics of a run's attempts: summed in one product they say what merged rows say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from vgen_eval.engine.tasks import NamedMetric
from vgen_eval.results.table import NO_ROW, AttemptTable
from vgen_eval.store.rows import Rows
from vgen_eval.types import NoOptions, Value
from vgen_eval_plugins.semantic.metrics import LabelIoU

SAMPLES, ATTEMPTS, CLASSES = 40, 3, 12
RNG = np.random.default_rng(1)


def line(sample: int, attempt: int) -> dict[str, Any]:
    target = RNG.integers(0, 50, CLASSES) * (RNG.random(CLASSES) < 0.4)
    target[0] += 1
    both = (target * RNG.random(CLASSES)).astype(int)
    return {
        "sample": f"s{sample}", "attempt": attempt, "status": "ok", "flags": [], "values": {},
        "statistics": {
            "label_iou": {
                "n": 1, "intersection": both.tolist(), "pred": (both + 3).tolist(),
                "target": target.tolist(), "correct": int(both.sum()),
                "total": int(target.sum()), "unknown": 0, "open": 0,
            }
        },
    }  # fmt: skip


@pytest.fixture
def table() -> AttemptTable:
    metric = NamedMetric("label_iou", "", LabelIoU(NoOptions()), {})
    rows = Rows([f"s{n}" for n in range(SAMPLES)], ATTEMPTS)
    filled = AttemptTable([metric], rows)
    filled.fill(line(n, a) for n in range(SAMPLES) for a in range(ATTEMPTS))
    return filled


@pytest.fixture
def by_attempt() -> NDArray[np.int64]:
    """Some attempts without a score, and one sample without any."""
    rows = np.arange(SAMPLES * ATTEMPTS).reshape(SAMPLES, ATTEMPTS)
    rows[RNG.random(rows.shape) < 0.1] = NO_ROW
    rows[7] = NO_ROW
    return rows


POOLED = [value for value in LabelIoU.values if value.aggregation == "pooled"]


def test_summed_statistics_give_the_value_of_the_rows_themselves(
    table: AttemptTable, by_attempt: NDArray[np.int64]
) -> None:
    summed = table.totals(POOLED, by_attempt)
    assert summed is not None
    take, compute = summed
    for _ in range(5):
        drawn = RNG.integers(0, SAMPLES, SAMPLES)
        (found,) = compute(take(drawn).sum(axis=0)[None])
        wanted = [table.pooled_mean(value, by_attempt[drawn]) for value in POOLED]
        assert found.tolist() == pytest.approx(wanted, rel=1e-13)
    (nothing,) = compute(take(np.array([7]))[:1])
    assert np.isnan(nothing).all()


@pytest.mark.parametrize("value", POOLED, ids=lambda value: str(value.name))
def test_each_value_has_the_interval_that_it_has_alone(
    table: AttemptTable, by_attempt: NDArray[np.int64], value: Value
) -> None:
    from vgen_eval.statistics import bootstrap_pooled

    groups = np.arange(SAMPLES) // 2
    found = table.pooled_interval(value, by_attempt, groups)
    used = np.delete(np.arange(SAMPLES), 7)
    summed = table.totals([value], by_attempt[used])
    assert summed is not None
    take, compute = summed
    alone = bootstrap_pooled(take, groups[used], lambda totals: compute(totals)[:, 0])
    assert found == alone
    assert found.clusters == 20
    assert table.pooled_interval(value, by_attempt, groups) is found  # remembered
    elsewhere = table.pooled_interval(value, by_attempt[:30], groups[:30])
    assert elsewhere.clusters == 15
