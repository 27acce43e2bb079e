"""A value by the tags of samples: a bar a run, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import Score
from vgen_eval.results.figures import style
from vgen_eval.results.figures.chosen import Chosen, axis_label

__all__ = ["draw_tags", "read_tags"]

MOST_VALUES = 6
"""Of a tag that nobody asked for by name: one of more is rather the source of a picture."""
MOST_SUBSETS = 40

Record = Mapping[str, Any]


def read_tags(chosen: Chosen, tags: Sequence[str] = ()) -> dict[str, Any]:
    """Each run's value over all samples and over those of each tag.

    `tags`: those to show, all of at most MOST_VALUES values when there are none. UsageError for
    one that no run has.
    """
    found = {
        name: {
            s.subset: s
            for s in run.card.scores
            if s.metric == chosen.first.metric and s.selection == "mean"
        }
        for name, run in chosen.runs.items()
    }
    known: dict[str, list[str]] = {}
    for scores in found.values():
        for subset in scores:
            tag, equals, _ = subset.partition("=")
            if equals and subset not in known.setdefault(tag, []):
                known[tag].append(subset)
    for tag in tags:
        if tag not in known:
            raise UsageError(
                f"no run here has the tag '{tag}'.{nearest(tag, known)}",
                cure=f"they have: {', '.join(sorted(known)) or 'none'}",
            )
    wanted = list(tags) or [tag for tag, values in known.items() if len(values) <= MOST_VALUES]
    subsets = [subset for tag in wanted for subset in sorted(known[tag])]
    if not subsets:
        raise UsageError(
            "no tag to show" if known else "the samples of these runs have no tags",
            cure=f"--tag NAME: {', '.join(sorted(known))}" if known else "vgen-eval plot errors",
        )
    record = chosen.head("tags")
    if len(subsets) > MOST_SUBSETS:
        record["notes"].append(f"the first {MOST_SUBSETS} of {len(subsets)} tags")
    shown = ["all", *subsets[:MOST_SUBSETS]]
    return {
        **record,
        "subsets": shown,
        "bars": [
            {"name": name, "role": chosen.role(name),
             "values": [_bar(scores.get(subset)) for subset in shown]}
            for name, scores in found.items()
        ],
    }  # fmt: skip


def _bar(score: Score | None) -> dict[str, Any]:
    if score is None:
        return {"value": None, "low": None, "high": None, "n": 0}
    return {
        "value": score.value, "low": score.ci95.low, "high": score.ci95.high, "n": score.n,
    }  # fmt: skip


def draw_tags(record: Record, form: str) -> bytes:
    """The figure as PNG or SVG."""
    subsets, bars = record["subsets"], record["bars"]
    thick = 0.8 / len(bars)
    height = 1.1 + len(subsets) * max(0.16, 0.09 * len(bars))
    with style.drawing(height) as (figure, axes):
        for at, run in enumerate(bars):
            label = run["name"]
            for place, bar in enumerate(run["values"]):
                if bar["value"] is None:
                    continue
                middle = place + (at - (len(bars) - 1) / 2) * thick
                axes.barh(
                    middle, bar["value"], thick, color=style.colour(at), xerr=style.whiskers(bar),
                    error_kw={"elinewidth": 0.7, "capsize": 1.5, "ecolor": "#333333"},
                    label=label,
                )  # fmt: skip
                label = "_nolegend_"
        counts = [max(run["values"][place]["n"] for run in bars) for place in range(len(subsets))]
        labels = [f"{name} (n {n:,})" for name, n in zip(subsets, counts, strict=True)]
        axes.set_yticks(range(len(subsets)), labels)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(axis_label(record))
        shown = [bar for run in bars for bar in run["values"]]
        style.finish(figure, axes, style.with_whiskers(record["caption"], shown))
        return style.save(figure, form)
