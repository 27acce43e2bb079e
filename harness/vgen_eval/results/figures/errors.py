"""How a per-sample value is spread: one histogram a run, over the same bins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vgen_eval.errors import NotRunnable
from vgen_eval.results.figures import style
from vgen_eval.results.figures.chosen import Chosen, axis_label, label_of
from vgen_eval.types import Value
from vgen_eval.wording import plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.summarise import Summary

__all__ = ["draw_errors", "read_errors"]

FEWEST_BINS, MOST_BINS = 5, 40
WIDEST = 1e9
"""Whole numbers that lie further apart are binned as any others."""

Record = Mapping[str, Any]


def read_errors(chosen: Chosen, catalog: Catalog) -> dict[str, Any]:
    """Counts of attempts by their value, of each run; NotRunnable where no attempt has one.

    What a value is made of sample by sample: of one that is pooled over the set, what its metric
    says of each sample alone.
    """
    found: dict[str, Any] = {}
    pooled = False
    large: list[str] = []
    for name, run in chosen.runs.items():
        summary = run.summary(catalog)
        value = _value(summary, chosen.scores[name].metric)
        pooled |= value.aggregation == "pooled"
        numbers = summary.table.values[value.of][summary.scored]
        numbers = numbers[np.isfinite(numbers)]
        found[name] = numbers[np.abs(numbers) <= style.LARGEST]
        if found[name].size < numbers.size:
            large.append(f"{plural(numbers.size - found[name].size, 'attempt')} of {name}")
    everything = np.concatenate(list(found.values()))
    if large and not everything.size:
        raise NotRunnable(f"too large to draw: {'; '.join(large)}", cure="--metric NAME")
    if not everything.size:
        raise NotRunnable(
            f"{chosen.first.metric} says nothing of a sample alone", cure="--metric NAME"
        )
    whole = bool((everything == np.round(everything)).all())
    edges = _whole_edges(everything) if whole else _edges(everything)
    one = all(run.card.selection.get("attempts", 1) == 1 for run in chosen.runs.values())
    record = chosen.head("errors")
    record["caption"] = style.tell_too_large(record["caption"], large)
    if pooled:
        record["notes"].append("the score itself is pooled over the set, no mean of these")
    return {
        **record,
        "counted": "samples" if one else "attempts",
        "edges": edges.tolist(),
        "whole": whole,
        "runs": [
            {
                "name": name,
                "role": chosen.role(name),
                "counts": np.histogram(numbers, edges)[0].tolist(),
                "n": int(numbers.size),
                "mean": float(numbers.mean()) if numbers.size else None,
                "median": float(np.median(numbers)) if numbers.size else None,
            }
            for name, numbers in found.items()
        ],
    }


def _value(summary: Summary, metric: str) -> Value:
    values = (value for named in summary.job.task.metrics for value in named.values)
    return next(value for value in values if value.name == metric)


def _edges(numbers: Any) -> Any:
    """Edges of the bins of all runs together."""
    low, high = float(numbers.min()), float(numbers.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        margin = max(abs(low), 1.0) / 2
        return np.linspace(low - margin, high + margin, FEWEST_BINS + 1)
    wanted = len(np.histogram_bin_edges(numbers, "fd")) - 1 if _is_spread(numbers) else FEWEST_BINS
    return np.linspace(low, high, min(max(wanted, FEWEST_BINS), MOST_BINS) + 1)


def _whole_edges(numbers: Any) -> Any:
    """Edges between whole numbers, equally many of these in each bin."""
    low, high = float(numbers.min()), float(numbers.max())
    if high - low > WIDEST:
        return _edges(numbers)
    few = high - low < FEWEST_BINS
    width = 1 if few else math.ceil((high - low + 1) / (len(_edges(numbers)) - 1))
    return np.arange(low, high + width + 1, width) - 0.5


def _is_spread(numbers: Any) -> bool:
    """Would the rule of Freedman and Diaconis give a number of bins that can be counted?"""
    quarter, three = np.percentile(numbers, (25, 75))
    width = 2 * (three - quarter) / numbers.size ** (1 / 3)
    return bool(width > 0 and (numbers.max() - numbers.min()) / width < 1000)


def draw_errors(record: Record, form: str) -> bytes:
    """The figure as PNG or SVG."""
    edges = np.asarray(record["edges"])
    with style.drawing(2.4) as (figure, axes):
        for at, run in enumerate(record["runs"]):
            tint, line = style.colour(at, run["role"]), style.line(at, run["role"])
            if run["role"] not in ("ceiling", "floor"):
                axes.stairs(run["counts"], edges, fill=True, alpha=0.18, color=tint, linewidth=0)
            axes.stairs(
                run["counts"], edges, color=tint, linestyle=line, linewidth=1.1,
                label=f"{label_of(run)}, n {run['n']:,}",
            )  # fmt: skip
        axes.set_xlabel(axis_label(record, " of one sample"))
        axes.set_ylabel(record["counted"])
        axes.set_ylim(bottom=0)
        style.whole_ticks(axes.yaxis)
        if record["whole"]:
            style.whole_ticks(axes.xaxis)
        style.finish(figure, axes, record["caption"])
        return style.save(figure, form)
