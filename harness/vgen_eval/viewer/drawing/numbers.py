"""Maps of numbers and of directions through colours; hatched where there is nothing.

A browser colours alike: place = floor(255 t + 0.5) of the table, turned round (255 - place) for a
map whose low end is bright, with t by scale from 0 at `low` to 1 at `high`:

linear      (v - low) / (high - low)
log         (log v - log low) / (log high - log low)
inverse     (1 / low - 1 / v) / (1 / low - 1 / high)

Below `low` and above `high` the two fixed colours stand, half a step of the map's field allowed.
log and inverse need low > 0: else the scale is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval.imaging import resize
from vgen_eval.viewer.drawing.fields import Steps
from vgen_eval.viewer.drawing.maps import ABOVE, BELOW, HATCH, HATCH_PERIOD, table
from vgen_eval.viewer.drawing.ranges import Range

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["colour_directions", "colour_numbers", "effective_scale", "hatch", "reduce_colours"]


def effective_scale(scale: str, ends: Range) -> str:
    """The scale that is drawn: log and inverse have none at 0 and below."""
    return scale if ends[0] > 0 else "linear"


def colour_numbers(
    values: NDArray[Any], ends: Range, *, name: str, scale: str = "linear", reverse: bool = False,
    steps: Steps | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:  # fmt: skip
    """uint8 (H, W, 3), and where there is a number; the colour of the others is not said.

    `name`: of the table. `steps`: how a browser has the numbers, so that the same ones are below
    and above the ends in both; None: to the last digit.
    """
    import numpy as np

    low, high = ends
    is_there = np.isfinite(values)
    numbers = np.where(is_there, values, low).astype(np.float64)
    is_below, is_above = (
        (numbers < low, numbers > high) if steps is None else steps.beyond(numbers, low, high)
    )
    inside = np.clip(numbers, low, high)
    scale = effective_scale(scale, ends)
    if scale == "log":
        parts = (np.log(inside) - np.log(low)) / (np.log(high) - np.log(low))
    elif scale == "inverse":
        parts = (1 / low - 1 / inside) / (1 / low - 1 / high)
    else:
        parts = (inside - low) / (high - low)
    places = np.clip(np.floor(255 * parts + 0.5), 0, 255).astype(np.uint8)
    if reverse:
        places = 255 - places
    rgb = table(name)[places]
    rgb[is_below] = BELOW
    rgb[is_above] = ABOVE
    return rgb, is_there


def colour_directions(vectors: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """(n + 1) / 2 of unit vectors (H, W, 3) as uint8 RGB, and where there is one."""
    import numpy as np

    numbers = vectors.astype(np.float64)
    length = np.sqrt((numbers**2).sum(axis=2))
    is_there = np.isfinite(length) & (length > 0)
    unit = np.where(is_there[..., None], numbers, 0.0)
    unit /= np.where(is_there, length, 1.0)[..., None]
    return np.rint((unit + 1) / 2 * 255).astype(np.uint8), is_there


def reduce_colours(
    rgb: NDArray[np.uint8], is_there: NDArray[np.bool_], *, height: int, width: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Both at a smaller size: the mean colour of what is there; nothing only where nothing is.

    So a sparse map stays to be seen.
    """
    import cv2
    import numpy as np

    if rgb.shape[:2] == (height, width):
        return rgb, is_there
    if is_there.all():
        small = resize(rgb, height=height, width=width, kind="photo")
        return small, np.ones((height, width), np.bool_)
    weight = is_there.astype(np.float32)
    size = (width, height)
    total = cv2.resize(rgb * weight[..., None], size, interpolation=cv2.INTER_AREA)
    part = cv2.resize(weight, size, interpolation=cv2.INTER_AREA)
    found = part > 1e-6
    mean = total / np.where(found, part, 1.0)[..., None]
    return np.clip(np.rint(mean), 0, 255).astype(np.uint8), found


def hatch(height: int, width: int) -> NDArray[np.uint8]:
    """Stripes up to the right, in the pixels of the picture that is made: (H, W, 3)."""
    import numpy as np

    places = (np.arange(height)[:, None] + np.arange(width)[None]) % HATCH_PERIOD
    first, second = (np.array(colour, np.uint8) for colour in HATCH)
    return np.where((places < HATCH_PERIOD // 2)[..., None], first, second)
