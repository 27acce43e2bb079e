"""What sets apart runs of one model in what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from vgen_eval.viewer.records import RunRow

__all__ = ["name_runs"]


def name_runs(runs: Sequence[RunRow]) -> list[str]:
    """The shortest labels that no two of the runs share, as far as their rows tell them apart."""
    labels = [run.model for run in runs]
    more: tuple[Callable[[RunRow], str | None], ...] = (
        lambda run: run.answer,
        lambda run: run.prompt,
        lambda run: run.path.rpartition("/")[2],
    )
    for fact in more:
        count = Counter(labels)
        alike = {label for label in labels if count[label] > 1}
        for label in alike:
            members = [at for at, other in enumerate(labels) if other == label]
            if len({fact(runs[at]) for at in members}) > 1:
                for at in members:
                    labels[at] = f"{label} {fact(runs[at]) or ''}".rstrip()
    return labels
