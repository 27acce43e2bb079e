"""Intervals and paired tests: seconds on one core for what a run of many samples asks."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from figures import interleave, peak_mb, report, seconds
from vgen_eval.engine.tasks import NamedMetric
from vgen_eval.results.table import AttemptTable
from vgen_eval.statistics import bootstrap_mean, permute_mean
from vgen_eval.store.rows import Rows
from vgen_eval.types import NoOptions
from vgen_eval_plugins.normals.metrics import LIMITS, AngularError
from vgen_eval_plugins.semantic.metrics import LabelIoU

MANY, SOME = 10_000, 500
CLASSES, BINS = 150, 1800
RNG = np.random.default_rng(0)


def labels() -> dict[str, Any]:
    target = RNG.integers(1, 10_000, CLASSES) * (RNG.random(CLASSES) < 0.1)
    target[0] += 1
    both = (target * RNG.random(CLASSES)).astype(int)
    return {
        "n": 1, "intersection": both.tolist(), "pred": target.tolist(), "target": target.tolist(),
        "correct": int(both.sum()), "total": int(target.sum()), "unknown": 0, "open": 0,
    }  # fmt: skip


def angles() -> dict[str, Any]:
    bins = RNG.integers(0, 300, BINS)
    pixels = int(bins.sum())
    own = dict.fromkeys(("mean", "median", "rmse", *LIMITS), 0.5)
    within = {f"pixels_{name}": int(pixels * RNG.random()) for name in LIMITS}
    return {
        "n": 1, **own, "pixels": pixels, "known": pixels, "open": 0, "sum": 20.0 * pixels,
        "squares": 500.0 * pixels, **within, "exact": 0, "bins": bins.tolist(),
    }  # fmt: skip


def pooled(metric: Any, make: Callable[[], dict[str, Any]]) -> Callable[[], object]:
    """The intervals of all pooled values of a metric, over SOME samples."""
    table = AttemptTable([NamedMetric("m", "", metric, {})], Rows([str(n) for n in range(SOME)], 1))
    table.fill(
        {"sample": str(n), "attempt": 0, "status": "ok", "statistics": {"m": make()}}
        for n in range(SOME)
    )
    values = [value for value in metric.values if value.aggregation == "pooled"]
    groups = np.arange(SOME)

    def work() -> list[Any]:
        # a choice of rows that was not asked for before: nothing is remembered
        order = RNG.permutation(SOME)
        return [table.pooled_interval(value, order[:, None], groups) for value in values]

    return work


def main() -> None:
    scores = RNG.normal(size=MANY)
    pairs = np.repeat(np.arange(MANY), 2), RNG.normal(size=2 * MANY)
    works = {
        "mean of 10,000 samples": (lambda: bootstrap_mean(scores, np.arange(MANY)), 1.0),
        "mean of 10,000 pairs": (lambda: bootstrap_mean(pairs[1], pairs[0]), 1.0),
        "paired test of 10,000 samples": (lambda: permute_mean(scores, np.arange(MANY)), 1.0),
        "label_iou, 150 classes, 500 samples": (pooled(LabelIoU(NoOptions()), labels), 0.5),
        "normals, 1,800 bins, 500 samples": (
            pooled(AngularError(AngularError.Options()), angles), 0.5,
        ),
    }  # fmt: skip
    found = interleave(*(seconds(work) for work, _ in works.values()))
    for (name, (_, most)), numbers in zip(works.items(), found, strict=True):
        report(name, statistics.median(numbers), " s", most=most)
    report("memory of the process", peak_mb(), " MB")


if __name__ == "__main__":
    main()
