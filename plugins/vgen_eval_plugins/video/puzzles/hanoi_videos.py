"""The video of a tower that is moved: up, across and down, one disc at a time."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from vgen_eval.types import Scene

from vgen_eval_plugins.video.puzzles.hanoi import HanoiTruth, Pegs, solution
from vgen_eval_plugins.video.puzzles.hanoi_drawing import draw_discs, places
from vgen_eval_plugins.video.puzzles.timing import VideoOptions, at_times, encode

__all__ = ["HanoiVideo", "between", "carry"]

Point = tuple[float, float]
_EACH = 3
"""Frames of each move, at least."""


def carry(a: Point, b: Point, part: float, *, above: float) -> Point:
    """Where a disc is after this part, 0 to 1, of its way: up to y = `above`, across, down."""
    legs = (a[1] - above, abs(b[0] - a[0]), b[1] - above)
    gone = min(max(part, 0.0), 1.0) * sum(legs)
    if gone <= legs[0]:
        return a[0], a[1] - gone
    if gone <= legs[0] + legs[1]:
        across = (gone - legs[0]) / legs[1] if legs[1] else 0.0
        return a[0] + (b[0] - a[0]) * across, above
    return b[0], above + gone - legs[0] - legs[1]


def between(truth: HanoiTruth, before: Pegs, after: Pegs, part: float) -> dict[int, Point]:
    """Where each disc is between two states; whatever differs moves, the rest stays."""
    a, b = places(truth, before), places(truth, after)
    above = truth.top - 0.75 * truth.thickness
    return {
        disc: place if place == b[disc] else carry(place, b[disc], part, above=above)
        for disc, place in a.items()
    }


class HanoiVideo:
    """Tower -> an H.264 video of a shortest solution."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "puzzle"
    Options: ClassVar[type[msgspec.Struct]] = VideoOptions

    def __init__(self, options: VideoOptions) -> None:
        self.options = options

    def encode(self, target: HanoiTruth, scene: Scene) -> bytes:
        """An MP4 file at the size the model saw, made even."""
        states = solution(target.start, target.goal)
        moves = len(states) - 1
        frames = []
        for part in at_times(self.options, still=0.06, least=_EACH * moves + 1):
            at = min(int(part * moves), moves - 1)
            now = between(target, states[at], states[at + 1], part * moves - at)
            frames.append(draw_discs(target, now))
        return encode(frames, scene, self.options)
