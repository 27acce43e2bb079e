"""Colours: maps of 256 steps, the fixed colours beside them, and the hues of classes."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from vgen_eval.viewer.drawing.tables import HEX
from vgen_eval.viewing import Colour

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ABOVE",
    "BELOW",
    "BY_KIND",
    "FIXED",
    "HATCH",
    "HATCH_PERIOD",
    "MARKS",
    "PAPER",
    "RIM",
    "TABLES",
    "class_colour",
    "hex_of",
    "table",
]

Triples = tuple[Colour, ...]


def _unpack(text: str) -> Triples:
    raw = bytes.fromhex(text)
    return tuple((raw[at], raw[at + 1], raw[at + 2]) for at in range(0, len(raw), 3))


TABLES: Mapping[str, Triples] = {name: _unpack(text) for name, text in HEX.items()}
"""Name -> 256 RGB triples: for pictures made here and, as JSON, for those made in a browser."""

BY_KIND: Mapping[str, str] = {
    "sequential": "viridis",
    "diverging": "diverging",
    "error": "inferno",
}
"""Kind of a map of numbers -> the name of its colours, where the reader asks for no other."""

BELOW: Colour = (255, 120, 235)
ABOVE: Colour = (125, 249, 255)
"""Numbers beyond the ends of the colours: in no map."""
PAPER: Colour = (128, 128, 128)
HATCH: tuple[Colour, Colour] = ((96, 96, 96), (150, 150, 150))
"""Where there is no number: stripes up to the right, in the pixels of the screen."""
HATCH_PERIOD = 8
"""Pixels along a row from one stripe to the next: (x + y) mod 8 < 4 has the first colour."""

MARKS: Mapping[str, Colour] = {
    "ring": (255, 255, 255),
    "square": (240, 140, 40),
    "cross": (80, 170, 255),
    "dot": (250, 225, 70),
}
"""Shape -> its colour, inside a dark rim: the shape says it, the colour helps."""
RIM: Colour = (20, 20, 20)
FIXED: Mapping[str, tuple[Colour, ...]] = {
    "below": (BELOW,),
    "above": (ABOVE,),
    "hatch": HATCH,
    "paper": (PAPER,),
    "marks": tuple(MARKS.values()),
}
"""What is no map and drawn alike here and in a browser."""


@functools.cache
def table(name: str) -> NDArray[np.uint8]:
    """uint8 (256, 3); KeyError for a name that is not in TABLES."""
    import numpy as np

    found = np.array(TABLES[name], np.uint8)
    found.flags.writeable = False
    return found


HUES = 20
_LIGHTNESS = (0.62, 0.80, 0.48, 0.71, 0.55)
"""Of neighbours: told apart without hue as well."""
_GOLDEN = 137.508
"""Degrees from one hue to the next: no two of 20 come close."""


@functools.cache
def hex_of(colour: Colour) -> str:
    """As a style sheet has it: #rrggbb."""
    return f"#{bytes(colour).hex()}"


def class_colour(place: int) -> Colour:
    """The colour of the class at that place: 20 hues, then the same ones lighter and darker.

    In OKLCH (B. Ottosson, 2020), so that lightness is what people see.
    """
    step, hue = divmod(place, HUES)
    lightness = _LIGHTNESS[hue % len(_LIGHTNESS)]
    if step:  # ever smaller steps, up and down in turn
        lightness += (0.5 ** ((step - 1) // 2)) * (0.13 if step % 2 else -0.17)
    angle = math.radians((28.0 + _GOLDEN * hue) % 360)
    chroma = 0.15 if lightness < 0.75 else 0.11
    return _from_oklab(lightness, chroma * math.cos(angle), chroma * math.sin(angle))


def _from_oklab(light: float, a: float, b: float) -> Colour:
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    mid = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * mid + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * mid - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * mid + 1.7076147010 * short,
    )
    red, green, blue = (_to_8_bits(part) for part in linear)
    return red, green, blue


def _to_8_bits(linear: float) -> int:
    part = min(1.0, max(0.0, linear))
    curved = 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
    return round(255 * curved)
