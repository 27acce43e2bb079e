"""A value by the tags of samples: a bar a run, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.errors import UsageError
from vgen_eval.results.card import Score
from vgen_eval.results.figures import style
from vgen_eval.results.figures.chosen import Chosen, axis_label, label_of
from vgen_eval.results.tables.tags import no_tag, read_tagged, tags_to_show

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
    tagged = {name: read_tagged(run) for name, run in chosen.runs.items()}
    known: dict[str, dict[str, None]] = {}
    for tag in (*tags_to_show(tagged.values(), None), *tags):
        for one in tagged.values():
            subsets = [subset for subset, of in one.subsets.items() if of == tag]
            shared = [f"{tag}={one.shared[tag]}"] if tag in one.shared else []
            if subsets or shared:
                known.setdefault(tag, {}).update(dict.fromkeys((*subsets, *shared)))
    for tag in tags:
        if tag not in known:
            raise no_tag(tagged.values(), tag)
    wanted = list(tags) or [tag for tag, values in known.items() if len(values) <= MOST_VALUES]
    subsets = [subset for tag in dict.fromkeys(wanted) for subset in sorted(known[tag])]
    if not subsets:
        raise UsageError(
            "no tag to show" if known else "the samples of these runs have no tags",
            cure=f"--tag NAME: {', '.join(sorted(known))}" if known else "vgen-eval plot errors",
        )
    record = chosen.head("tags")
    if len(subsets) > MOST_SUBSETS:
        record["notes"].append(f"the first {MOST_SUBSETS} of {len(subsets)} tags")
    shown = ["all", *subsets[:MOST_SUBSETS]]
    bars = []
    large: list[str] = []
    for name, run in chosen.runs.items():
        own = [
            s for s in run.card.scores
            if s.metric == chosen.first.metric and s.selection == "mean"
        ]  # fmt: skip
        scores = {s.subset: s for s in tagged[name].scores(own, wanted)}
        values = [_bar(scores.get(subset)) for subset in shown]
        bars.append({"name": name, "role": chosen.role(name), "values": values})
        large += [
            f"{name}, {subset}"
            for subset, bar in zip(shown, values, strict=True)
            if not style.is_drawable(bar)
        ]
    caption = style.tell_too_large(record["caption"], large)
    return {**record, "caption": caption, "subsets": shown, "bars": bars}


def _bar(score: Score | None) -> dict[str, Any]:
    if score is None:
        return {"value": None, "low": None, "high": None, "n": 0}
    return {
        "value": score.value, "low": score.ci95.low, "high": score.ci95.high, "n": score.n,
    }  # fmt: skip


def _instead(bar: Record) -> str:
    """What stands where no bar is to be seen: is it of 0, or is there no value? "" for a bar."""
    if bar["value"] is None:
        return "no value"
    if not style.is_drawable(bar):
        return "too large"
    return "" if bar["value"] else "0"


def draw_tags(record: Record, form: str) -> bytes:
    """The figure as PNG or SVG."""
    subsets, bars = record["subsets"], record["bars"]
    thick = 0.8 / len(bars)
    height = 1.1 + len(subsets) * max(0.16, 0.09 * len(bars))
    with style.drawing(height) as (figure, axes):
        for at, run in enumerate(bars):
            label = label_of(run)
            for place, bar in enumerate(run["values"]):
                middle = place + (at - (len(bars) - 1) / 2) * thick
                word = _instead(bar)
                if word:
                    axes.annotate(
                        word, (0, middle),
                        xytext=(2, 0), textcoords="offset points", va="center", fontsize=4.5,
                        color=style.GREY,
                    )  # fmt: skip
                if word not in ("", "0"):
                    continue
                axes.barh(
                    middle, bar["value"], thick, color=style.colour(at, run["role"]),
                    hatch=style.hatch(run["role"]), edgecolor="white", linewidth=0,
                    xerr=style.whiskers(bar),
                    error_kw={"elinewidth": 0.7, "capsize": 1.5, "ecolor": "black"},
                    label=label,
                )  # fmt: skip
                label = "_nolegend_"
        counts = [max(run["values"][place]["n"] for run in bars) for place in range(len(subsets))]
        labels = [f"{name} (n {n:,})" for name, n in zip(subsets, counts, strict=True)]
        axes.set_yticks(range(len(subsets)), labels)
        axes.set_ylim(len(subsets) - 0.5, -0.5)  # the first on top
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(axis_label(record))
        shown = [bar for run in bars for bar in run["values"] if _instead(bar) in ("", "0")]
        style.finish(figure, axes, style.with_whiskers(record["caption"], shown))
        return style.save(figure, form)
