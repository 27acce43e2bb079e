"""Charts as numbers for SVG attributes: a strict policy leaves no style in a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vgen_eval.results.markdown import format_value
from vgen_eval.wording import plural

__all__ = ["Bar", "Chart", "Dot", "dot", "histogram"]

WIDTH, HEIGHT = 320, 72


class Bar(NamedTuple):
    """A bin, its rectangle in the chart, and its ends."""

    x: float
    y: float
    width: float
    height: float
    number: int
    low: str
    high: str


class Chart(NamedTuple):
    """A histogram, with what it says in a sentence."""

    width: int
    height: int
    bars: tuple[Bar, ...]
    low: str
    high: str
    label: str


class Dot(NamedTuple):
    """A value with its interval on an axis from 0 to 100."""

    x: float
    low: float | None
    high: float | None


def histogram(edges: Sequence[float], counts: Sequence[int], *, name: str) -> Chart:
    """`edges`: one more than `counts`."""
    most = max([*counts, 1])
    step = WIDTH / max(len(counts), 1)
    bars = []
    for at, count in enumerate(counts):
        # what is there is seen, be it one of thousands
        height = max(HEIGHT * count / most, 1.5) if count else 0.0
        bars.append(
            Bar(
                round(at * step + 0.5, 2), round(HEIGHT - height, 2), round(step - 1, 2),
                round(height, 2), count, format_value(edges[at]), format_value(edges[at + 1]),
            )
        )  # fmt: skip
    fullest = max(range(len(counts)), key=counts.__getitem__)
    label = (
        f"Histogram of {name}: {plural(sum(counts), 'sample')} from {format_value(edges[0])} to "
        f"{format_value(edges[-1])}, most of them ({counts[fullest]:,}) from "
        f"{format_value(edges[fullest])} to {format_value(edges[fullest + 1])}"
    )
    low, high = format_value(edges[0]), format_value(edges[-1])
    return Chart(WIDTH, HEIGHT, tuple(bars), low, high, label)


def dot(
    value: float | None, interval: tuple[float, float] | None, *, low: float, high: float
) -> Dot | None:
    """Where a value lies between `low` and `high`; None without one."""
    if value is None:
        return None

    def place(number: float) -> float:
        span = high - low
        return round(2 + 96 * (number - low) / span, 2) if span else 50.0

    if interval is None:
        return Dot(place(value), None, None)
    return Dot(place(value), place(interval[0]), place(interval[1]))
