"""A clip as people look at it: a sheet of frames with their times, and a small animation."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Literal

from vgen_eval.video.clips import Clip, Frame

if TYPE_CHECKING:
    import PIL.Image

__all__ = ["draw_sheet", "spread_times", "write_animation"]

_MARGIN = 4
_LABEL = 16
_INK = (40, 40, 40)
_PAPER = (255, 255, 255)


def spread_times(clip: Clip, count: int) -> list[float]:
    """`count` times in seconds, evenly from the first frame to the last; fewer of a short clip."""
    count = min(count, clip.frames)
    if count < 2:
        return [0.0][:count]
    return [clip.times[-1] * k / (count - 1) for k in range(count)]


def draw_sheet(clip: Clip, *, count: int = 12, columns: int = 4, long_side: int = 240) -> bytes:
    """A PNG with `count` frames from the first to the last, each above its number and its time."""
    import PIL.Image
    import PIL.ImageDraw

    frames = list(clip.at(spread_times(clip, count)))
    width, height = _scaled(clip, long_side)
    columns = max(1, min(columns, len(frames)))
    step = (width + _MARGIN, height + _LABEL + _MARGIN)
    rows = math.ceil(len(frames) / columns)
    size = (columns * step[0] + _MARGIN, rows * step[1] + _MARGIN)
    sheet = PIL.Image.new("RGB", size, _PAPER)
    pen = PIL.ImageDraw.Draw(sheet)
    for at, frame in enumerate(frames):
        left = _MARGIN + at % columns * step[0]
        top = _MARGIN + at // columns * step[1]
        sheet.paste(_shrunk(frame, (width, height)), (left, top))
        pen.text((left, top + height + 2), f"{frame.index}  {frame.time:.2f} s", fill=_INK)
    return _saved(sheet, "PNG")


def write_animation(
    clip: Clip, *, count: int = 40, long_side: int = 320, form: Literal["webp", "gif"] = "webp"
) -> bytes:
    """An animated WebP or GIF of `count` frames that lasts as long as the clip and repeats."""
    times = spread_times(clip, count)
    size = _scaled(clip, long_side)
    pictures = [_shrunk(frame, size) for frame in clip.at(times)]
    each = max(20, round(1000 * clip.duration / len(pictures)))
    buffer = io.BytesIO()
    pictures[0].save(
        buffer, format=form.upper(), save_all=True, append_images=pictures[1:], duration=each,
        loop=0,
    )  # fmt: skip
    return buffer.getvalue()


def _scaled(clip: Clip, long_side: int) -> tuple[int, int]:
    scale = min(1.0, long_side / max(clip.size))
    return max(1, round(clip.size[0] * scale)), max(1, round(clip.size[1] * scale))


def _shrunk(frame: Frame, size: tuple[int, int]) -> PIL.Image.Image:
    import PIL.Image

    return frame.image.to_pil().resize(size, PIL.Image.Resampling.BOX)


def _saved(picture: PIL.Image.Image, form: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format=form)
    return buffer.getvalue()
