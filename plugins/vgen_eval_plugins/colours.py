"""Colours as cards write them: as bytes, as numbers and in words."""

from __future__ import annotations

from typing import Annotated, Any

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyColour", "Paint", "as_code", "as_hex", "as_rgb", "pack", "spell"]

RGB = tuple[int, int, int]

Hex = Annotated[str, msgspec.Meta(pattern=r"^#[0-9a-fA-F]{6}$")]
Level = Annotated[int, msgspec.Meta(ge=0, le=255)]
AnyColour = Hex | tuple[Level, Level, Level]
""" "#rrggbb" or [r, g, b]."""


class Paint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A colour and what people call it."""

    rgb: AnyColour
    word: Annotated[str, msgspec.Meta(min_length=1)]
    called: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    """What a prompt calls the class that has it; None: its name."""


def as_rgb(colour: AnyColour | Paint) -> RGB:
    """R, G, B, 0-255; ValueError when a text is no "#rrggbb" or a level is out of range."""
    if isinstance(colour, Paint):
        return as_rgb(colour.rgb)
    if isinstance(colour, str):
        levels = bytes.fromhex(colour.removeprefix("#"))
        if len(levels) != 3:
            raise ValueError(f"a colour like '#ff0000' is wanted, '{colour}' came")
        return levels[0], levels[1], levels[2]
    red, green, blue = colour
    bytes(colour)  # ValueError beyond 0..255
    return red, green, blue


def as_code(colour: AnyColour | Paint) -> int:
    """0xrrggbb."""
    return int.from_bytes(bytes(as_rgb(colour)), "big")


def as_hex(code: int) -> str:
    """ "#rrggbb" of 0xrrggbb."""
    return f"#{code:06x}"


def spell(colour: AnyColour | Paint) -> str:
    """ "red (#ff0000)", or "#ff0000" for a colour without a word."""
    text = as_hex(as_code(colour))
    return f"{colour.word} ({text})" if isinstance(colour, Paint) else text


def pack(picture: NDArray[np.uint8]) -> NDArray[Any]:
    """int32 (H, W) of 0xrrggbb from contiguous uint8 (H, W, 3)."""
    four = np.asarray(cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2BGRA))
    return four.view("<i4")[..., 0] & 0xFFFFFF
