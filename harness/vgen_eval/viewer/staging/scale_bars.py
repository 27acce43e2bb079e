"""What colours stand for: bars with their ticks, the ball of directions, the fixed colours."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import msgspec

from vgen_eval import jsonio
from vgen_eval.viewer.drawing.maps import ABOVE, BELOW, HATCH, TABLES, hex_of
from vgen_eval.viewing import ScalarMap

__all__ = ["Tick", "ball", "fixed_colours", "in_short", "steps", "ticks"]

STEPS = 32
BALL_CELLS = 10


class Tick(msgspec.Struct, frozen=True):
    """A value that a scale bar marks."""

    at: float
    """0 to 100, from its low end."""
    text: str


def in_short(value: float) -> str:
    """Four digits at most: what stands at the end of a scale bar."""
    return f"{value:.4g}"


@functools.cache
def ball() -> tuple[tuple[float, float, float, str], ...]:
    """Cells of a ball seen from the camera, each in the colour of its direction: x, y, size."""
    size = 2 / BALL_CELLS
    cells = []
    for row in range(BALL_CELLS):
        for column in range(BALL_CELLS):
            x, y = -1 + (column + 0.5) * size, 1 - (row + 0.5) * size
            if x * x + y * y <= 1:
                normal = (x, y, math.sqrt(1 - x * x - y * y))
                colour = "#" + "".join(f"{round(127.5 * (part + 1)):02x}" for part in normal)
                cells.append((round(x - size / 2, 3), round(-y - size / 2, 3), size, colour))
    return tuple(cells)


@functools.cache
def fixed_colours() -> str:
    """The colours beside the maps, JSON."""
    return jsonio.dumps({"below": list(BELOW), "above": list(ABOVE), "hatch": HATCH}).decode()


def steps(name: str, *, reverse: bool) -> tuple[str, ...]:
    """Colours of a bar, from its low end."""
    table = TABLES[name]
    found = [table[int(256 * (at + 0.5) / STEPS)] for at in range(STEPS)]
    return tuple(map(hex_of, found[::-1] if reverse else found))


def ticks(body: ScalarMap, low: float, high: float) -> Iterator[Tick]:
    """The pane's own values between the ends, on a linear bar."""
    for value in body.ticks:
        if math.isfinite(value) and low < value < high:
            yield Tick(at=100 * (value - low) / (high - low), text=in_short(value))
