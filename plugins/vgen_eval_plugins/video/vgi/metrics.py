"""VGI-Bench's numbers: scores over instances, over tasks, over domains, and how many succeed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from vgen_eval.scoring import SumMetric
from vgen_eval.types import Statistics, Value

from vgen_eval_plugins.video.vgi.records import VgiTruth, VgiVerdict
from vgen_eval_plugins.video.vgi.tasks import DOMAINS, TASKS

__all__ = ["Vgi", "VgiSuccess", "VgiSuccessOfAll"]

_NAMES = tuple(TASKS)
_FACTORS = ("rubric", "completeness")
_BY_TASK = ("final", "success")


def _value(name: str, aggregation: Literal["mean", "pooled"]) -> Value:
    return Value(
        name=name, of=name, aggregation=aggregation, higher_is_better=True, low=0.0, high=1.0
    )


_SUCCESS = (
    _value("success", "mean"),
    _value("success_task_macro", "pooled"),
    _value("success_domain_macro", "pooled"),
)


class VgiSuccess(SumMetric):
    """Strict success of a verdict.

    success: over answers whose success is known; over tasks and over the four domains: means of
    their means, domains pooled over instances.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "VGI verdict"
    values: ClassVar[tuple[Value, ...]] = _SUCCESS

    def update(self, pred: VgiVerdict, target: VgiTruth, valid: Any) -> Statistics:  # noqa: ARG002
        """Of each score its sum and how many have one; of final and success by task."""
        at = _NAMES.index(target.task)
        found: Statistics = {}
        for name in (*_FACTORS, *_BY_TASK):
            score = getattr(pred, name)
            total, count = (0, 0) if score is None else (float(score), 1)
            by_task = name in _BY_TASK
            found[name] = _one_of(at, total) if by_task else total
            found[f"n_{name}"] = _one_of(at, count) if by_task else count
        return found

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """The values, 0..1; None where nothing was judged."""
        computed = {
            name: _ratio([statistics[name]], [statistics[f"n_{name}"]]) for name in _FACTORS
        }
        for name in _BY_TASK:
            sums, counts = statistics[name], statistics[f"n_{name}"]
            computed[name] = _ratio(sums, counts)
            computed[f"{name}_task_macro"] = _mean_of_groups(sums, counts, _TASKS)
            computed[f"{name}_domain_macro"] = _mean_of_groups(sums, counts, _DOMAINS)
        return {value.of: computed[value.of] for value in self.values}


class Vgi(VgiSuccess):
    """Final = rubric * completeness, its two factors, and strict success.

    Means are over instances, those left out whose part is open (arXiv 2608.19583, section 4).
    """

    values: ClassVar[tuple[Value, ...]] = (
        _value("final", "mean"),
        _value("rubric", "mean"),
        _value("completeness", "mean"),
        _value("final_task_macro", "pooled"),
        _value("final_domain_macro", "pooled"),
        *_SUCCESS,
    )


class VgiSuccessOfAll(SumMetric):
    """success_of_all: over all verdicts, an open one counting as no success, as the original's
    summary has it.

    For judges that leave success open. One that gives no verdict instead (`failed_window: error`)
    has its instance in no denominator here: the result card's counts have it.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "VGI verdict"
    values: ClassVar[tuple[Value, ...]] = (_value("success_of_all", "pooled"),)

    def update(self, pred: VgiVerdict, target: VgiTruth, valid: Any) -> Statistics:  # noqa: ARG002
        """1 and whether it succeeds."""
        return {"n": 1, "success": int(pred.success is True)}

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """0..1; None where there is no verdict."""
        return {"success_of_all": _ratio([statistics["success"]], [statistics["n"]])}


_TASKS = [[at] for at in range(len(_NAMES))]
_DOMAINS = [
    [at for at, task in enumerate(TASKS.values()) if task.domain == domain] for domain in DOMAINS
]


def _one_of(at: int, number: float) -> list[float]:
    return [number if place == at else 0 for place in range(len(_NAMES))]


def _ratio(sums: Sequence[float], counts: Sequence[float]) -> float | None:
    n = math.fsum(counts)
    return math.fsum(sums) / n if n else None


def _mean_of_groups(
    sums: Sequence[float], counts: Sequence[float], groups: Sequence[Sequence[int]]
) -> float | None:
    """The mean of the groups' means, those left out that have no instance."""
    ratios = [_ratio([sums[at] for at in g], [counts[at] for at in g]) for g in groups]
    known = [ratio for ratio in ratios if ratio is not None]
    return math.fsum(known) / len(known) if known else None
