"""A tiny data set, drawn by rule: coloured shapes, their masks, the manifest that lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["draw_data_set", "draw_shape"]

HEIGHT, WIDTH = 72, 96
PAPER = (236, 232, 220)
COLOURS = {"red": (200, 40, 40), "blue": (40, 80, 190), "green": (40, 140, 70)}

Placed = tuple[str, str, int, int, int]
"""Colour, shape, x and y of its centre, and its reach from there, in pixels."""
PICTURES: tuple[tuple[Placed, ...], ...] = (
    (("red", "disc", 26, 36, 16), ("blue", "square", 68, 36, 14)),
    (("green", "triangle", 48, 30, 22), ("red", "square", 14, 58, 9)),
    (("blue", "disc", 66, 26, 18), ("green", "square", 28, 46, 16)),
    (("red", "triangle", 70, 44, 20), ("green", "disc", 24, 24, 12)),
)


def draw_shape(shape: str, x: int, y: int, reach: int) -> Mask:
    """bool (HEIGHT, WIDTH): a disc, a square or a triangle that points up."""
    import numpy as np

    down, right = np.mgrid[:HEIGHT, :WIDTH]
    dx, dy = abs(right - x), down - y
    if shape == "disc":
        inside = dx**2 + dy**2 <= reach**2
    elif shape == "square":
        inside = np.maximum(dx, abs(dy)) <= reach
    else:  # half as wide as it is far below its tip
        inside = (abs(dy) <= reach) & (2 * dx <= dy + reach)
    return np.asarray(inside)


def draw_data_set() -> dict[str, bytes]:
    """Path below the card's folder -> content: pictures, masks, and a line for each shape."""
    import numpy as np

    from vgen_eval import jsonio
    from vgen_eval.imaging import encode_png

    made: dict[str, bytes] = {}
    lines = []
    for number, shapes in enumerate(PICTURES, 1):
        picture = np.full((HEIGHT, WIDTH, 3), PAPER, np.uint8)
        for colour, shape, x, y, reach in shapes:
            mask = draw_shape(shape, x, y, reach)
            picture[mask] = COLOURS[colour]
            name = f"{number}-{colour}-{shape}"
            made[f"shapes/{name}.png"] = encode_png(mask.astype(np.uint8) * np.uint8(255))
            lines.append(
                {
                    "id": name,
                    "group": str(number),
                    "image": f"shapes/{number}.png",
                    "mask": f"shapes/{name}.png",
                    "query": f"the {colour} {shape}",
                    "tags": {"shape": shape},
                }
            )
        made[f"shapes/{number}.png"] = encode_png(picture)
    made["shapes.jsonl"] = b"".join(jsonio.dumps(entry) + b"\n" for entry in lines)
    return made
