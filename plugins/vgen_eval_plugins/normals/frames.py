"""Frames of normals: which way each component points, in three words, 48 ways in all."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
from vgen_eval.errors import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ALIASES",
    "CONVENTIONS",
    "HOUSE",
    "PROPER",
    "Frame",
    "from_house",
    "parse_frame",
    "to_house",
]

HOUSE = "right up toward"
"""x right, y up, z toward the camera: the frame of targets and predictions."""

_AXES = (("right", "left"), ("up", "down"), ("toward", "away"))
"""Of each axis of the house: the word along it, and the one against it."""

_AXIS_OF = {word: axis for axis, pair in enumerate(_AXES) for word in pair}

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "opengl": "right up toward",
        "opencv": "right down away",
        # DSINE's README calls its axes right, down, front, but a wall that faces the camera is
        # (0, 0, 1) there: all three point the other way, as in the NYUv2 pictures, red to the left
        "dsine": "left up toward",
    }
)
"""Short names for frames that are in wide use."""


class Frame(msgspec.Struct, frozen=True):
    """Where each of the three components points: an axis of the house, and along or against it."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words)

    @property
    def axes(self) -> tuple[int, ...]:
        """Of each component: the house's axis that it lies on."""
        return tuple(_AXIS_OF[word] for word in self.words)

    @property
    def signs(self) -> tuple[int, ...]:
        """Of each component: 1 along that axis, -1 against it."""
        return tuple(1 if word == _AXES[_AXIS_OF[word]][0] else -1 for word in self.words)

    @property
    def is_proper(self) -> bool:
        """Is it a rotation of the house's frame? The other half are mirrored."""
        a, b, c = self.axes
        swaps = (a > b) + (a > c) + (b > c)
        down = sum(sign < 0 for sign in self.signs)
        return (swaps + down) % 2 == 0

    def component(self, axis: int) -> tuple[int, int]:
        """Which component lies on an axis of the house, and its sign there."""
        at = self.axes.index(axis)
        return at, self.signs[at]


def _all_frames() -> tuple[str, ...]:
    return tuple(
        " ".join(words)
        for order in itertools.permutations(range(3))
        for words in itertools.product(*(_AXES[axis] for axis in order))
    )


CONVENTIONS: tuple[str, ...] = _all_frames()
"""All 48: six orders of the axes, eight choices of direction; the house's own first."""

PROPER: tuple[str, ...] = tuple(
    name for name in CONVENTIONS if Frame(tuple(name.split())).is_proper
)
"""The 24 that are rotations of the house's frame."""


@functools.cache
def parse_frame(name: str) -> Frame:
    """The frame of this name, or of this alias; ValueError, with the nearest, for no such thing.

    Three words, one for each component: right or left, up or down, toward or away (the camera),
    in any order: "right down away" is x right, y down, z away from the camera.
    """
    words = ALIASES.get(name.strip().lower(), name).lower().replace(",", " ").split()
    if sorted(_AXIS_OF.get(word, -1) for word in words) == [0, 1, 2]:
        return Frame(tuple(words))
    raise ValueError(
        f"{name!r} is no frame: three words are wanted, one of right/left, up/down and "
        f"toward/away, in the order of the components, or {', '.join(ALIASES)}."
        f"{nearest(' '.join(words), (*CONVENTIONS, *ALIASES))}"
    )


def to_house(array: NDArray[Any], frame: str) -> NDArray[Any]:
    """(..., 3) vectors of a frame as right, up, toward; its own dtype, a new array."""
    import numpy as np

    parsed = parse_frame(frame)
    if str(parsed) == HOUSE:
        return array.copy()
    out = np.empty_like(array)
    for axis in range(3):
        at, sign = parsed.component(axis)
        _put(array[..., at], sign, out[..., axis])
    return out


def from_house(array: NDArray[Any], frame: str) -> NDArray[Any]:
    """(..., 3) vectors right, up, toward as those of a frame; its own dtype, a new array."""
    import numpy as np

    parsed = parse_frame(frame)
    out = np.empty_like(array)
    for at, (axis, sign) in enumerate(zip(parsed.axes, parsed.signs, strict=True)):
        _put(array[..., axis], sign, out[..., at])
    return out


def _put(plane: NDArray[Any], sign: int, out: NDArray[Any]) -> None:
    if sign > 0:
        out[...] = plane
    else:
        # 0 - x and not -x: a zero stays a zero of plus sign
        out[...] = 0 - plane
