"""What a judge of videos was shown and said, read off its transcript: frames, comments, reasons."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.errors import Undecodable, Unreadable
from vgen_eval.video import Clip

from vgen_eval_plugins.parsing.objects import read_object
from vgen_eval_plugins.video.vgi.replies import Comment, Reading, read_window
from vgen_eval_plugins.video.vgi.verdicts import tell_comment

__all__ = ["Window", "comments_of", "read_reasons", "window_of"]

_LINE = re.compile(r"t = (\d+\.\d{3}) s, frame (\d+)")
"""As `film.Seen.line` writes it before each frame."""
_DECIMALS = 0.0005
"""Seconds by which a time with three decimals may be off."""
READINGS: tuple[Reading, ...] = ("strict", "plain")


class Window(msgspec.Struct, frozen=True):
    """The frames that one question showed."""

    name: str
    told: Mapping[int, float]
    """Frame number as the judge was told it -> the time it was told."""
    times: Mapping[int, float]
    """Frame number -> seconds at which that frame comes on in the clip."""
    shown: tuple[float, ...]
    """Of all frames, in their order; of reckoned numbers two frames may have one."""

    @property
    def start(self) -> float:
        """Of its first frame."""
        return min(self.times.values())

    @property
    def end(self) -> float:
        """Of its last frame."""
        return max(self.times.values())

    def when(self, comment: Comment) -> float:
        """Of the first frame that a comment names; of the window's first where it names none."""
        return min((self.times[frame] for frame in comment.frames), default=self.start)


def window_of(line: Mapping[str, Any], clip: Clip) -> Window | None:
    """The window of a line of the transcript; None of a question that showed no frames."""
    frames = list(_frames(line.get("asked") or ()))
    if not frames:
        return None
    told = dict(reversed(frames))  # of two with one number the first counts
    shown = [_comes_on(clip, label, time) for label, time in frames]
    numbers = (label for label, _ in reversed(frames))
    times = dict(zip(numbers, reversed(shown), strict=True))
    name = str(line.get("question", "")).partition("?")[0]
    return Window(name, told, times, tuple(shown))


def _frames(asked: Sequence[Any]) -> Iterator[tuple[int, float]]:
    """(number, time) of each line that stands right before a picture."""
    for words, picture in itertools.pairwise(asked):
        match = _LINE.fullmatch(words) if isinstance(words, str) else None
        if match is not None and isinstance(picture, Mapping):
            yield int(match[2]), float(match[1])


def _comes_on(clip: Clip, label: int, told: float) -> float:
    """When the frame comes on that was shown under this number and time.

    A number and a time of the clip's own name one frame. Reckoned ones are of the first frame from
    that time on, as the original's judge seeks it.
    """
    if label < clip.frames and abs(clip.times[label] - told) <= _DECIMALS + 1e-9:
        return clip.times[label]
    return clip.times[min(bisect.bisect_left(clip.times, told - 1e-9), clip.frames - 1)]


def comments_of(
    line: Mapping[str, Any], window: Window, summary: Mapping[str, Any]
) -> tuple[Comment, ...] | None:
    """The comments that counted; None where the reply is none that the judge could read.

    Of the two ways to read a reply the one whose comments the summary has; without a summary the
    strict one, where it goes.
    """
    reply = line.get("reply")
    windows = summary.get("windows")
    if not isinstance(reply, str) or (windows is not None and window.name not in windows):
        return None  # what failed is no comment
    expected = None
    if windows is not None:
        head = f"{window.name}: "
        expected = [told for told in summary.get("comments", ()) if told.startswith(head)]
    for reading in READINGS:
        try:
            found = read_window(reply, list(window.told), reading).comments
        except Unreadable:
            continue
        told = [tell_comment(window.name, comment) for comment in found]
        is_whole = len(told) == len(expected or told) or "comments_left_out" in summary
        if expected is None or (is_whole and told[: len(expected)] == expected):
            return found
    return None


def read_reasons(reply: Any, key: str) -> dict[Any, tuple[Any, str]]:
    """Reasons that a reply gives: of its items entry -> (value of `key`, reason); of itself None.

    {} where it is no JSON object: what counts stands in the score line.
    """
    if not isinstance(reply, str):
        return {}
    found: dict[str, Any] = {}
    for is_plain in (False, True):
        try:
            found = read_object(reply, is_plain=is_plain)
            break
        except (Undecodable, RecursionError):
            continue
    items = found.get("items")
    entries = items if isinstance(items, list) else [{**found, "index": None}]
    return {
        entry["index"]: (entry.get(key), entry["reason"])
        for entry in entries
        if isinstance(entry, dict)
        and isinstance(entry.get("reason"), str)
        and (entry.get("index") is None or isinstance(entry.get("index"), int))
        and "index" in entry
    }
