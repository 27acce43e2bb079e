"""Pictures of a palette: swatches with their names, as a model is shown them beside the photo."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont
from vgen_eval.imaging import Image

__all__ = ["draw_palette"]

COLUMNS = 4
ROWS = 6
"""Of a page: what stays legible at the size that services shrink pictures to."""

CELL = (220, 170)
"""Width and height in pixels."""

SWATCH = 110
FONT_SIZE = 20


def draw_palette(entries: Sequence[tuple[str, tuple[int, int, int]]]) -> list[Image]:
    """White pages of square swatches, four a row, each with its name in black below it.

    PixelArena (arXiv 2512.16303) shows one page for 19 classes and six for COCO's 134.
    """
    per_page = COLUMNS * ROWS
    font = PIL.ImageFont.load_default(FONT_SIZE)
    pages = []
    for start in range(0, len(entries), per_page):
        part = entries[start : start + per_page]
        rows = -(-len(part) // COLUMNS)
        page = PIL.Image.new("RGB", (COLUMNS * CELL[0], rows * CELL[1]), "white")
        draw = PIL.ImageDraw.Draw(page)
        for at, (name, colour) in enumerate(part):
            left, top = at % COLUMNS * CELL[0], at // COLUMNS * CELL[1]
            x = left + (CELL[0] - SWATCH) // 2
            draw.rectangle(
                (x, top + 10, x + SWATCH - 1, top + 9 + SWATCH), fill=colour, outline="black"
            )
            draw.text(
                (left + CELL[0] // 2, top + 20 + SWATCH), _short(name), "black", font, anchor="ma",
                stroke_width=0.5, stroke_fill="black",
            )  # fmt: skip
        pages.append(Image(np.asarray(page)))
    return pages


def _short(name: str) -> str:
    return name if len(name) <= 22 else f"{name[:21]}…"
