"""A video as its judge sees it: small frames, each with its time and its number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from vgen_eval.imaging import Image, recompress, resize

from vgen_eval_plugins.video.vgi.grid import sample_interval, sample_times

if TYPE_CHECKING:
    from vgen_eval.video import Clip, Frame

__all__ = [
    "FRAME_SIDE",
    "REFERENCE_SIDE",
    "Duration",
    "Film",
    "FrameAt",
    "GridEnd",
    "Labels",
    "Scaling",
    "Seen",
    "shrink",
]

FrameAt = Literal["on_screen", "at_or_after"]
"""on_screen: the frame that shows at t. at_or_after: the first frame from t on, t to 3 decimals; at
the end there may be none, and the sample is lost."""
Labels = Literal["decoded", "reckoned"]
"""decoded: the frame's own number and time. reckoned: round(t * frames a second), half to even."""
Duration = Literal["stream", "container"]
GridEnd = Literal["last_frame", "rounded"]
"""last_frame: the grid, and the last frame after it. rounded: the grid alone."""
Scaling = Literal["rounded", "truncated"]
"""Of the shorter side, when the longer one is brought to its limit."""

FRAME_SIDE = 512
REFERENCE_SIDE = 768
COMPRESSION = "jpeg:88"
SOUGHT = 3
"""Decimals of a time that is sought, where the first frame from it on is."""


class Seen(msgspec.Struct, frozen=True):
    """A frame as it is shown."""

    label: int
    time: float
    """Seconds."""
    image: Image

    def line(self) -> str:
        """What stands before it."""
        return f"t = {self.time:.3f} s, frame {self.label}"


def shrink(image: Image, side: int, scaling: Scaling) -> Image:
    """The picture with a long side of at most `side`, after one round of JPEG at quality 88."""
    height, width = image.height, image.width
    longest = max(height, width)
    if longest > side:
        count: Callable[[float], int] = int if scaling == "truncated" else round
        height = max(1, count(height * side / longest))
        width = max(1, count(width * side / longest))
    small = resize(image.array, height=height, width=width, kind="photo")
    return Image(recompress(small, COMPRESSION))


class Film:
    """Samples of one clip."""

    def __init__(
        self,
        clip: Clip,
        *,
        frame_at: FrameAt,
        labels: Labels,
        duration: Duration,
        grid_end: GridEnd,
        scaling: Scaling,
    ) -> None:
        self._clip = clip
        self._frame_at = frame_at
        self._labels = labels
        self._scaling = scaling
        self._adds_last = grid_end == "last_frame"
        self._digits = SOUGHT if frame_at == "at_or_after" else None
        self.duration = clip.container_duration if duration == "container" else clip.duration
        reckoned = self.duration - 1 / clip.fps if clip.fps > 0 else 0.0
        self.limit = clip.times[-1] if self._adds_last else max(0.0, reckoned)

    def grid(self, fps: float) -> list[float]:
        """Times over the whole clip."""
        return sample_times(
            self.duration, fps, limit=self.limit, add_last=self._adds_last, digits=self._digits
        )

    def grid_within(self, interval: tuple[float, float], fps: float) -> list[float]:
        """Times from the interval's start to its end, or the clip's."""
        return sample_interval(interval, fps, limit=self.limit, digits=self._digits)

    def look(self, times: Sequence[float]) -> list[Seen]:
        """The frames at these times, in their order; fewer where there are none, or the same."""
        seen: list[Seen] = []
        for time, frame in zip(times, self._frames(times), strict=True):
            if frame is None:
                continue
            if self._labels == "reckoned":
                label, at = round(time * self._clip.fps), time
            else:
                label, at = frame.index, frame.time
                if seen and seen[-1].label == label:
                    continue
            image = shrink(frame.image, FRAME_SIDE, self._scaling)
            seen.append(Seen(label, at, image))
        return seen

    def _frames(self, times: Sequence[float]) -> Iterable[Frame | None]:
        if self._frame_at == "at_or_after":
            return self._clip.first_at_or_after(times)
        return self._clip.at(times)
