"""Accuracy against speed: a point a run, ceiling and floor as lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vgen_eval.distributions import IMPORTED
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card import ResultCard
from vgen_eval.results.figures import style
from vgen_eval.results.figures.chosen import Chosen, axis_label, label_of
from vgen_eval.results.volatile import read_volatile

__all__ = ["draw_efficiency", "read_efficiency"]

Record = Mapping[str, Any]
MOST_TOLD = 3


def read_efficiency(chosen: Chosen, *, seconds: bool = False) -> dict[str, Any]:
    """Value, interval and speed of each run, by its model time; NotRunnable without any.

    Images a minute, or seconds an image: loading, decoding and scoring take no part. Runs whose
    answers were made elsewhere have no speed.
    """
    points, lines, notes = [], [], []
    large: list[str] = []
    for name, run in chosen.runs.items():
        score = chosen.scores[name]
        if score.value is None:
            notes.append(f"{name}: no value ({score.reason})")
            continue
        span = {"value": score.value, "low": score.ci95.low, "high": score.ci95.high}
        if not style.is_drawable(span):
            notes.append(f"{name}: too large to draw ({score.metric} {score.value:.3g})")
            large.append(name)
            continue
        role = chosen.role(name)
        if role in ("ceiling", "floor"):
            lines.append({"name": name, "role": role, "value": score.value})
            continue
        rate = _rate(run.card)
        if rate is None:
            made = " (its answers were made elsewhere)" if _is_imported(run.card) else ""
            notes.append(f"{name}: no speed is known of it{made}")
            continue
        points.append(
            {
                "name": name,
                "role": role,
                **span,
                "n": score.n,
                "speed": 60 / rate if seconds else rate,
                "machine": run.card.hardware.get("processor"),
                "run": run.card.run,
            }
        )
    if not points:
        why = f": {'; '.join(notes[:MOST_TOLD])}" if notes else ""
        raise NotRunnable(
            f"no run here has both a value and a speed{why}", cure="vgen-eval run makes such runs"
        )
    machines = {point["machine"] for point in points}
    record = chosen.head("efficiency", [str(drawn["name"]) for drawn in (*points, *lines)])
    record["notes"] += notes
    record["caption"] = style.tell_too_large(record["caption"], large)
    if len(machines) > 1:
        record["notes"].append("speeds of several machines are no comparison of models")
    unit = "seconds an image" if seconds else "images a minute"
    return {**record, "speed_unit": unit, "points": points, "bounds": lines}


def _is_imported(card: ResultCard) -> bool:
    return card.model_info.get("distribution") == IMPORTED


def _rate(card: ResultCard) -> float | None:
    volatile = card.volatile
    if _is_imported(card):  # an older card may have the time that its files took to read
        return None
    rate = volatile.get("images_per_minute")
    if read_volatile(volatile).calls == 0 and not volatile.get("calls"):
        return None
    if not isinstance(rate, (int, float)) or isinstance(rate, bool):
        return None
    return float(rate) if 0 < rate < 1e15 else None


def draw_efficiency(record: Record, form: str) -> bytes:
    """The figure as PNG or SVG."""
    with style.drawing(2.6) as (figure, axes):
        for bound in record["bounds"]:
            tint = style.colour(0, bound["role"])
            axes.axhline(
                bound["value"], color=tint, linewidth=0.8, linestyle=style.line(0, bound["role"])
            )
            axes.annotate(
                label_of(bound), (1, bound["value"]), color=style.GREY,
                xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=6,
            )  # fmt: skip
        for at, point in enumerate(record["points"]):
            axes.errorbar(
                [point["speed"]], [point["value"]], yerr=style.whiskers(point), capsize=2,
                fmt=style.marker(at), color=style.colour(at), label=label_of(point), elinewidth=0.8,
            )  # fmt: skip
        _log_scale(axes, [point["speed"] for point in record["points"]])
        axes.set_xlabel(f"{record['speed_unit']} (model time)")
        axes.set_ylabel(axis_label(record, comma="\n"))
        style.finish(figure, axes, style.with_whiskers(record["caption"], record["points"]))
        return style.save(figure, form)


def _log_scale(axes: Any, speeds: list[float]) -> None:
    """Half a decade around them at least, with numbers that are written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_xlim(min(speeds) / 2, max(speeds) * 2)
    wide = max(speeds) / min(speeds) > 20
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda speed, _: f"{speed:,.10g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
