"""From a decoded frame to the picture that a viewer shows: RGB, square pixels, upright."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from vgen_eval.imaging import Image
from vgen_eval.video.library import load_av

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["Turn", "make_converter", "read_turn", "shown_size", "to_image"]

Turn = tuple[int, int, int, int]
"""Signs of a, b, c, d of a display matrix: (x, y) -> (a x + c y, b x + d y), y downwards."""

STRAIGHT: Turn = (1, 0, 0, 1)
_WIDEST = 16
"""A pixel wider or higher than this many times is a fault of the header, not a shape."""


def read_turn(frame: Any) -> Turn:
    """How the frame is to be turned: quarter turns and mirrors; other angles to the nearest."""
    kind = load_av().sidedata.sidedata.Type.DISPLAYMATRIX
    found = frame.side_data.get(kind)
    if found is None:
        return STRAIGHT
    a, b, _, c, d = (int(n) for n in np.frombuffer(bytes(found), np.int32, 5))
    if abs(a) + abs(d) >= abs(b) + abs(c):
        return (-1 if a < 0 else 1, 0, 0, -1 if d < 0 else 1)
    return (0, -1 if b < 0 else 1, -1 if c < 0 else 1, 0)


def shown_size(
    width: int, height: int, *, pixel: Fraction | None, turn: Turn = STRAIGHT
) -> tuple[int, int]:
    """(width, height) of the picture shown, of stored pixels of shape `pixel` (width / height).

    The shorter way is made longer, so that no pixel is thrown away.
    """
    if pixel and pixel > 0 and Fraction(1, _WIDEST) <= pixel <= _WIDEST:
        if pixel > 1:
            width = max(1, round(width * pixel))
        else:
            height = max(1, round(height / pixel))
    return (width, height) if turn[0] else (height, width)


def make_converter() -> Any:
    """What turns frames into RGB: one for a pass, since making it costs more than its use."""
    return load_av().video.reformatter.VideoReformatter()


def to_image(frame: Any, size: tuple[int, int], turn: Turn, converter: Any) -> Image:
    """The frame at this shown (width, height); transparent pixels lie on white."""
    width, height = size if turn[0] else (size[1], size[0])
    has_alpha = any(part.is_alpha for part in frame.format.components)
    name = "rgba" if has_alpha else "rgb24"
    scaled = {} if (frame.width, frame.height) == (width, height) else {
        "width": width, "height": height,
    }  # fmt: skip
    pixels = converter.reformat(frame, format=name, **scaled).to_ndarray()
    if has_alpha:
        alpha = pixels[..., 3:].astype(np.uint16)
        laid = pixels[..., :3] * alpha + 255 * (255 - alpha)
        pixels = ((laid + 127) // 255).astype(np.uint8)
    return Image(np.ascontiguousarray(_turned(pixels, turn)))


def _turned(pixels: RGB, turn: Turn) -> RGB:
    a, b, c, d = turn
    if not a:
        pixels = pixels.transpose(1, 0, 2)
        a, d = c, b
    pixels = pixels[:, ::-1] if a < 0 else pixels
    return pixels[::-1] if d < 0 else pixels
