"""Videos as values: how many frames, when each is shown, and the pictures, decoded when asked."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import msgspec

from vgen_eval.errors import Undecodable
from vgen_eval.imaging import MAX_BYTES, Image, check_bytes, check_pixels
from vgen_eval.video.containers import is_cut, name_container
from vgen_eval.video.decoding import Pass
from vgen_eval.video.library import load_av
from vgen_eval.video.upright import Turn, make_converter, read_turn, shown_size, to_image

__all__ = ["Clip", "Frame", "Limits"]


MOST_KNOWN = 8
"""Files."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a video may be: a small file can hold hours of one colour."""

    frames: int = 20_000
    seconds: float = 1800.0
    pixels: int = 40_000_000_000
    """Of all frames together."""


class Frame(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One frame, decoded."""

    index: int
    """Counted from 0 in the order in which frames are shown."""
    time: float
    """Seconds from the first frame."""
    image: Image


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass over all frames finds."""

    size: tuple[int, int]
    turn: Turn
    times: tuple[float, ...]
    duration: float
    container_duration: float
    declared_fps: float | None
    flags: tuple[str, ...]


class _Known:
    """What was found in the files looked through last: a page opens one several times."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, Limits], Facts] = OrderedDict()

    def find(self, key: tuple[str, Limits]) -> Facts | None:
        with self._lock:
            return self._kept.get(key)

    def keep(self, key: tuple[str, Limits], facts: Facts) -> None:
        with self._lock:
            self._kept[key] = facts
            while len(self._kept) > MOST_KNOWN:
                self._kept.popitem(last=False)


_KNOWN = _Known()


class Clip:
    """A video file, looked through once: made by `Clip.open`.

    Frames are decoded again when they are asked for, by a pass of their own, so that no more than
    one is held and threads do not meet. Two clips are equal when their bytes are.
    """

    def __init__(self, data: bytes, facts: Facts) -> None:
        self.data = data
        self.size: tuple[int, int] = facts.size
        """(width, height) as shown: upright, with square pixels."""
        self.times: tuple[float, ...] = facts.times
        """Seconds at which each frame comes on; the first is 0, none is before its neighbour."""
        self.duration: float = facts.duration
        """Seconds from the first frame to the last one's end: of the pictures, not of the sound."""
        self.container_duration: float = facts.container_duration
        """Seconds that the file as a whole says it lasts, sound included; `duration` where it says
        nothing, or more than a video may last."""
        self.flags: tuple[str, ...] = facts.flags
        """`broken_tail`: frames after these do not decode, or the file ends too early."""
        self._facts = facts

    @classmethod
    def open(cls, data: bytes, *, what: str = "video", limits: Limits | None = None) -> Clip:
        """The clip in the bytes of an MP4, WebM, GIF or AVI file.

        Undecodable, naming `what`: no bytes, no video file, an index that is broken or gone (an
        MP4 that is cut off before it, or never finished), no frame that decodes, or more than
        `limits`. Frames that fail after good ones cost only themselves and those after them:
        flag `broken_tail`. MissingExtra without PyAV.
        """
        check_bytes(len(data), what=what, limit=MAX_BYTES)
        load_av()  # known facts are of no use without it
        limits = limits or Limits()
        key = hashlib.sha256(data).hexdigest(), limits
        facts = _KNOWN.find(key)
        if facts is None:
            facts = _look_through(data, what=what, limits=limits)
            _KNOWN.keep(key, facts)
        return cls(data, facts)

    def __repr__(self) -> str:
        width, height = self.size
        return f"Clip({width}x{height}, {self.frames} frames, {self.duration:.3f} s)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clip) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __deepcopy__(self, memo: Any) -> Clip:
        return self  # nothing of it changes

    @cached_property
    def sha256(self) -> str:
        """Digest of the file."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def frames(self) -> int:
        """How many frames decode."""
        return len(self.times)

    @property
    def fps(self) -> float:
        """Frames a second on average: the file's own word where the frames agree within 1 %."""
        counted = self.frames / self.duration
        declared = self._facts.declared_fps
        if declared and not self.is_variable and math.isclose(declared, counted, rel_tol=0.01):
            return declared
        return counted

    @cached_property
    def is_variable(self) -> bool:
        """Does the time between two frames differ by over a tenth, and by over 2 ms?"""
        steps = sorted(b - a for a, b in itertools.pairwise(self.times))
        if len(steps) < 2:
            return False
        usual = steps[len(steps) // 2]
        return max(usual - steps[0], steps[-1] - usual) > max(0.1 * usual, 0.0021)

    def at(self, times: Iterable[float]) -> Iterator[Frame]:
        """The frame on screen at each time, in seconds: the first one before 0, the last one after
        the end. In the order asked; a step back costs a new pass."""
        return self.take(max(0, bisect.bisect_right(self.times, t + 1e-9) - 1) for t in times)

    def first_at_or_after(self, times: Iterable[float]) -> Iterator[Frame | None]:
        """The first frame that comes on at or after each time, sought with 3 decimals; None when
        there is no such frame. The way of tools that seek by a number in text."""
        wanted = [bisect.bisect_left(self.times, round(t, 3) - 1e-9) for t in times]
        found = self.take(index for index in wanted if index < self.frames)
        for index in wanted:
            yield next(found) if index < self.frames else None

    def take(self, indices: Iterable[int]) -> Iterator[Frame]:
        """The frames of these numbers, in the order asked; IndexError for one that is not there."""
        walk = _Walk(self)
        try:
            for index in indices:
                if not 0 <= index < self.frames:
                    raise IndexError(f"frame {index} of {self.frames}")
                yield walk.to(index)
        finally:
            walk.close()

    def __iter__(self) -> Iterator[Frame]:
        return self.take(range(self.frames))

    def summary(self) -> dict[str, Any]:
        """What to write down of it."""
        return {
            "size": list(self.size),
            "frames": self.frames,
            "fps": round(self.fps, 4),
            "variable_rate": self.is_variable,
            "duration_s": round(self.duration, 4),
        }


class _Walk:
    """Goes forward through a clip's frames, and begins anew for a step back."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip
        self._pass: Pass | None = None
        self._frames: Iterator[Any] = iter(())
        self._at = -1
        self._last: Frame | None = None
        self._converter = make_converter()

    def to(self, index: int) -> Frame:
        if self._last is not None and self._last.index == index:
            return self._last
        if self._pass is None or index <= self._at:
            self._restart()
        raw = None
        while self._at < index:
            raw = next(self._frames)
            self._at += 1
        facts = self._clip._facts
        image = to_image(raw, facts.size, facts.turn, self._converter)
        self._last = Frame(index=index, time=facts.times[index], image=image)
        return self._last

    def _restart(self) -> None:
        self.close()
        self._pass = Pass(self._clip.data, what="video")
        self._frames, self._at = self._pass.frames(), -1

    def close(self) -> None:
        if self._pass is not None:
            self._frames = iter(())
            self._pass.close()
            self._pass = None


def _look_through(data: bytes, *, what: str, limits: Limits) -> Facts:
    """Counts and times every frame; converts none."""
    with Pass(data, what=what) as opened:
        stream = opened.stream
        shape: tuple[tuple[int, int], Turn] | None = None
        starts: list[Fraction] = []
        last_for: Fraction | None = None
        step = 1 / Fraction(stream.average_rate or 25)
        pixels = 0
        for frame in opened.frames():
            if shape is None:
                turn = read_turn(frame)
                size = shown_size(
                    frame.width, frame.height, pixel=stream.sample_aspect_ratio, turn=turn
                )
                check_pixels(*size, what=what)
                shape = size, turn
            start = opened.time_of(frame)
            if start is None:
                start = starts[-1] + step if starts else Fraction(0)
            starts.append(max(start, starts[-1]) if starts else start)
            last_for = _length_of(frame, stream)
            pixels += frame.width * frame.height
            if len(starts) > limits.frames or pixels > limits.pixels:
                raise Undecodable(
                    f"{what}: over {limits.frames} frames or {limits.pixels} pixels in all"
                )
        if shape is None:
            raise Undecodable(f"{what}: no frames: none of them can be decoded")
        broken = opened.damaged or is_cut(data, name_container(data) or "")
        duration = _duration(stream, starts, last_for or _usual(starts) or step, broken=broken)
        declared = float(stream.average_rate) if stream.average_rate else None
        lasts = opened.declared_s or 0.0
    if duration > limits.seconds:
        raise Undecodable(f"{what}: {float(duration):g} s long, the limit is {limits.seconds:g} s")
    return Facts(
        size=shape[0], turn=shape[1], times=tuple(float(t - starts[0]) for t in starts),
        duration=float(duration), declared_fps=declared,
        container_duration=lasts if 0 < lasts <= limits.seconds else float(duration),
        flags=("broken_tail",) if broken else (),
    )  # fmt: skip


def _length_of(frame: Any, stream: Any) -> Fraction | None:
    """Seconds for which the frame says that it is shown; None where it does not."""
    base = frame.time_base or stream.time_base
    return frame.duration * Fraction(base) if frame.duration and base else None


def _usual(starts: list[Fraction]) -> Fraction | None:
    """The median step between frames; None where there is none."""
    steps = sorted(b - a for a, b in itertools.pairwise(starts) if b > a)
    return steps[len(steps) // 2] if steps else None


def _duration(stream: Any, starts: list[Fraction], last_for: Fraction, *, broken: bool) -> Fraction:
    """Seconds of the pictures: what the stream declares, unless its frames contradict it."""
    shown = starts[-1] - starts[0]
    if stream.duration and stream.time_base and not broken:
        declared = Fraction(stream.duration) * Fraction(stream.time_base)
        if declared > shown:
            return declared
    return shown + last_for
