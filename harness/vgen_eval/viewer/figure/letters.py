"""How wide texts are in a figure's letters; texts broken into lines, and cut where they must be."""

from __future__ import annotations

import functools
import itertools
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from vgen_eval.errors import MissingExtra
from vgen_eval.wording import plural

__all__ = ["break_lines", "clip", "fit_lines", "fitting_size", "is_written", "width_of"]

FAMILY = "DejaVu Sans"
"""What figures are written in (results.figures.style): it comes with the library."""
EM = 100
"""Size at which letters are measured: as large as makes no difference."""
LACKING = 1.2
"""Ems of a letter that the font lacks: what stands for it in a picture, and more than it takes in
an SVG, where it is itself."""
SLACK = 1.02
"""Letters lie on whole pixels of a picture, which makes a line a little longer."""
BREAKS = frozenset("/-_.,:;?&=+|)")
"""After these a word that is longer than a line is broken, where one is near the line's end."""
NEAR = 0.6
"""Part of a line that such a word must fill."""
CLOSING = frozenset(".,:;!?)、。，．！？：；）」』】》〉”’")
"""No line begins with these."""


@functools.cache
def _font() -> Any:
    try:
        from matplotlib.font_manager import FontProperties, findfont
        from matplotlib.ft2font import FT2Font
    except ImportError as exc:
        raise MissingExtra("plot") from exc
    font = FT2Font(findfont(FontProperties(family=FAMILY)))
    font.set_size(EM, 72)
    return font


@functools.lru_cache(maxsize=4096)
def _ems(letter: str) -> float:
    font = _font()
    place = font.get_char_index(ord(letter))
    if place == 0:
        return LACKING
    return float(font.load_glyph(place).linearHoriAdvance / 65536 / EM)


def is_written(text: str) -> bool:
    """Has the font all of its letters? The others are boxes in a picture."""
    return all(_font().get_char_index(ord(letter)) for letter in set(text))


def width_of(text: str, size: float) -> float:
    """Inches of one line in letters of that size (points)."""
    return sum(map(_ems, text)) * size * SLACK / 72


def break_lines(text: str, wide: float, size: float) -> Iterator[str]:
    """The text's lines, none wider than `wide` inches unless it is a single letter.

    Between words, between letters of scripts that have no spaces, and where nothing else is left
    within a word.
    """
    for paragraph in text.splitlines():
        line = ""
        for gap, piece in _pieces(paragraph):
            if line and width_of(line + gap + piece, size) <= wide:
                line += gap + piece
                continue
            if line:
                yield line
            line = piece
            while (most := _fitting(line, wide, size)) < len(line):
                yield line[:most]
                line = line[most:]
        yield line


def _pieces(paragraph: str) -> Iterator[tuple[str, str]]:
    """(what stands before it, what must not be broken), as far as anybody reads."""
    for word in paragraph.split():
        gap, start = " ", 0
        for at in range(1, len(word)):
            if _may_break(word[at - 1], word[at]):
                yield gap, word[start:at]
                gap, start = "", at
        yield gap, word[start:]


def _may_break(before: str, after: str) -> bool:
    """Between two letters of a word: one of them of a script without spaces."""
    if after in CLOSING:
        return False
    return any(unicodedata.east_asian_width(letter) == "W" for letter in (before, after))


def _fitting(word: str, wide: float, size: float) -> int:
    """How many of its letters stand on a line of their own."""
    room = wide * 72 / (size * SLACK)
    # as far as the line goes: a word may have a million letters
    used = itertools.takewhile(lambda ems: ems <= room, itertools.accumulate(map(_ems, word)))
    most = sum(1 for _ in used)
    if most == len(word):
        return most
    near = (end for end in range(most, int(most * NEAR), -1) if word[end - 1] in BREAKS)
    return next(near, max(1, most))


def fit_lines(text: str, wide: float, size: float, most: int) -> list[str]:
    """At most that many lines; the last one says how many letters are left out, if any are."""
    lines = list(itertools.islice(break_lines(text.strip(), wide, size), most + 1))
    if len(lines) <= most:
        return lines
    kept, last = lines[: most - 1], lines[most - 1]
    rest = _count(text) - sum(map(_count, kept))
    for tell in _TOLD:
        for end in range(len(last), -1, -1):
            line = f"{last[:end].rstrip()}{tell(rest - _count(last[:end]))}".lstrip()
            if width_of(line, size) <= wide:
                return [*kept, line]
    return [*kept, "…"]


_TOLD: tuple[Callable[[int], str], ...] = (
    lambda left: f" … {plural(left, 'more letter')}",
    lambda left: f" …+{left:,}",
    lambda left: f" +{left:,}" if left < 1000 else f" +{left // 1000:,}k",
)
"""How many letters are left out, in ever less room."""


def _count(text: str) -> int:
    """Its letters, spaces not counted."""
    return len(text) - sum(map(str.isspace, text))


def fitting_size(text: str, wide: float, largest: float, least: float) -> float:
    """The largest size in which no word is broken that would be whole in the least one."""
    room = wide * largest / least
    widths = (width_of(word[:200], largest) for word in set(text.split()))
    longest = max((width for width in widths if width <= room), default=0.0)
    return min(largest, 0.999 * largest * wide / longest) if longest else largest


def clip(text: str, wide: float, size: float) -> str:
    """One line; its middle is left out where it does not fit: names differ at either end."""
    text = " ".join(text.split())
    if width_of(text, size) <= wide:
        return text
    for keep in range(min(len(text), 200), 0, -1):
        cut = f"{text[: (keep + 1) // 2]}…{text[len(text) - keep // 2 :]}"
        if width_of(cut, size) <= wide:
            return cut
    return "…"
