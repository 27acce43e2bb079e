"""Per-sample scores as rows: one an attempt, the columns of all runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vgen_eval import jsonio
from vgen_eval.exporting import Attempt, KeptRun

__all__ = ["FIXED", "Columns"]

FIXED = {
    "run": "text",
    "model": "text",
    "task": "text",
    "protocol": "text",
    "prompt": "text",
    "sample": "text",
    "group": "text",
    "attempt": "integer",
    "status": "text",
    "flags": "texts",
    "substitute": "boolean",
}
"""Column -> what it holds; tags and values follow, `tag.` and `value.` before their names."""


class Columns:
    """The union of the runs' columns, and their rows."""

    def __init__(self, runs: Sequence[KeptRun]) -> None:
        self._runs = runs
        self._tags = sorted({tag for run in runs for item in run.items for tag in item.tags})
        # dict: the order in which the metrics report them
        self._values = list(dict.fromkeys(value.of for run in runs for value in run.values))

    def kinds(self) -> dict[str, str]:
        """Column -> text, texts, integer, boolean or number."""
        return {
            **FIXED,
            **{f"tag.{name}": "text" for name in self._tags},
            **{f"value.{name}": "number" for name in self._values},
        }

    def rows(self) -> Iterator[list[Any]]:
        """One row an attempt; None where a run has no such tag or value, or no number."""
        for run in self._runs:
            for attempt in run.attempts():
                yield self._row(run, attempt)

    def _row(self, run: KeptRun, attempt: Attempt) -> list[Any]:
        card, item = run.card, attempt.item
        return [
            card.run, card.model, card.task, card.protocol, card.prompt, item.id, item.group,
            attempt.attempt, attempt.status, attempt.flags, attempt.substitute,
            *(item.tags.get(name) for name in self._tags),
            *(attempt.values.get(name) for name in self._values),
        ]  # fmt: skip

    def describe(self) -> bytes:
        """What each column of values is, by task: names, aggregation, unit, direction, bounds."""
        told: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
        for run in self._runs:
            task = f"{run.card.task}@{run.card.protocol}"
            for value in run.values:
                told.setdefault(f"value.{value.of}", {})[task, value.name] = {
                    "task": task, "score": value.name, "aggregation": value.aggregation,
                    "unit": value.unit, "higher_is_better": value.higher_is_better,
                    "low": value.low, "high": value.high,
                }  # fmt: skip
        columns = [
            {"column": name, "holds": kind, "scores": list(told.get(name, {}).values())}
            for name, kind in self.kinds().items()
        ]
        return jsonio.pretty({"columns": columns}).encode()
