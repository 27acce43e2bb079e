"""How figures look: one column of a paper wide, colours that everyone can tell, equal bytes."""

from __future__ import annotations

import contextlib
import io
import math
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from vgen_eval.errors import MissingExtra

__all__ = [
    "GREY",
    "WIDTH",
    "colour",
    "drawing",
    "finish",
    "hatch",
    "is_drawable",
    "line",
    "marker",
    "save",
    "sheet",
    "tell_too_large",
    "whiskers",
    "whole_ticks",
    "with_whiskers",
]

WIDTH = 3.5
"""Inches: a column of a two-column paper."""
GREY = "#767676"
LARGEST = 1e100
"""Of numbers that axes can be laid out for: their squares and differences are numbers still."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito, Color Universal Design (2008), without its yellow, which is faint on white."""
_MARKERS = "osD^vPX*"
_LINES = ("-", "--", ":", "-.")
_BOUNDS = {
    "ceiling": ("#a3a3a3", (0, (5, 1.5)), "^", "////"),
    "floor": ("#666666", (0, (1, 1.2)), "v", "...."),
}
"""Colour, line, marker and hatch of what is no model: greys, light and dark."""
_LETTERS = 78
"""Letters of a caption's line."""
_STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 300,
    "font.family": "DejaVu Sans",  # comes with the library
    "font.size": 7,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.4,
    "legend.fontsize": 6.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "savefig.dpi": 300,
    "svg.fonttype": "none",  # text stays text, to be searched and edited
    "svg.hashsalt": "vgen-eval",
    "text.parse_math": False,  # names may hold a $
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}


@contextlib.contextmanager
def drawing(height: float) -> Iterator[tuple[Any, Any]]:
    """An empty figure of that height in inches, and its axes; MissingExtra without matplotlib."""
    with sheet(WIDTH, height, layout="constrained") as figure:
        yield figure, figure.add_subplot()


@contextlib.contextmanager
def sheet(
    width: float, height: float, *, layout: Literal["constrained"] | None = None
) -> Iterator[Any]:
    """An empty figure of that size in inches; MissingExtra without matplotlib.

    A style file of whoever runs this changes nothing, and no display is asked for.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise MissingExtra("plot") from exc
    with mpl.rc_context(), warnings.catch_warnings():
        # a letter that the font lacks is a box in a picture, and itself in an SVG
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = Figure(figsize=(width, height), layout=layout)
        FigureCanvasAgg(figure)
        yield figure


def save(figure: Any, form: str, *, title: str = "", description: str = "") -> bytes:
    """The figure as PNG or SVG; equal bytes for equal figures: no date, no version.

    `title` and `description` are written into the file's metadata.
    """
    buffer = io.BytesIO()
    unsaid = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    said = {"Title": title, "Description": description}
    metadata = {**unsaid[form], **{name: text for name, text in said.items() if text}}
    figure.savefig(buffer, format=form, metadata=metadata)
    return buffer.getvalue()


def finish(figure: Any, axes: Any, caption: str, *, legend: bool = True) -> None:
    """Legend above the axes, caption below them; what they need beyond a line makes it higher."""
    handles, labels = axes.get_legend_handles_labels()
    lines = textwrap.wrap(caption, _LETTERS)
    height = figure.get_figheight() + 0.09 * (len(lines) - 1)
    if legend and handles:
        columns = max(1, min(3, 66 // (max(map(len, labels)) + 8)))
        figure.legend(
            handles, labels, loc="outside upper left", ncols=columns, handlelength=1.6,
            columnspacing=1.2,
        )  # fmt: skip
        height += 0.14 * (math.ceil(len(labels) / columns) - 1)
    figure.set_figheight(height)
    figure.supxlabel("\n".join(lines), fontsize=5.5, color=GREY, x=0.02, ha="left")


def is_drawable(number: Mapping[str, Any]) -> bool:
    """Are its value and its interval, where there are any, no larger than an axis can be?"""
    found = (number.get(name) for name in ("value", "low", "high"))
    return all(part is None or abs(part) <= LARGEST for part in found)


def tell_too_large(caption: str, names: Iterable[str]) -> str:
    """The caption, and what is left out for being too large to draw, where anything is."""
    told = list(dict.fromkeys(names))
    return f"{caption}; left out, too large to draw: {'; '.join(told)}" if told else caption


def whiskers(number: Mapping[str, Any]) -> list[list[float]] | None:
    """How far the 95 % interval reaches below and above the value; None where there is none."""
    if number["low"] is None or number["high"] is None:
        return None
    value = number["value"]
    return [[max(value - number["low"], 0.0)], [max(number["high"] - value, 0.0)]]


def with_whiskers(caption: str, numbers: Iterable[Mapping[str, Any]]) -> str:
    """The caption, and what whiskers are where there are any."""
    some = any(number["low"] is not None for number in numbers)
    return f"{caption}; whiskers: 95\N{NO-BREAK SPACE}% intervals" if some else caption


def colour(at: int, role: str = "model") -> str:
    """The colour of the run of that number; a ceiling and a floor have greys of their own."""
    return _BOUNDS[role][0] if role in _BOUNDS else _COLOURS[at % len(_COLOURS)]


def line(at: int, role: str = "model") -> Any:
    """Its kind of line: runs can be told in black and white as well."""
    return _BOUNDS[role][1] if role in _BOUNDS else _LINES[at % len(_LINES)]


def marker(at: int, role: str = "model") -> str:
    """Its marker."""
    return _BOUNDS[role][2] if role in _BOUNDS else _MARKERS[at % len(_MARKERS)]


def hatch(role: str) -> str | None:
    """What its bars are filled with; None for those of a model, which are plain."""
    return _BOUNDS[role][3] if role in _BOUNDS else None


def whole_ticks(axis: Any) -> None:
    """Ticks at whole numbers alone: what is counted has no halves."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=6, steps=(1, 2, 5, 10), integer=True, min_n_ticks=1))
