"""The best of the first p attempts, picked by the truth, as p grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.results.figures import style
from vgen_eval.results.figures.chosen import Chosen, axis_label, label_of

__all__ = ["draw_attempts", "read_attempts"]

Record = Mapping[str, Any]
BEST = "best_of_"


def read_attempts(chosen: Chosen) -> dict[str, Any]:
    """Of each run its value at every p, and the mean over attempts.

    UsageError where no run has several attempts, NotRunnable where all are too large to draw.
    """
    curves, notes = [], []
    large: list[str] = []
    for name, run in chosen.runs.items():
        metric = chosen.scores[name].metric
        steps = [
            {"p": int(s.selection.removeprefix(BEST)), "value": s.value, "low": s.ci95.low,
             "high": s.ci95.high, "n": s.n}
            for s in run.card.scores
            if s.metric == metric and s.subset == "all" and s.selection.startswith(BEST)
        ]  # fmt: skip
        steps = [step for step in steps if step["value"] is not None]
        if not steps:
            notes.append(f"{name}: one attempt a sample, left out")
            continue
        mean = chosen.scores[name].value
        if not all(map(style.is_drawable, [*steps, {"value": mean}])):
            notes.append(f"{name}: too large to draw, left out")
            large.append(name)
            continue
        curves.append(
            {"name": name, "role": chosen.role(name), "mean": mean,
             "steps": sorted(steps, key=lambda step: step["p"] or 0)}
        )  # fmt: skip
    if not curves and large:
        raise NotRunnable("; ".join(notes), cure="--metric NAME")
    if not curves:
        raise UsageError(
            "no run here has several attempts at a sample", cure="vgen-eval run ... --attempts 4"
        )
    record = chosen.head("attempts", [str(curve["name"]) for curve in curves])
    record["notes"] += notes
    record["caption"] = style.tell_too_large(record["caption"], large)
    return {**record, "curves": curves}


def draw_attempts(record: Record, form: str) -> bytes:
    """The figure as PNG or SVG."""
    with style.drawing(2.4) as (figure, axes):
        for at, curve in enumerate(record["curves"]):
            role, steps = curve["role"], curve["steps"]
            tint = style.colour(at, role)
            across = [step["p"] for step in steps]
            axes.plot(
                across, [step["value"] for step in steps], color=tint,
                marker=style.marker(at, role), linestyle=style.line(at, role),
                label=label_of(curve),
            )  # fmt: skip
            if all(step["low"] is not None for step in steps):
                axes.fill_between(
                    across, [step["low"] for step in steps], [step["high"] for step in steps],
                    color=tint, alpha=0.15, linewidth=0,
                )  # fmt: skip
            if curve["mean"] is not None:
                axes.axhline(curve["mean"], color=tint, linewidth=0.7, linestyle=(0, (1, 2)))
        axes.set_xticks(
            sorted({step["p"] for curve in record["curves"] for step in curve["steps"]})
        )
        axes.set_xlabel("attempts p, of which the truth picks the best")
        axes.set_ylabel(axis_label(record, comma="\n"))
        bands = any(step["low"] is not None for c in record["curves"] for step in c["steps"])
        told = "bands: 95\N{NO-BREAK SPACE}% intervals; " if bands else ""
        told += "dotted: the mean over attempts, which ranks"
        style.finish(figure, axes, f"{record['caption']}; {told}")
        return style.save(figure, form)
