"""Frames of a clip for a page: which ones, when they come on, and their pictures, decoded once."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Iterable, Sequence

import msgspec

from vgen_eval.imaging import Image, resize
from vgen_eval.video import Clip
from vgen_eval.viewer.remembered import Remembered
from vgen_eval.viewing import Film
from vgen_eval.wording import plural

__all__ = ["Frames", "Strip", "StripFrame", "frame_on_screen", "strip_of"]

COUNT = 16
"""Frames spread evenly."""
MOST_LOOKED_AT = 64
"""Frames that were looked at, of which all are in a strip: a checker may look at hundreds."""
MOST_BYTES = 16 * 2**20
"""Of pictures that are kept."""
BESIDE = 16
"""Frames that are decoded ahead when one is asked for, at most."""


class StripFrame(msgspec.Struct, frozen=True):
    """One frame of a strip."""

    index: int
    """Counted from 0 in the order in which frames are shown."""
    time_s: float
    """When it comes on, from the first frame."""
    looked_at: bool = False
    """Did a judge or a checker see it?"""


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    """The frames of a clip that a page shows, in their order."""

    frames: tuple[StripFrame, ...]
    count: int
    """Frames of the clip."""
    duration_s: float
    fps: float
    """On average."""
    is_variable: bool
    """Does its rate change? Then step by frames, not by seconds."""
    notices: tuple[str, ...] = ()

    @property
    def indices(self) -> tuple[int, ...]:
        """Of its frames."""
        return tuple(frame.index for frame in self.frames)


def strip_of(film: Film, *, count: int = COUNT, most: int = MOST_LOOKED_AT) -> Strip:
    """`count` frames spread evenly from the first to the last, and those that were looked at.

    Spread by number, so that each is another frame. Where more than `most` were looked at, or all
    there are, `count` spread over them are in the strip, and a notice says so. Frames that remarks
    are about are always in it.
    """
    clip = film.clip
    notices: list[str] = []
    looked_at = sorted({frame_on_screen(clip, time) for time in film.shown})
    chosen = looked_at
    is_too_many = len(looked_at) > most or len(looked_at) == clip.frames
    if is_too_many and len(looked_at) > count:
        chosen = [looked_at[at] for at in _spread(len(looked_at), count)]
    remarked = {frame_on_screen(clip, m.time_s) for m in film.moments if m.time_s is not None}
    indices = {*_spread(clip.frames, count), *chosen, *remarked}
    here = len(indices & set(looked_at))
    if here < len(looked_at):
        notices.append(f"{plural(len(looked_at), 'frame')} were looked at; {here} of them are here")
    if clip.frames == 1:
        notices.append("the video has one frame")
    if "broken_tail" in clip.flags:
        notices.append(
            f"the video breaks off: {plural(clip.frames, 'frame')} can be decoded, "
            f"{clip.duration:.3f} s"
        )
    seen = set(looked_at)
    return Strip(
        frames=tuple(StripFrame(at, clip.times[at], at in seen) for at in sorted(indices)),
        count=clip.frames,
        duration_s=clip.duration,
        fps=clip.fps,
        is_variable=clip.is_variable,
        notices=tuple(notices),
    )


def frame_on_screen(clip: Clip, time_s: float) -> int:
    """The number of the frame that is on at this time: the first before 0, the last at the end."""
    return max(0, bisect.bisect_right(clip.times, time_s + 1e-9) - 1)


def _spread(count: int, wanted: int) -> list[int]:
    """`wanted` of the numbers 0 to count - 1, evenly, both ends among them; all where fewer."""
    wanted = min(count, max(1, wanted))
    if wanted < 2:
        return list(range(wanted))
    return [round((count - 1) * k / (wanted - 1)) for k in range(wanted)]


class Frames:
    """Pictures of clips' frames, the ones last asked for kept; threads may share it."""

    def __init__(self, *, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: Remembered[Image] = Remembered(
            most_bytes, weigh=lambda image: image.array.nbytes
        )
        self._passes = tuple(threading.Lock() for _ in range(8))
        """One pass over a clip at a time: who waits finds what the other has decoded."""

    def image(
        self, clip: Clip, index: int, *, long_side: int | None = None, beside: Iterable[int] = ()
    ) -> Image:
        """Frame `index`, its long side at most `long_side`; IndexError when there is none such.

        `beside`: frames that are likely to be asked for next, in a strip its others: a pass over
        the clip decodes some of them, too.
        """
        if not 0 <= index < clip.frames:
            raise IndexError(f"frame {index}: the video has frames 0 to {clip.frames - 1}")
        side = long_side or 0
        found = self._kept.find((clip.sha256, index, side))
        if found is not None:
            return found
        with self._passes[int(clip.sha256[:2], 16) % len(self._passes)]:
            found = self._kept.find((clip.sha256, index, side))
            return found if found is not None else self._decode(clip, index, side, beside)

    def _decode(self, clip: Clip, index: int, side: int, beside: Iterable[int]) -> Image:
        """One pass: the frame, and those of `beside` from it on that have room."""
        size = 3 * _area(clip, side)
        room = min(BESIDE, self._most // max(1, size) - 1)
        later = sorted({at for at in beside if index < at < clip.frames})[: max(0, room)]
        found = {at.index: _shrunk(at.image, side) for at in clip.take([index, *later])}
        for at in reversed(found):  # what was asked for is the last to go
            self._kept.put((clip.sha256, at, side), found[at])
        return found[index]

    @property
    def held(self) -> int:
        """Bytes of the pictures kept."""
        return self._kept.held


def _scaled(size: Sequence[int], side: int) -> tuple[int, int]:
    scale = min(1.0, side / max(size)) if side else 1.0
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _area(clip: Clip, side: int) -> int:
    width, height = _scaled(clip.size, side)
    return width * height


def _shrunk(image: Image, side: int) -> Image:
    width, height = _scaled((image.width, image.height), side)
    if (width, height) == (image.width, image.height):
        return image
    return Image(resize(image.array, height=height, width=width, kind="photo"))
