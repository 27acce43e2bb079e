"""Panes as the pictures of a figure: as large as their cells, numbers within their colours."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from vgen_eval.imaging import resize
from vgen_eval.viewer.drawing.ranges import range_of
from vgen_eval.viewer.drawing.render import Style, draw
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewing import Film, ScalarMap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vgen_eval.video import Clip

__all__ = ["draw_into"]

MOST_FRAMES = 12
GUTTER, GRID = 2, 190
"""Pixels between frames, and their gray."""
FRAME = 110
"""Pixels that a frame of a clip is wide at least, where there are several."""


def draw_into(
    box: tuple[int, int], shown: Shown, look: Look, *, style: Style,
    ranges: Mapping[str, tuple[float, float]],
) -> NDArray[np.uint8]:  # fmt: skip
    """uint8 (H, W, 3): the pane as large as the box of pixels (width, height) lets it be.

    Never enlarged, so that a pixel of it is one of the figure's or more. A clip is some frames.
    """
    if isinstance(shown.pane.body, Film):
        with contextlib.suppress(Exception):  # the library's own; `draw` tells it as a card
            return _frames(shown.pane.body.clip, box)
    wide, high = shown.width or box[0], shown.height or box[1]
    long_side = int(max(wide, high) * min(box[0] / wide, box[1] / high))
    drawn = _within(shown, style, ranges)
    return draw(drawn, look, style=style, ranges=ranges, long_side=max(1, long_side))


def _frames(clip: Clip, box: tuple[int, int]) -> NDArray[np.uint8]:
    """As many frames as are to be seen in the box, from the first to the last, row by row; the
    middle one where there is room for one."""
    import numpy as np

    from vgen_eval.video import spread_times

    rows, columns = _grid(clip, box)
    times = spread_times(clip, rows * columns)
    if rows * columns == 1:
        times = [clip.times[clip.frames // 2]]
    wide = (box[0] - GUTTER * (columns + 1)) // columns
    scale = min(1.0, wide / clip.size[0], (box[1] - GUTTER * (rows + 1)) / rows / clip.size[1])
    wide, high = (max(1, int(part * scale)) for part in clip.size)
    size = (rows * (high + GUTTER) + GUTTER, columns * (wide + GUTTER) + GUTTER, 3)
    sheet = np.full(size, GRID, np.uint8)
    for at, frame in enumerate(clip.at(times)):
        top = GUTTER + at // columns * (high + GUTTER)
        left = GUTTER + at % columns * (wide + GUTTER)
        sheet[top : top + high, left : left + wide] = resize(
            frame.image.array, height=high, width=wide, kind="photo"
        )
    return sheet


def _grid(clip: Clip, box: tuple[int, int]) -> tuple[int, int]:
    """(rows, columns) of frames in the box: the most that can still be seen, no row half empty."""
    aspect = clip.size[1] / clip.size[0]
    best = (1, 1)
    for columns in range(1, min(MOST_FRAMES, box[0] // FRAME) + 1):
        rows = max(1, int(box[1] / (box[0] / columns * aspect) + 0.2))
        count = min(rows * columns, MOST_FRAMES, clip.frames)
        rows = count // columns
        if rows * columns > best[0] * best[1]:
            best = (rows, columns)
    return best


def _within(shown: Shown, style: Style, ranges: Mapping[str, tuple[float, float]]) -> Shown:
    """The pane with its numbers held within the ends of their colours: so papers draw maps."""
    import numpy as np

    pane = shown.pane
    ends = range_of(shown, ranges)
    if not isinstance(pane.body, ScalarMap) or ends is None:
        return shown
    low = ends[0] if style.low is None else style.low
    high = ends[1] if style.high is None else style.high
    # as doubles: an end that is rounded to the map's own type may lie beyond itself
    values = np.clip(pane.body.values.astype(np.float64), low, high)
    body = msgspec.structs.replace(pane.body, values=values)
    return msgspec.structs.replace(shown, pane=msgspec.structs.replace(pane, body=body))
