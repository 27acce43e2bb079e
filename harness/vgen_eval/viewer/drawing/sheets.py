"""Words, bars and clips as small pictures: what a thumbnail of them shows."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING, Any

from vgen_eval.viewing import Bars, Film, Words

if TYPE_CHECKING:
    import numpy as np
    import PIL.ImageDraw
    from numpy.typing import NDArray

__all__ = ["draw_bars", "draw_film", "draw_words"]

BACK = (246, 246, 244)
INK = (30, 30, 30)
FAINT = (110, 110, 110)
BAR = (150, 165, 190)
CHOSEN = (35, 85, 160)
MOST_LETTERS = 1500
THUMB = 512
"""Pixels up to which a card is shown smaller still: its letters are larger there."""
SIDE = 640
"""Pixels of a card's long side, where nobody asks for another."""


def draw_words(body: Words, title: str, side: int | None = None) -> NDArray[np.uint8]:
    """The beginning of a text on a card, and facts below it."""
    lines = [(plain(title), FAINT)]
    if body.text:
        lines.append((plain(body.text[:MOST_LETTERS]), INK))
    lines += [(plain(f"{name}: {value}"[:200]), INK) for name, value in body.facts[:20]]
    sheet = _Sheet(side)
    for words, ink in lines:
        sheet.write(words, ink)
    return sheet.array()


def draw_bars(body: Bars, title: str, side: int | None = None) -> NDArray[np.uint8]:
    """Bars with their labels; the right one has a tick, the chosen one an arrow and is dark."""
    sheet = _Sheet(side)
    sheet.write(plain(title), FAINT)
    span = body.high - body.low
    is_valued = any(bar.value is not None for bar in body.bars)
    for bar in body.bars[:12]:
        part = None
        if bar.value is not None and span > 0:
            part = min(1.0, max(0.0, (bar.value - body.low) / span))
        told = "-" if is_valued else ""
        if bar.value is not None:
            told = f"{bar.value:.3g} {body.unit}".rstrip()
        sheet.bar(plain(bar.label[:60]), told, part, is_right=bar.right, is_chosen=bar.chosen)
    return sheet.array()


def draw_film(body: Film, title: str, side: int | None = None) -> NDArray[np.uint8]:
    """A sheet of frames with their times; the middle frame alone, where it is to be small."""
    from vgen_eval.imaging import decode_image, resize
    from vgen_eval.video import draw_sheet

    clip = body.clip
    if side is not None and side <= SIDE:
        frame = next(iter(clip.take([clip.frames // 2]))).image.array
        scale = min(1.0, side / max(frame.shape[:2]))
        height, width = (max(1, round(part * scale)) for part in frame.shape[:2])
        return resize(frame, height=height, width=width, kind="photo")
    return decode_image(draw_sheet(clip), what=title)


def plain(text: str) -> str:
    """The text without control characters, on one line a paragraph."""
    spaced = " ".join(text.split())
    return "".join(c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}"
                   for c in spaced)  # fmt: skip


class _Sheet:
    """Paper that is written on from above."""

    def __init__(self, side: int | None) -> None:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont

        self._width = side or SIDE
        self._height = self._width * 3 // 4
        self._picture = PIL.Image.new("RGB", (self._width, self._height), BACK)
        self._pen: PIL.ImageDraw.ImageDraw = PIL.ImageDraw.Draw(self._picture)
        small = side is not None and side <= THUMB
        self._size = max(11, self._width // (14 if small else 24))
        self._font: Any = PIL.ImageFont.load_default(self._size)
        self._margin = self._width // 24
        self._at = self._margin

    def write(self, text: str, ink: tuple[int, int, int]) -> None:
        room = self._width - 2 * self._margin
        columns = max(8, int(room / (self._size * 0.52)))
        for line in textwrap.wrap(text, columns) or [""]:
            if self._at + self._size > self._height - self._margin // 2:
                return
            self._pen.text((self._margin, self._at), line, fill=ink, font=self._font)
            self._at += round(self._size * 1.3)

    def bar(
        self, label: str, told: str, part: float | None, *, is_right: bool, is_chosen: bool
    ) -> None:
        thick = max(3, self._size // 2)
        if self._at + self._size + thick + 6 > self._height:
            return
        left, right = self._margin, self._width - self._margin
        words = f"{'> ' if is_chosen else ''}{label}  {told}".rstrip()
        self._pen.text((left, self._at), words, fill=CHOSEN if is_chosen else INK, font=self._font)
        if is_right:  # a tick that no font need have
            x, y, step = right - self._size, self._at + self._size // 2, self._size // 3
            self._pen.line(
                [(x, y), (x + step, y + step), (x + 3 * step, y - step)], fill=INK,
                width=max(2, self._size // 8),
            )  # fmt: skip
        self._at += round(self._size * 1.25)
        if part is None and not told:
            self._at += self._size // 2
            return
        self._pen.rectangle([left, self._at, right, self._at + thick], outline=BAR)
        if part is not None:
            end = left + round((right - left) * part)
            self._pen.rectangle(
                [left, self._at, end, self._at + thick], fill=CHOSEN if is_chosen else BAR
            )
        self._at += thick + self._size // 2

    def array(self) -> NDArray[np.uint8]:
        import numpy as np

        return np.array(self._picture)
