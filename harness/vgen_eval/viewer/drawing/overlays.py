"""Maps of classes, and marks, over the input picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vgen_eval.imaging import resize
from vgen_eval.viewer.drawing.maps import MARKS, PAPER, RIM
from vgen_eval.viewer.drawing.numbers import hatch
from vgen_eval.viewing import ClassMap, Colour, Mark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["draw_classes", "draw_marks", "paper"]

DOTS = 6
"""Pixels from one dot to the next of a patterned class; a dot is 2 x 2."""
SHIFT = 4
"""Bits of a pixel's parts in which OpenCV takes places."""


def paper(height: int, width: int) -> NDArray[np.uint8]:
    """Plain gray."""
    import numpy as np

    return np.full((height, width, 3), PAPER, np.uint8)


def draw_classes(
    body: ClassMap, colours: Sequence[Colour], under: NDArray[np.uint8] | None, *,
    height: int, width: int, off: Sequence[int], opacity: float,
) -> NDArray[np.uint8]:  # fmt: skip
    """The classes at (height, width), by the nearest pixel; `under` has that size.

    Classes that are off let the picture be seen, or gray where there is none.
    """
    import numpy as np

    ids = resize(body.ids, height=height, width=width, kind="labels").astype(np.int64)
    base = paper(height, width) if under is None else under
    lut = np.array([*colours, PAPER], np.uint8)  # the last one is never seen
    flat = lut[ids]
    for name in body.patterned:
        if name in body.classes:
            place = body.classes.index(name)
            dots = (np.arange(height)[:, None] % DOTS < 2) & (np.arange(width)[None] % DOTS < 2)
            flat[(ids == place) & dots] = _ink_on(colours[place])
    if opacity < 1:
        part = min(1.0, max(0.0, opacity))
        mixed = flat.astype(np.float32) * part + base.astype(np.float32) * (1 - part)
        flat = np.rint(mixed).astype(np.uint8)
    is_off = np.isin(ids, [place for place in off if place >= 0])
    if body.clear:
        is_off |= ids < 0
    flat[is_off] = base[is_off]
    is_none = (ids < 0) & ~is_off
    if is_none.any():
        flat[is_none] = hatch(height, width)[is_none]
    return flat


def _ink_on(colour: Colour) -> Colour:
    """Black or white: what stands out."""
    light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return (0, 0, 0) if light > 110 else (255, 255, 255)


def draw_marks(
    marks: Sequence[Mark], under: NDArray[np.uint8], *, scale: tuple[float, float]
) -> NDArray[np.uint8]:
    """The marks on a picture that is `scale` (x, y) times the original."""
    import math

    import cv2

    canvas = under.copy()
    longest = max(canvas.shape[:2])
    many = 1.0 if len(marks) <= 60 else 0.6
    radius = max(4.5, min(14.0, longest / 45)) * many
    pens = ((RIM, 3), (None, 1)) if radius < 9 else ((RIM, 4), (None, 2))
    for colour, thickness in pens:
        for mark in marks:
            ends = [(mark.x, mark.y), mark.to] if mark.to is not None else [(mark.x, mark.y)]
            if not all(math.isfinite(part) and abs(part) < 1e6 for end in ends for part in end):
                continue
            places = [_place(end, scale) for end in ends]
            ink = colour or MARKS[mark.shape]
            if len(places) == 2:
                first, last = places
                cv2.line(canvas, first, last, ink, max(1, thickness - 1), cv2.LINE_AA, SHIFT)
            _draw_shape(canvas, mark.shape, places[0], radius, ink, thickness)
    return canvas


def _place(point: tuple[float, float], scale: tuple[float, float]) -> tuple[int, int]:
    """Centres of pixels are whole in both pictures."""
    x, y = ((part + 0.5) * by - 0.5 for part, by in zip(point, scale, strict=True))
    return round(x * 2**SHIFT), round(y * 2**SHIFT)


def _draw_shape(
    canvas: Any, shape: str, place: tuple[int, int], radius: float, ink: Colour, thickness: int
) -> None:
    import cv2

    reach = round(radius * 2**SHIFT)
    x, y = place
    if shape == "ring":
        cv2.circle(canvas, place, reach, ink, thickness, cv2.LINE_AA, SHIFT)
    elif shape == "square":
        corners = ((x - reach, y - reach), (x + reach, y + reach))
        cv2.rectangle(canvas, *corners, ink, thickness, cv2.LINE_AA, SHIFT)
    elif shape == "cross":
        for side in (-1, 1):
            ends = ((x - reach, y - side * reach), (x + reach, y + side * reach))
            cv2.line(canvas, *ends, ink, thickness, cv2.LINE_AA, SHIFT)
    else:
        size = reach // 2 + (1 << (SHIFT - 1)) * (thickness - 1)
        cv2.circle(canvas, place, size, ink, cv2.FILLED, cv2.LINE_AA, SHIFT)
