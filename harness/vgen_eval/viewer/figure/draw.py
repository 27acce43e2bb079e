"""A figure of samples drawn: every cell at its exact place, text as text, equal bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval import jsonio
from vgen_eval.errors import UsageError
from vgen_eval.imaging import resize
from vgen_eval.results.figures import style
from vgen_eval.viewer.drawing.maps import RIM, TABLES, hex_of
from vgen_eval.viewer.figure.build import Figure
from vgen_eval.viewer.figure.cells import plain
from vgen_eval.viewer.figure.extent import (
    BELOW,
    KEY,
    KEY_GAP,
    PAD,
    SMALL,
    WIDE,
    Extent,
    Lines,
    Placed,
    bar_at,
    measure,
    scales_of,
)
from vgen_eval.viewer.figure.geometry import BAR, DPI, EDGE, LEFT
from vgen_eval.viewer.figure.letters import clip, fitting_size
from vgen_eval.viewer.figure.scales import Key, Scale
from vgen_eval.wording import plural

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["draw_figure"]

MOST_HEIGHT = 200.0
"""Inches; a picture of 60,000 pixels can be opened by few programs."""
WHITE = 240
"""From here on a pixel is white on paper."""
TILE, PAPER, LINE = "#e4e4e4", "#f6f6f6", "#cfcfcf"
NAME, NUMBER = 5.5, 5.0
"""Points of a sample's name, of a number at an end of a bar."""
ASCENT = 0.93
"""From a line's top to the foot of its letters, for letters of size 1."""


def draw_figure(figure: Figure, form: str, *, width: float = WIDE, caption: bool = True) -> bytes:
    """PNG or SVG, `width` inches wide, with the record in its metadata; MissingExtra without
    matplotlib. UsageError for one that would be too high. `caption`: draw it, too?"""
    extent = measure(figure, width=width, caption=caption)
    if extent.height > MOST_HEIGHT:
        raise UsageError(
            f"{plural(len(figure.bands), 'row')} would be {extent.height:.0f} inches high",
            cure="a smaller -n",
        )
    with style.sheet(width, extent.height) as sheet:
        page = _Page(sheet, width, extent.height)
        _heads(page, extent)
        for placed in extent.bands:
            _band(page, extent, placed)
        _samples(page, extent)
        _legend(page, extent)
        foot = extent.height - 0.04 - extent.caption.high
        page.lines(EDGE, foot, extent.caption, colour=style.GREY)
        told = jsonio.dumps(figure.record).decode()
        return style.save(sheet, form, title=plain(figure.record["caption"]), description=told)


class _Page:
    """A sheet that is measured in inches from its upper left corner."""

    def __init__(self, sheet: Any, width: float, height: float) -> None:
        self.sheet, self.width, self.height = sheet, width, height

    def axes(self, left: float, top: float, wide: float, high: float) -> Any:
        """Empty axes there, from 0 to 1, without frame and ticks."""
        axes = self.sheet.add_axes(
            (left / self.width, 1 - (top + high) / self.height, wide / self.width,
             high / self.height)
        )  # fmt: skip
        axes.set_axis_off()
        axes.grid(visible=False)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        return axes

    def lines(
        self, left: float, top: float, text: Lines, *, colour: str = "black", ha: str = "left",
    ) -> None:  # fmt: skip
        """Lines below that edge, evenly: each on a foot of its own, whichever letters it has."""
        for at, line in enumerate(text.lines):
            foot = top + at * text.step + text.size * ASCENT / 72
            self.text(left, foot, line, size=text.size, colour=colour, ha=ha)

    def text(
        self, left: float, foot: float, text: str, *, size: float, colour: str = "black",
        ha: str = "left", rotation: float = 0,
    ) -> None:  # fmt: skip
        """A line of text that stands there."""
        self.sheet.text(
            left / self.width, 1 - foot / self.height, plain(text), fontsize=size, color=colour,
            ha=ha, va="baseline", rotation=rotation, rotation_mode="anchor",
        )  # fmt: skip


def _heads(page: _Page, extent: Extent) -> None:
    """Names over the columns; above them those of models, each with a line over its columns."""
    foot = extent.top - 0.04
    for left, head in zip(extent.lefts, extent.heads, strict=True):
        page.lines(left + extent.side / 2, foot - head.high, head, ha="center")
    over = foot - max(head.high for head in extent.heads)
    for left, right, name in extent.models:
        page.lines((left + right) / 2, over - 0.05 - name.high, name, ha="center")
        page.axes(left, over - 0.03, right - left, 0.01).axhline(0.5, color="black", linewidth=0.5)
    scales = max((scales_of(placed.band) for placed in extent.bands), key=len)
    if len(scales) > 1:
        most = extent.heads[0].size
        size = min(fitting_size(scale.of, BAR - 0.08, most, SMALL) for scale in scales)
        for at, scale in enumerate(scales):
            head = Lines(lines=(scale.of,), size=size)
            page.lines(bar_at(extent, at), foot - head.high, head)


def _band(page: _Page, extent: Extent, placed: Placed) -> None:
    top, high, side = placed.top, placed.high, extent.side
    for left, cell, text in zip(extent.lefts, placed.band.cells, placed.texts, strict=True):
        if cell.kind == "picture":
            _picture(page, cell.array, left, top, side, high, is_lowered=placed.is_lowered)
            continue
        middle = top + (placed.high_words - text.high) / 2
        if cell.kind == "empty":
            page.lines(left + side / 2, middle, text, colour=style.GREY, ha="center")
            continue
        is_tile = cell.kind == "tile"
        colour, hatch = (TILE, "////") if is_tile else (PAPER, None)
        axes = page.axes(left, top, side, placed.high_words)
        axes.add_patch(_rectangle(colour, hatch=hatch))
        if is_tile:
            page.lines(left + side / 2, middle, text, ha="center")
        else:
            page.lines(left + PAD, top + PAD, text)
    for middle, under in placed.unders:
        page.lines(middle, top + placed.high_words + BELOW / 2, under, ha="center")
    left, asked = placed.asked
    page.lines(left, top + high + BELOW / 2, asked)
    for at, scale in enumerate(scales_of(placed.band)):
        _bar(page, scale, bar_at(extent, at), top, high)


def _picture(
    page: _Page, array: Any, left: float, top: float, wide: float, high: float, *,
    is_lowered: bool,
) -> None:  # fmt: skip
    """One pixel of the picture is one of the file; a small one is drawn larger, and crisp.

    In the middle of its cell; beside texts in its upper left corner, as they begin.
    """
    array, (columns, rows) = _fitted(array, int(wide * DPI + 0.01), int(high * DPI + 0.01))
    free = (int(wide * DPI) - columns, int(high * DPI) - rows) if not is_lowered else (0, 0)
    x, y = round(left * DPI) + free[0] // 2, round(top * DPI) + free[1] // 2
    axes = page.axes(x / DPI, y / DPI, columns / DPI, rows / DPI)
    axes.imshow(array, interpolation="none", aspect="auto", extent=(0, 1, 0, 1))
    sides = (array[0], array[-1], array[:, 0], array[:, -1])
    if any((side.min(axis=-1) >= WHITE).mean() > 0.5 for side in sides):
        # a hairline around a picture that would run into the paper
        edge = _rectangle("none", edge="#9a9a9a")
        edge.set(clip_on=False, linewidth=0.3)
        axes.add_patch(edge)


def _fitted(
    array: NDArray[np.uint8], wide: int, high: int
) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """The picture, reduced where it is larger than that many pixels, and the pixels it fills."""
    rows, columns = array.shape[:2]
    scale = min(wide / columns, high / rows)
    if scale < 1:
        size = max(1, int(columns * scale)), max(1, int(rows * scale))
        return resize(array, height=size[1], width=size[0], kind="photo"), size
    if min(wide - columns, high - rows) <= 2:
        return array, (columns, rows)
    return array, (int(columns * scale), int(rows * scale))


def _rectangle(colour: str, *, hatch: str | None = None, edge: str = LINE) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((0, 0), 1, 1, facecolor=colour, edgecolor=edge, linewidth=0.4, hatch=hatch)


def _bar(page: _Page, scale: Scale, left: float, top: float, high: float) -> None:
    """A bar of colours with its ends: the high one above."""
    import numpy as np

    table = np.array(TABLES[scale.map], np.uint8)
    ramp = table if scale.reverse else table[::-1]
    axes = page.axes(left, top, 0.07, high)
    axes.imshow(ramp[:, None, :], aspect="auto", interpolation="none", extent=(0, 1, 0, 1))
    unit = f" {scale.unit}" if scale.unit else ""
    feet = (top + NUMBER * ASCENT / 72 - 0.01, top + high - 0.005)
    for foot, value in zip(feet, (scale.high, scale.low), strict=True):
        text = clip(f"{value:.3g}{unit}", BAR - 0.16, NUMBER)
        page.text(left + 0.1, foot, text, size=NUMBER)


def _samples(page: _Page, extent: Extent) -> None:
    """Their names, left of all of their rows."""
    spans: dict[str, tuple[float, float]] = {}
    for placed in extent.bands:
        first, _ = spans.get(placed.band.sample, (placed.top, 0.0))
        spans[placed.band.sample] = (first, placed.bottom)
    for name, (first, last) in spans.items():
        size = fitting_size(name.replace(" ", "_"), last - first, NAME, SMALL)
        text = clip(name, last - first, size)
        page.text(
            EDGE + LEFT - 0.06, (first + last) / 2, text, size=size, ha="center", rotation=90,
            colour=style.GREY,
        )  # fmt: skip


def _legend(page: _Page, extent: Extent) -> None:
    for at, row in enumerate(extent.legend):
        top = extent.bands[-1].bottom + 0.05 + KEY_GAP * at
        for left, key, text in row:
            _swatch(page.axes(left, top, KEY, KEY), key)
            # capitals are as high as the swatch is, less a little above and below
            page.text(left + KEY + 0.03, top + KEY - 0.018, text, size=NAME)


def _swatch(axes: Any, key: Key) -> None:
    """The colour, the hatch or the mark as it is in the pictures."""
    colour = hex_of(key.colour)
    shapes = {"ring": "o", "square": "s", "cross": "x", "dot": "o"}
    if key.shape in shapes:
        for ink, thick in ((hex_of(RIM), 2.2), (colour, 1.0)):
            face = ink if key.shape == "dot" else "none"
            axes.plot(
                [0.5], [0.5], shapes[key.shape], markersize=4.5, markerfacecolor=face,
                markeredgecolor=ink, markeredgewidth=thick, clip_on=False,
            )  # fmt: skip
        return
    if key.shape == "hatch":
        axes.add_patch(_rectangle("#969696", hatch="/" * 8, edge=colour))
        return
    axes.add_patch(_rectangle(colour))
    if key.shape == "dotted":
        places = (0.3, 0.7)
        axes.plot(
            [x for x in places for _ in places], [y for _ in places for y in places], "s",
            color="white" if sum(key.colour) < 384 else "black", markersize=1.0,
            markeredgewidth=0,
        )  # fmt: skip
