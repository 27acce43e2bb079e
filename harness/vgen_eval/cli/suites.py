"""Suites: the mean over their tasks' primaries, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vgen_eval.cli import terminal
from vgen_eval.cli.numbers import number

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.card import ResultCard

__all__ = ["model_label", "print_suites", "summarise_suites", "task_label"]


def task_label(card: ResultCard) -> str:
    """task@protocol, its distribution before it when that is not vgen-eval."""
    from vgen_eval.distributions import HOME, name_with

    distribution = card.task_info.get("distribution", HOME)
    return name_with(distribution, f"{card.task}@{card.protocol}")


def model_label(card: ResultCard) -> str:
    """The model, its distribution before it when that is not vgen-eval."""
    from vgen_eval.distributions import HOME, name_with

    distribution = card.model_info.get("distribution", HOME)
    return name_with(distribution, card.model)


def summarise_suites(
    cards: Sequence[ResultCard], names: Sequence[str], catalog: Catalog
) -> list[dict[str, Any]]:
    """Of each suite asked for: its tasks, its aggregate, and the mean for each model."""
    from vgen_eval.engine.naming import expand_tasks, open_suite

    found = []
    for name in dict.fromkeys(names):
        opened = open_suite(name, catalog, notices=[])
        if opened is None:
            continue
        suite, _ = opened
        labels = [ref.label for ref in expand_tasks([name], catalog, notices=[])]
        record: dict[str, Any] = {
            "suite": suite.suite,
            "aggregate": suite.aggregate,
            "tasks": labels,
            "means": [],
        }
        if suite.aggregate == "mean":
            rows: dict[tuple[str, str | None], dict[str, ResultCard]] = {}
            for card in cards:
                rows.setdefault((model_label(card), card.prompt), {})[task_label(card)] = card
            record["means"] = [
                {"model": model, "prompt": prompt, **_mean(labels, members)}
                for (model, prompt), members in rows.items()
            ]
        found.append(record)
    return found


def _mean(labels: Sequence[str], members: Mapping[str, ResultCard]) -> dict[str, Any]:
    missing = [label for label in labels if label not in members]
    scores = [members[label].score() for label in labels if label in members]
    reason = None
    if missing:
        reason = f"no result of {', '.join(missing[:3])}{', ...' if len(missing) > 3 else ''}"
    elif len({(score.unit, score.higher_is_better) for score in scores}) > 1:
        seen = sorted(
            {
                f"{s.metric} ({s.unit or 'no unit'}, {'higher' if s.higher_is_better else 'lower'}"
                " is better)"
                for s in scores
            }
        )
        reason = f"the primaries share no unit and direction: {', '.join(seen)}"
    values = [score.value for score in scores if score.value is not None]
    if reason is None and len(values) < len(scores):
        reason = "a primary has no value"
    if reason is not None:
        return {"value": None, "unit": None, "reason": reason}
    return {"value": sum(values) / len(values), "unit": scores[0].unit, "reason": None}


def print_suites(suites: Sequence[Mapping[str, Any]]) -> None:
    """Prints a line for each suite and model that a mean was asked of."""
    rows: list[list[str]] = []
    for suite in suites:
        for mean in suite["means"]:
            what = (
                f"{number(mean['value'])} {mean['unit']}"
                if mean["reason"] is None
                else f"no mean: {mean['reason']}"
            )
            rows.append([f"suite:{suite['suite']}", mean["model"], mean["prompt"] or "",
                         f"mean of {len(suite['tasks'])}", what])  # fmt: skip
    if rows:
        terminal.say(*terminal.fitted(rows, indent="  "), "")
