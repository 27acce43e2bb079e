"""The video of a maze that is solved: the marker runs along the right way, nothing else moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from vgen_eval.types import Scene

from vgen_eval_plugins.video.puzzles.maze_drawing import draw_maze
from vgen_eval_plugins.video.puzzles.mazes import Cell, MazeTruth, route
from vgen_eval_plugins.video.puzzles.timing import VideoOptions, at_times, encode

__all__ = ["MazeVideo", "along"]

_EACH = 1.25
"""Frames of each cell of the way, at least."""


def along(cells: Sequence[Cell], part: float) -> tuple[float, float]:
    """(x, y) in cells after this part, 0 to 1, of the way through the cells' middles."""
    place = min(max(part, 0.0), 1.0) * (len(cells) - 1)
    at = min(int(place), len(cells) - 2) if len(cells) > 1 else 0
    rest = place - at
    a, b = cells[at], cells[min(at + 1, len(cells) - 1)]
    return a[1] + (b[1] - a[1]) * rest + 0.5, a[0] + (b[0] - a[0]) * rest + 0.5


class MazeVideo:
    """Maze -> an H.264 video in which the marker goes to the goal at an even pace."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "puzzle"
    Options: ClassVar[type[msgspec.Struct]] = VideoOptions

    def __init__(self, options: VideoOptions) -> None:
        self.options = options

    def encode(self, target: MazeTruth, scene: Scene) -> bytes:
        """An MP4 file at the size the model saw, made even."""
        cells = route(target.maze, target.maze.start, target.maze.goal)
        times = at_times(self.options, still=0.1, least=_EACH * (len(cells) - 1) + 1)
        frames = (draw_maze(target, along(cells, part)) for part in times)
        return encode(frames, scene, self.options)
