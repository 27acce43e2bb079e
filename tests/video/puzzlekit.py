"""A player that solves puzzles in video, and cheats in each way that there is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import Image
from vgen_eval.types import Scene
from vgen_eval.video import write_mp4
from vgen_eval_plugins.video.puzzles.hanoi import HanoiTruth, Pegs, solution
from vgen_eval_plugins.video.puzzles.hanoi import make_truth as make_tower
from vgen_eval_plugins.video.puzzles.hanoi_drawing import draw_discs, places
from vgen_eval_plugins.video.puzzles.hanoi_tracking import HanoiStacks, HanoiStacksOptions
from vgen_eval_plugins.video.puzzles.hanoi_videos import between
from vgen_eval_plugins.video.puzzles.maze_drawing import draw_maze, make_truth
from vgen_eval_plugins.video.puzzles.maze_tracking import MazeWalk, MazeWalkOptions
from vgen_eval_plugins.video.puzzles.maze_videos import along
from vgen_eval_plugins.video.puzzles.mazes import Cell, MazeTruth, route
from vgen_eval_plugins.video.puzzles.verdict import Verdict

RGB = NDArray[np.uint8]
SIZE = (320, 192)
Spoil = Callable[[int, RGB], RGB]
"""What happens to frame k on its way into the file."""


def maze(style: str = "abstract", *, seed: int = 3) -> MazeTruth:
    return make_truth(4, 7, seed, style=style, size=SIZE)


def tower(style: str = "abstract", *, discs: int = 3, seed: int = 3) -> HanoiTruth:
    return make_tower(discs, seed, style=style, size=SIZE)


def scene_of(picture: RGB) -> Scene:
    return Scene(image=Image(picture), size=picture.shape[:2])


def film(
    frames: Iterable[RGB], *, fps: float = 16, crf: int = 23, spoil: Spoil | None = None
) -> bytes:
    done = (frame if spoil is None else spoil(k, frame) for k, frame in enumerate(frames))
    return write_mp4(done, fps=fps, crf=crf, preset="veryfast")


def at_start(truth: MazeTruth) -> RGB:
    row, column = truth.maze.start
    return draw_maze(truth, (column + 0.5, row + 0.5))


def see_maze(truth: MazeTruth, video: bytes) -> Verdict:
    """What the checker says of the video."""
    prediction = MazeWalk(MazeWalkOptions()).decode(video, scene_of(at_start(truth)))
    verdict = prediction.value.check(truth)
    assert isinstance(verdict, Verdict)
    return verdict


def see_tower(truth: HanoiTruth, video: bytes) -> Verdict:
    """What the checker says of the video."""
    first = draw_discs(truth, places(truth, truth.start))
    prediction = HanoiStacks(HanoiStacksOptions()).decode(video, scene_of(first))
    verdict = prediction.value.check(truth)
    assert isinstance(verdict, Verdict)
    return verdict


def right_way(truth: MazeTruth) -> list[Cell]:
    return route(truth.maze, truth.maze.start, truth.maze.goal)


def walk(cells: list[Cell], count: int, *, still: int = 2) -> list[tuple[float, float]]:
    """`count` points along the cells' middles at an even pace, `still` more at both ends."""
    points = [along(cells, k / (count - 1)) for k in range(count)]
    return [points[0]] * still + points + [points[-1]] * still


def straight(a: Cell, b: Cell, count: int) -> list[tuple[float, float]]:
    """`count` points from one cell's middle to another's, whatever stands between."""
    return [
        (a[1] + 0.5 + (b[1] - a[1]) * k / (count - 1), a[0] + 0.5 + (b[0] - a[0]) * k / (count - 1))
        for k in range(count)
    ]


def roll(truth: MazeTruth, points: Iterable[tuple[float, float] | None]) -> Iterator[RGB]:
    """Frames of the marker at each point; None: out of sight."""
    for point in points:
        yield draw_maze(truth, point)


def play(truth: HanoiTruth, states: list[Pegs], *, each: int, rest: int = 2) -> Iterator[RGB]:
    """Frames of these states, one after another: `each` frames on the way, `rest` at rest."""
    yield from [draw_discs(truth, places(truth, states[0]))] * rest
    for before, after in itertools.pairwise(states):
        for k in range(1, each + 1):
            yield draw_discs(truth, between(truth, before, after, k / each))
        yield from [draw_discs(truth, places(truth, after))] * rest


def states_of(truth: HanoiTruth) -> list[Pegs]:
    return solution(truth.start, truth.goal)


def shaken(seed: int, *, pixels: float) -> Spoil:
    """A camera that is held in a hand."""
    rng = np.random.default_rng(seed)

    def move(_: int, frame: RGB) -> RGB:
        dx, dy = rng.uniform(-pixels, pixels, 2)
        by = np.array([[1, 0, dx], [0, 1, dy]], np.float32)
        size = (frame.shape[1], frame.shape[0])
        return np.asarray(cv2.warpAffine(frame, by, size, borderMode=cv2.BORDER_REPLICATE))

    return move


def scaled(width: int, height: int) -> Spoil:
    """A model with a size of its own."""
    return lambda _, frame: np.asarray(
        cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA)
    )


def graded(gain: float, lift: float) -> Spoil:
    """A model that shifts the tone as it goes."""

    def change(k: int, frame: RGB) -> Any:
        part = min(1.0, k / 30)
        toned = frame * (1 + (gain - 1) * part) + lift * part
        return np.clip(np.rint(toned), 0, 255).astype(np.uint8)

    return change
