"""How figures look: one column of a paper wide, colours that everyone can tell, equal bytes."""

from __future__ import annotations

import contextlib
import io
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vgen_eval.errors import MissingExtra

__all__ = [
    "GREY",
    "WIDTH",
    "colour",
    "drawing",
    "finish",
    "line",
    "marker",
    "save",
    "whiskers",
    "with_whiskers",
]

WIDTH = 3.5
"""Inches: a column of a two-column paper."""
GREY = "#767676"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito, Color Universal Design (2008), without its yellow, which is faint on white."""
_MARKERS = "osD^vPX*"
_LINES = ("-", "--", ":", "-.")
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
    """An empty figure of that height in inches, and its axes; MissingExtra without matplotlib.

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
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.add_subplot()


def save(figure: Any, form: str) -> bytes:
    """The figure as PNG or SVG; equal bytes for equal figures: no date, no version."""
    buffer = io.BytesIO()
    unsaid = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
    figure.savefig(buffer, format=form, metadata=unsaid[form])
    return buffer.getvalue()


def finish(figure: Any, axes: Any, caption: str, *, legend: bool = True) -> None:
    """Legend above the axes, caption below them."""
    handles, labels = axes.get_legend_handles_labels()
    if legend and handles:
        widest = max(map(len, labels))
        figure.legend(
            handles, labels, loc="outside upper left", ncols=max(1, min(3, 66 // (widest + 8))),
            handlelength=1.6, columnspacing=1.2,
        )  # fmt: skip
    text = "\n".join(textwrap.wrap(caption, _LETTERS))
    figure.supxlabel(text, fontsize=5.5, color=GREY, x=0.02, ha="left")


def whiskers(number: Mapping[str, Any]) -> list[list[float]] | None:
    """How far the 95 % interval reaches below and above the value; None where there is none."""
    if number["low"] is None or number["high"] is None:
        return None
    value = number["value"]
    return [[max(value - number["low"], 0.0)], [max(number["high"] - value, 0.0)]]


def with_whiskers(caption: str, numbers: Iterable[Mapping[str, Any]]) -> str:
    """The caption, and what whiskers are where there are any."""
    some = any(number["low"] is not None for number in numbers)
    return f"{caption}; whiskers: 95 % intervals" if some else caption


def colour(at: int) -> str:
    """The colour of the run of that number."""
    return _COLOURS[at % len(_COLOURS)]


def marker(at: int) -> str:
    """Its marker: runs can be told in black and white as well."""
    return _MARKERS[at % len(_MARKERS)]


def line(at: int) -> str:
    """Its kind of line."""
    return _LINES[at % len(_LINES)]
