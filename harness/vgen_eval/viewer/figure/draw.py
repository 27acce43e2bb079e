"""A figure of samples drawn: every cell at its exact place, text as text, equal bytes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import UsageError
from vgen_eval.results.figures import style
from vgen_eval.viewer.drawing.maps import TABLES, hex_of
from vgen_eval.viewer.figure.build import Band, Figure
from vgen_eval.viewer.figure.cells import Cell, plain
from vgen_eval.viewer.figure.scales import Scale
from vgen_eval.wording import plural

__all__ = ["MOST_RATIO", "Extent", "draw_figure", "measure"]

WIDE = 7.0
"""Inches: both columns of a paper."""
MOST_HEIGHT = 200.0
"""Inches; a picture of 60,000 pixels can be opened by few programs."""
MOST_RATIO = 1.35
"""Height of what fits a page, for a width of 1."""
MOST_ASKED = 4
"""Lines of a question below its input."""
GAP, BLOCK_GAP, PAIR_GAP = 0.04, 0.12, 0.10
HEAD, UNDER, LINE = 0.16, 0.13, 0.09
LEFT, RIGHT, EDGE = 0.16, 0.5, 0.04
"""Of the sample's name, of the bar of colours, of the rest."""
WHITE = 240
"""From here on a pixel is white on paper."""
TILE, PAPER = "#e4e4e4", "#f6f6f6"
LETTERS_AN_INCH = 22.3


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How large a figure is."""

    width: float
    height: float
    """Inches."""
    side: float
    """Width of a cell."""
    caption: tuple[str, ...]
    legend: tuple[Any, ...]
    fitting: int
    """Samples, from the first, with which it is at most MOST_RATIO times as high as wide."""


def measure(figure: Figure, *, width: float = WIDE, caption: bool = True) -> Extent:
    """UsageError for columns that do not fit. `caption`: is it drawn?"""
    columns = len(figure.heads)
    gaps = GAP * (columns - 1) + (BLOCK_GAP - GAP) * len(figure.blocks)
    side = (width - LEFT - EDGE - (_room_for_bars(figure) or EDGE) - gaps) / columns
    if side < 0.25:
        raise UsageError(
            f"{plural(columns, 'column')} do not fit into {width:g} inches",
            cure="fewer runs, or --width INCHES",
        )
    lines = textwrap.wrap(figure.record["caption"], max(20, int(LETTERS_AN_INCH * width)))
    lines = lines if caption else []
    legend = _legend_rows(figure, width)
    foot = LINE * len(lines) + 0.06 + (0.14 * len(legend) + 0.04 if legend else 0)
    height = HEAD + EDGE + foot
    reached: dict[str, float] = {}
    for at, band in enumerate(figure.bands):
        height += _height(band, side, at)
        reached[band.sample] = height
    fitting = sum(end <= MOST_RATIO * width for end in reached.values())
    return Extent(
        width=width, height=height, side=side, caption=tuple(lines), legend=tuple(legend),
        fitting=fitting,
    )  # fmt: skip


def _room_for_bars(figure: Figure) -> float:
    """Inches right of the cells; 0 without bars."""
    return max(RIGHT * len(_scales(band)) for band in figure.bands)


def _scales(band: Band) -> list[Scale]:
    return [scale for scale in (band.scale, band.error_scale) if scale is not None]


def draw_figure(figure: Figure, form: str, *, width: float = WIDE, caption: bool = True) -> bytes:
    """PNG or SVG, `width` inches wide, with the record in its metadata; MissingExtra without
    matplotlib. UsageError for one that would be too high. `caption`: draw it, too?"""
    extent = measure(figure, width=width, caption=caption)
    side, height, legend = extent.side, extent.height, extent.legend
    if height > MOST_HEIGHT:
        raise UsageError(
            f"{plural(len(figure.bands), 'row')} would be {height:.0f} inches high",
            cure="a smaller -n",
        )
    with style.sheet(width, height) as sheet:
        page = _Page(sheet, width, height)
        lefts = _lefts(figure, side)
        _heads(page, figure, lefts, side)
        top = EDGE + HEAD
        spans: dict[str, tuple[float, float]] = {}
        for at, band in enumerate(figure.bands):
            top += _lead(band, at)
            _band(page, band, lefts, top, side)
            first, _ = spans.get(band.sample, (top, top))
            spans[band.sample] = (first, top + side * band.aspect)
            top += _height(band, side, at) - _lead(band, at)
        for name, (first, last) in spans.items():
            page.text(
                EDGE + LEFT - 0.05, (first + last) / 2, _clip(name, max(last - first, 0.5), 5.5),
                size=5.5, ha="right", va="center", rotation=90, colour=style.GREY,
            )  # fmt: skip
        _legend(page, legend, top + 0.04)
        for at, line in enumerate(reversed(extent.caption)):
            page.text(
                EDGE, height - 0.05 - LINE * at, line, size=5.5, colour=style.GREY, va="bottom"
            )
        told = jsonio.dumps(figure.record).decode()
        return style.save(sheet, form, title=plain(figure.record["caption"]), description=told)


class _Page:
    """A sheet that is measured in inches from its upper left corner."""

    def __init__(self, sheet: Any, width: float, height: float) -> None:
        self.sheet, self.width, self.height = sheet, width, height

    def axes(self, left: float, top: float, wide: float, high: float) -> Any:
        """Empty axes there, without frame and ticks."""
        axes = self.sheet.add_axes(
            (left / self.width, 1 - (top + high) / self.height, wide / self.width,
             high / self.height)
        )  # fmt: skip
        axes.set_axis_off()
        axes.grid(visible=False)
        return axes

    def text(
        self, left: float, top: float, text: str, *, size: float, colour: str = "black",
        ha: str = "left", va: str = "top", rotation: float = 0,
    ) -> None:  # fmt: skip
        """A line of text whose edge is there."""
        self.sheet.text(
            left / self.width, 1 - top / self.height, plain(text), fontsize=size, color=colour,
            ha=ha, va=va, rotation=rotation, linespacing=1.15,
        )  # fmt: skip


def _lead(band: Band, at: int) -> float:
    """What is left free above a band: more where a sample begins."""
    if at == 0:
        return 0.0
    return PAIR_GAP if band.title else GAP


def _height(band: Band, side: float, at: int) -> float:
    lines = max(len(_asked_lines(cell, side)) for cell in band.cells)
    under = max(UNDER if any(cell.under for cell in band.cells) else 0, _asked_height(lines))
    return _lead(band, at) + side * band.aspect + under


def _asked_height(lines: int) -> float:
    return LINE * lines + 0.05 if lines else 0.0


def _asked_lines(cell: Cell, side: float) -> list[str]:
    """What is asked, as many lines as are drawn."""
    lines = textwrap.wrap(cell.asked, max(8, int(side * LETTERS_AN_INCH)))
    if len(lines) > MOST_ASKED:
        lines = [*lines[: MOST_ASKED - 1], f"{lines[MOST_ASKED - 1][:-2]} …"]
    return lines


def _lefts(figure: Figure, side: float) -> list[float]:
    lefts, left = [], LEFT + EDGE
    for at in range(len(figure.heads)):
        if at:
            left += side + (BLOCK_GAP if at in figure.blocks else GAP)
        lefts.append(left)
    return lefts


def _heads(page: _Page, figure: Figure, lefts: Sequence[float], side: float) -> None:
    """Names over the columns; one over several that have none of their own."""
    named = [at for at, head in enumerate(figure.heads) if head]
    for place, at in enumerate(named):
        after = named[place + 1] if place + 1 < len(named) else len(figure.heads)
        right = lefts[after - 1] + side
        text = _clip(figure.heads[at], right - lefts[at], 6.5)
        page.text(
            (lefts[at] + right) / 2, EDGE + HEAD - 0.06, text, size=6.5, ha="center", va="baseline"
        )


def _band(page: _Page, band: Band, lefts: Sequence[float], top: float, side: float) -> None:
    high = side * band.aspect
    for left, cell in zip(lefts, band.cells, strict=True):
        _cell(page, cell, left, top, side, high)
        if cell.under:
            text = _clip(cell.under, side, 6)
            page.text(left + side / 2, top + high + 0.015, text, size=6, ha="center")
        if cell.asked:
            said = "\n".join(_asked_lines(cell, side))
            page.text(left, top + high + 0.03, said, size=5.5)
    for at, scale in enumerate(_scales(band)):
        _bar(page, scale, lefts[-1] + side + 0.06 + RIGHT * at, top, high)


def _cell(page: _Page, cell: Cell, left: float, top: float, wide: float, high: float) -> None:
    axes = page.axes(left, top, wide, high)
    if cell.kind == "empty":
        return
    if cell.kind == "picture":
        # one pixel of the picture is one pixel of the file, or is drawn crisp
        axes.imshow(cell.array, interpolation="none", aspect="equal")
        _edge(axes, cell.array)
        return
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    tile = cell.kind == "tile"
    axes.add_patch(_rectangle(TILE if tile else PAPER, hatch="////" if tile else None))
    size = 6.5 if tile else 5.0
    inside = wide - 0.06
    lines = _wrap(cell.text, max(4, int(inside * LETTERS_AN_INCH * 5.5 / size)))
    room = max(1, int((high - 0.05) / (size * 1.25 / 72)))
    if len(lines) > room:
        lines = [*lines[: room - 1], f"{lines[room - 1]} …"]
    if tile:
        page.text(
            left + wide / 2, top + high / 2, "\n".join(lines), size=size, ha="center", va="center"
        )
    else:
        page.text(left + 0.03, top + 0.03, "\n".join(lines), size=size)


def _edge(axes: Any, array: Any) -> None:
    """A hairline around a picture that would run into the paper."""
    from matplotlib.patches import Rectangle

    sides = (array[0], array[-1], array[:, 0], array[:, -1])
    if any((side.min(axis=-1) >= WHITE).mean() > 0.5 for side in sides):
        high, wide = array.shape[:2]
        axes.add_patch(
            Rectangle(
                (-0.5, -0.5), wide, high, fill=False, edgecolor="#9a9a9a", linewidth=0.3,
                clip_on=False,
            )
        )  # fmt: skip


def _rectangle(colour: str, *, hatch: str | None = None) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(
        (0, 0), 1, 1, facecolor=colour, edgecolor="#cfcfcf", linewidth=0.4, hatch=hatch
    )


def _bar(page: _Page, scale: Scale, left: float, top: float, high: float) -> None:
    """A bar of colours with its ends: the high one above."""
    import numpy as np

    table = np.array(TABLES[scale.map], np.uint8)
    ramp = table if scale.reverse else table[::-1]
    axes = page.axes(left, top, 0.07, high)
    axes.imshow(ramp[:, None, :], aspect="auto", interpolation="none")
    unit = f" {scale.unit}" if scale.unit else ""
    page.text(left + 0.1, top, f"{scale.high:.3g}{unit}", size=5)
    page.text(left + 0.1, top + high, f"{scale.low:.3g}{unit}", size=5, va="bottom")


def _legend_rows(figure: Figure, width: float) -> list[list[tuple[str, Any, float]]]:
    """Classes with their colours in rows: (name, colour, left)."""
    rows: list[list[tuple[str, Any, float]]] = []
    left = width
    for name, colour in figure.classes:
        text = _clip(name, 1.6, 5.5)
        wide = 0.2 + len(text) / LETTERS_AN_INCH * 1.1
        if left + wide > width - EDGE:
            rows.append([])
            left = EDGE + LEFT
        rows[-1].append((text, colour, left))
        left += wide
    return rows


def _legend(page: _Page, rows: Sequence[Sequence[tuple[str, Any, float]]], top: float) -> None:
    for at, row in enumerate(rows):
        for text, colour, left in row:
            axes = page.axes(left, top + 0.14 * at, 0.09, 0.09)
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
            axes.add_patch(_rectangle(hex_of(colour)))
            page.text(left + 0.12, top + 0.14 * at, text, size=5.5)


def _clip(text: str, wide: float, size: float) -> str:
    """The text, cut where it would not fit that many inches."""
    most = max(3, int(1.12 * wide * LETTERS_AN_INCH * 5.5 / size))
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _wrap(text: str, letters: int) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, letters) or [""]
    return lines
