"""How long a right video lasts, and how its frames become a file at the size the model saw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from vgen_eval.imaging import resize
from vgen_eval.types import Scene
from vgen_eval.video import write_mp4

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["VideoOptions", "at_times", "encode"]


class VideoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Length, rate and quality of the video."""

    fps: Annotated[float, msgspec.Meta(description="Frames a second.", ge=1, le=120)] = 16.0
    seconds: Annotated[
        float, msgspec.Meta(description="Its length, where the tempo allows it.", gt=0, le=120)
    ] = 4.0
    crf: Annotated[int, msgspec.Meta(description="Of H.264: 0 no loss, 51 worst.", ge=0, le=51)] = (
        20
    )


def at_times(options: VideoOptions, *, still: float, least: float) -> Iterator[float]:
    """How much is done, 0 to 1, in each frame: nothing in the first `still` part, all in the last.

    Of the whole, at least so many frames are on the way: where `seconds` are too few for that, the
    video is longer, so that it keeps the tempo that the prompts ask for.
    """
    moving = math.ceil(least / (1 - 2 * still))
    count = max(2, moving, round(options.fps * options.seconds))
    for k in range(count):
        done = (k / (count - 1) - still) / (1 - 2 * still)
        yield min(max(done, 0.0), 1.0)


def encode(frames: Iterable[RGB], scene: Scene, options: VideoOptions) -> bytes:
    """The MP4 file of frames drawn at the original's size, as the model saw it, sides even."""
    height, width = scene.image.height, scene.image.width
    even = (max(2, height - height % 2), max(2, width - width % 2))

    def seen() -> Iterator[RGB]:
        for frame in frames:
            laid = scene.geometry.project(frame, "photo", fill=0)
            if laid.shape[:2] != even:
                laid = resize(laid, height=even[0], width=even[1], kind="photo")
            yield laid

    return write_mp4(seen(), fps=options.fps, crf=options.crf)
