"""Accuracy on questions with options, and what answers to yes-or-no questions lean to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from vgen_eval.scoring import SumMetric
from vgen_eval.types import NoOptions, Statistics, Value

from vgen_eval_plugins.quality.perception.targets import Chosen, OptionTarget

__all__ = ["OptionAccuracy"]

BIAS = ("accuracy_yes", "accuracy_no", "accuracy_balanced", "share_yes")


def _share(name: str, *, higher_is_better: bool = True) -> Value:
    return Value(
        name=name, of=name, aggregation="pooled", higher_is_better=higher_is_better,
        low=0.0, high=1.0,
    )  # fmt: skip


class OptionAccuracy(SumMetric):
    """Share of questions answered rightly; an answer that chooses no option is wrong.

    Of questions whose options are Yes and No, whatever they are filed as: accuracy where Yes is
    right and where No is, the mean of both, and the share of Yes among the answers that say which
    (Q-Bench, arXiv 2309.14181: 62 % of its yes-or-no questions are to be answered with Yes, and all
    models do better on those). share_yes ranks nobody: near the share of questions whose answer
    is Yes it is neither good nor bad.
    prompt_failures: share of answers that say nothing, decline, or name an option that was not
    offered; without a judge every answer that cannot be read as one of the options.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    values: ClassVar[tuple[Value, ...]] = (
        Value(
            name="accuracy", of="accuracy", aggregation="mean", higher_is_better=True,
            low=0.0, high=1.0,
        ),
        *(_share(name) for name in BIAS),
        _share("prompt_failures", higher_is_better=False),
    )  # fmt: skip

    def update(self, pred: Chosen, target: OptionTarget, valid: Any) -> Statistics:  # noqa: ARG002
        """n, right, failed; yes and no questions, those right; answers that say yes or no."""
        right = is_right(pred, target)
        wanted = target.meaning(target.right)
        said = target.meaning(pred.letter)
        return {
            "n": 1,
            "right": int(right),
            "failed": int(pred.failed),
            "yes": int(wanted == "yes"),
            "yes_right": int(wanted == "yes" and right),
            "no": int(wanted == "no"),
            "no_right": int(wanted == "no" and right),
            "said": int(said is not None),
            "said_yes": int(said == "yes"),
        }

    def compute(self, statistics: Statistics) -> Mapping[str, float | None]:
        """Shares in 0..1; None where there is nothing of that kind."""

        def share(part: str, whole: str) -> float | None:
            return statistics[part] / statistics[whole] if statistics[whole] else None

        yes, no = share("yes_right", "yes"), share("no_right", "no")
        return {
            "accuracy": share("right", "n"),
            "accuracy_yes": yes,
            "accuracy_no": no,
            "accuracy_balanced": None if yes is None or no is None else (yes + no) / 2,
            "share_yes": share("said_yes", "said"),
            "prompt_failures": share("failed", "n"),
        }

    def flags(self, statistics: Statistics) -> Sequence[str]:
        """`prompt_failure`, of an answer that missed what was asked."""
        return ("prompt_failure",) if statistics["failed"] else ()


def is_right(pred: Chosen, target: OptionTarget) -> bool:
    """The judge's word where there is one, else whether the letter is the right one."""
    return pred.letter == target.right if pred.right is None else pred.right
