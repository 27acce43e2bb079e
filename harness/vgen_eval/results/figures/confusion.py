"""A confusion matrix: of the pixels of each class, what share was called what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vgen_eval.errors import NotRunnable
from vgen_eval.results.confusion import BESIDE, Confusion
from vgen_eval.results.figures import style
from vgen_eval.results.figures.chosen import Chosen
from vgen_eval.wording import plural

__all__ = ["draw_confusion", "read_confusion"]

Record = Mapping[str, Any]
UNKNOWN, OPEN = "(unknown)", "(open)"
MOST_NUMBERS = 12
"""Classes up to which every share is written into its square."""


def read_confusion(chosen: Chosen, found: Confusion, *, top: int) -> dict[str, Any]:
    """Counts over all classes, each class's IoU, and which `top` classes a figure has room for.

    Those with the most pixels in the truth; NotRunnable where nothing was scored.
    """
    counts = found.counts
    if not counts.any():
        raise NotRunnable("no attempt of the run was scored", cure="vgen-eval show RUN --failed")
    sizes = counts.sum(axis=1)
    order = [int(at) for at in np.argsort(-sizes, kind="stable") if sizes[at]][:top]
    name, run = next(iter(chosen.runs.items()))
    iou = found.class_iou()
    defined = [value for value in iou if value is not None]
    return {
        **chosen.head("confusion"),
        "name": name,
        "run": run.card.run,
        "classes": list(found.names),
        "columns": [*found.names, UNKNOWN, OPEN],
        "pixels": counts.tolist(),
        "class_iou": dict(zip(found.names, iou, strict=True)),
        "mean_iou": sum(defined) / len(defined),
        "shown": sorted(order),
    }


def _shares(record: Record) -> tuple[list[str], list[str], Any]:
    """Row names, column names and the shares (rows, columns), what is not shown put together."""
    counts = np.array(record["pixels"])
    shown = record["shown"]
    others = [at for at in range(len(record["classes"])) if at not in shown]
    table = counts[shown]
    parts = [table[:, shown]]
    columns = [record["classes"][at] for at in shown]
    for name, part in (
        (f"({plural(len(others), 'other')})", table[:, others].sum(axis=1)),
        (UNKNOWN, table[:, -BESIDE]),
        (OPEN, table[:, -1]),
    ):
        if part.any():
            columns.append(name)
            parts.append(part[:, None])
    joined = np.concatenate(parts, axis=1)
    ious = (record["class_iou"][record["classes"][at]] for at in shown)
    rows = [f"{record['classes'][at]} ({_text(iou)})" for at, iou in zip(shown, ious, strict=True)]
    return rows, columns, joined / table.sum(axis=1, keepdims=True)


def _text(iou: float | None) -> str:
    return "-" if iou is None else f"{iou:.2f}"


def _percent(share: float) -> str:
    """0 for no pixel at all, and for no other share."""
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"


def draw_confusion(record: Record, form: str) -> bytes:
    """The figure as PNG or SVG."""
    rows, columns, shares = _shares(record)
    with style.drawing(0.9 + 0.23 * len(rows) + 0.07 * max(map(len, columns))) as (figure, axes):
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.grid(visible=False)
        axes.set_xticks(range(len(columns)), columns, rotation=90)
        axes.set_yticks(range(len(rows)), rows)
        axes.tick_params(length=0)
        if len(columns) <= MOST_NUMBERS + BESIDE + 1:
            for (row, column), share in np.ndenumerate(shares):
                axes.text(
                    column, row, _percent(share), ha="center", va="center", fontsize=5.5,
                    color="white" if share > 0.5 else "black" if share else style.GREY,
                )  # fmt: skip
        axes.set_ylabel("class in the truth (its IoU)")
        axes.set_xlabel("class in the answers, % of the truth's pixels")
        every = len(record["classes"])
        more = f"; {len(rows)} of {plural(every, 'class', 'classes')}" if every > len(rows) else ""
        caption = f"{record['name']}, {record['caption']}; mean IoU {record['mean_iou']:.3f}{more}"
        style.finish(figure, axes, caption, legend=False)
        return style.save(figure, form)
