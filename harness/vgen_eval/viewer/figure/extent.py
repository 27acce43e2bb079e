"""How large a figure is, and what stands where: every text broken into the lines that are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from vgen_eval.errors import UsageError
from vgen_eval.viewer.figure.build import Band, Figure
from vgen_eval.viewer.figure.geometry import BAR, DPI, EDGE, GAP, LEFT, side_of, stand
from vgen_eval.viewer.figure.letters import (
    break_lines,
    clip,
    fit_lines,
    fitting_size,
    is_written,
    width_of,
)
from vgen_eval.viewer.figure.scales import Key, Scale
from vgen_eval.wording import plural

__all__ = ["MOST_RATIO", "WIDE", "Extent", "Lines", "Placed", "bar_at", "measure", "scales_of"]

WIDE = 7.0
"""Inches: both columns of a paper."""
MOST_RATIO = 1.35
"""Height of what fits a page, for a width of 1."""
LEAST_SIDE = 0.25
"""Inches of a cell's width, below which nothing is to be seen in it."""
WORDS, TILE, ASKED, UNDER, HEAD = 5.0, 6.5, 5.5, 6.0, 6.5
"""Points: of texts in cells, of a word on a tile, of questions, scores and heads."""
SMALLER, SMALL = 5.5, 4.0
"""Points, below which a head is broken into lines instead; below which nothing is made smaller."""
LEADING = 1.22
"""From one line to the next, for letters of size 1."""
PAD = 0.03
"""Inches from a cell's edge to its text."""
MOST_LINES, MOST_MIXED, MOST_ASKED, MOST_HEAD = 12, 6, 4, 2
"""Lines of a text among texts; of one beside pictures, where the row grows for it; of a question
below its input; of a head."""
BESIDE = 0.8
"""Inches of height of an input, where all else of its sample is texts."""
PAIR_GAP = 0.1
BELOW = 0.04
"""Inches above and below what stands under a cell, together."""
KEY, KEY_GAP = 0.09, 0.14
"""Inches of a swatch of the legend, and from one name to the next swatch."""


class Lines(msgspec.Struct, frozen=True, kw_only=True):
    """A text as it is drawn."""

    lines: tuple[str, ...] = ()
    size: float = WORDS
    """Points."""

    @property
    def step(self) -> float:
        """Inches from one line to the next."""
        return self.size * LEADING / 72

    @property
    def high(self) -> float:
        """Inches of all of them."""
        return self.step * len(self.lines)


class Placed(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A band with its place and its texts, one a cell."""

    band: Band
    top: float
    high: float
    """Inches of its cells."""
    high_words: float
    """Inches of those with texts: below the height of the input, where all else is texts."""
    bottom: float
    """Below what stands under them."""
    texts: tuple[Lines, ...]
    unders: tuple[tuple[float, Lines], ...]
    """(the middle, a score)."""
    asked: tuple[float, Lines]
    """(the left edge, a question)."""
    is_lowered: bool
    """Are its pictures smaller than its columns are wide?"""


class Extent(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """How large a figure is, and its parts; all in inches."""

    width: float
    height: float
    side: float
    """Width of a cell."""
    lefts: tuple[float, ...]
    models: tuple[tuple[float, float, Lines], ...]
    """(left, right, name) above the heads; the names of blocks."""
    heads: tuple[Lines, ...]
    top: float
    """Of the first band: below the heads."""
    bands: tuple[Placed, ...]
    legend: tuple[tuple[tuple[float, Key, str], ...], ...]
    """Rows of (left, key, its name as it fits)."""
    caption: Lines
    fitting: int
    """Samples, from the first, with which it is at most MOST_RATIO times as high as wide."""

    @property
    def is_written(self) -> bool:
        """Has the font all letters of the texts of its samples?"""
        texts = [text for placed in self.bands for text in (*placed.texts, placed.asked[1])]
        return is_written("".join(line for text in texts for line in text.lines))


def measure(figure: Figure, *, width: float = WIDE, caption: bool = True) -> Extent:
    """UsageError for columns that do not fit; MissingExtra without matplotlib. `caption`: is it
    drawn?"""
    columns = len(figure.heads)
    bars = max(len(scales_of(band)) for band in figure.bands)
    side = side_of(width, columns, len(figure.blocks), bars)
    if side < LEAST_SIDE:
        raise UsageError(
            f"{plural(columns, 'column')} do not fit into {width:g} inches",
            cure="fewer runs, or --width INCHES",
        )
    lefts = stand(columns, figure.blocks, side)
    models = tuple(_models(figure, lefts, side))
    heads = tuple(_heads(figure.heads, side))
    above = max((name.high + 0.05 for *_, name in models), default=0.0)
    top = EDGE + above + max(head.high for head in heads) + 0.04
    bands = tuple(_place(figure, lefts, side, top))
    legend = tuple(_legend(figure.legend, width))
    told = break_lines(figure.record["caption"], width - 2 * EDGE, ASKED) if caption else ()
    said = Lines(lines=tuple(told), size=ASKED)
    foot = said.high + 0.06 + (KEY_GAP * len(legend) + 0.04 if legend else 0)
    reached: dict[str, float] = {placed.band.sample: placed.bottom for placed in bands}
    height = bands[-1].bottom + foot
    return Extent(
        width=width, height=-(-height * DPI // 1) / DPI, side=side, lefts=tuple(lefts),
        models=models, heads=heads, top=top, bands=bands, legend=legend, caption=said,
        fitting=sum(end + foot <= MOST_RATIO * width for end in reached.values()),
    )  # fmt: skip


def scales_of(band: Band) -> list[Scale]:
    """Those that have a bar beside the row."""
    return [scale for scale in (band.scale, band.error_scale) if scale is not None]


def _models(
    figure: Figure, lefts: Sequence[float], side: float
) -> Iterator[tuple[float, float, Lines]]:
    if not figure.models:
        return
    ends = (*figure.blocks[1:], len(lefts))
    lasts = [lefts[end - 1] + side for end in ends]
    firsts = [lefts[first] for first in figure.blocks]
    names = _heads(figure.models, lasts[0] - firsts[0])
    yield from zip(firsts, lasts, names, strict=True)


def _heads(names: Sequence[str], wide: float) -> list[Lines]:
    """Names over columns of that width, in one size: on two lines where it must be, else without
    their middle."""
    longest = max(width_of(name, HEAD) for name in names)
    size = min(HEAD, HEAD * wide / longest)
    if size < SMALLER:
        size = min(fitting_size(name, wide, HEAD, SMALL) for name in names)
    lines = [list(break_lines(name, wide, size)) for name in names]
    return [
        Lines(lines=tuple(own if len(own) <= MOST_HEAD else [clip(name, wide, size)]), size=size)
        for name, own in zip(names, lines, strict=True)
    ]


def _place(figure: Figure, lefts: Sequence[float], side: float, top: float) -> Iterator[Placed]:
    by_words = _of_words(figure)
    for at, band in enumerate(figure.bands):
        if at:
            top += PAIR_GAP if band.title else GAP
        placed = _placed(figure, band, lefts, side, top, of_words=by_words[band.sample])
        yield placed
        top = placed.bottom


def _of_words(figure: Figure) -> Mapping[str, bool]:
    """Samples -> is there no picture but the input?"""
    found: dict[str, bool] = {}
    for band in figure.bands:
        others = band.cells[1:] if band.title else band.cells
        is_seen = any(cell.kind == "picture" for cell in others)
        found[band.sample] = found.get(band.sample, True) and not is_seen
    return found


def _placed(
    figure: Figure, band: Band, lefts: Sequence[float], side: float, top: float, *, of_words: bool
) -> Placed:
    has_picture = any(cell.kind == "picture" for cell in band.cells)
    full = side * band.aspect if has_picture else 0.0
    if of_words or not has_picture:
        texts = _texts(band, side, MOST_LINES)
    else:
        texts = _texts(band, side, max(MOST_MIXED, _count_lines(full)))
    high_words = max((text.high + 2 * PAD for text in texts if text.lines), default=0.0)
    high = max(high_words, min(full, BESIDE) if of_words else full)
    unders = tuple(_unders(figure, band, lefts, side))
    asked = _asked(figure, band, lefts, side)
    if not of_words:
        high_words = high
    feet = [top + high_words + text.high + BELOW for _, text in unders]
    if asked[1].lines:
        feet.append(top + high + asked[1].high + BELOW)
    return Placed(
        band=band, top=top, high=high, high_words=high_words,
        bottom=max([top + high, *feet]), texts=texts, unders=unders, asked=asked,
        is_lowered=of_words,
    )  # fmt: skip


def _count_lines(high: float) -> int:
    return int((high - 2 * PAD) / Lines(lines=("",)).high)


def _texts(band: Band, side: float, most: int) -> tuple[Lines, ...]:
    """Of each cell; those of one row in one size."""
    wide = side - 2 * PAD
    sizes = {
        kind: min((fitting_size(cell.text, wide, largest, SMALL) for cell in band.cells
                   if cell.kind == kind), default=largest)
        for kind, largest in (("words", WORDS), ("tile", TILE), ("empty", TILE))
    }  # fmt: skip
    return tuple(
        Lines()
        if cell.kind == "picture"
        else Lines(
            lines=tuple(fit_lines(cell.text, wide, sizes[cell.kind], most)), size=sizes[cell.kind]
        )
        for cell in band.cells
    )


def _unders(
    figure: Figure, band: Band, lefts: Sequence[float], side: float
) -> Iterator[tuple[float, Lines]]:
    """Scores, below their cells; where a block has a name, in the middle of it."""
    for at, cell in enumerate(band.cells):
        if not cell.under:
            continue
        first = last = at
        if figure.models:
            first = max(begin for begin in figure.blocks if begin <= at)
            last = min([*(end for end in figure.blocks if end > at), len(lefts)]) - 1
        wide = lefts[last] + side - lefts[first]
        size = fitting_size(cell.under.replace(" ", "_"), wide, UNDER, SMALL)
        text = cell.under
        if width_of(text, size) > wide:  # which value it is stands in the caption
            text = clip(text.rpartition(" ")[2], wide, size)
        yield lefts[first] + wide / 2, Lines(lines=(text,), size=size)


def _asked(figure: Figure, band: Band, lefts: Sequence[float], side: float) -> tuple[float, Lines]:
    """The question, below its cell and those to the right that have nothing below them."""
    for at, cell in enumerate(band.cells):
        if not cell.asked:
            continue
        last = at
        for other in range(at + 1, len(lefts)):
            if band.cells[other].under or (figure.models and other in figure.blocks):
                break
            last = other
        wide = lefts[last] + side - lefts[at]
        return lefts[at], Lines(
            lines=tuple(fit_lines(cell.asked, wide, ASKED, MOST_ASKED)), size=ASKED
        )
    return 0.0, Lines()


def _legend(keys: Sequence[Key], width: float) -> list[tuple[tuple[float, Key, str], ...]]:
    """Keys in rows, from the left."""
    rows: list[list[tuple[float, Key, str]]] = []
    left = width
    for key in keys:
        text = clip(key.name, min(1.6, width - LEFT - 2 * EDGE - KEY_GAP), ASKED)
        wide = KEY + 0.03 + width_of(text, ASKED)
        if left + wide > width - EDGE:
            rows.append([])
            left = LEFT + EDGE
        rows[-1].append((left, key, text))
        left += wide + KEY_GAP
    return [tuple(row) for row in rows]


def bar_at(extent: Extent, at: int) -> float:
    """The left edge of the bar of colours of that number."""
    return extent.lefts[-1] + extent.side + 0.06 + BAR * at
