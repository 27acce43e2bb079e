"""A walk through a maze, checked: no wall crossed, no leap, the goal reached.

The tempo is what makes it exact. A marker that keeps to the corridors and goes less than two cells
between two frames never has a wall on the straight line between them, however its way bends, and
one that passes through a wall always has. So a step may be `FASTEST` cells long, and its straight
line may cross no wall. While the marker is out of sight, for `LOST_S` at most, it may have gone a
way as long as it runs in that time by the speed that it shows, and `FURTHER` more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from vgen_eval_plugins.video.puzzles.maze_drawing import to_grid
from vgen_eval_plugins.video.puzzles.maze_walls import (
    cell_of,
    distance_to_walls,
    is_blocked,
    way_length,
)
from vgen_eval_plugins.video.puzzles.mazes import Maze, MazeTruth, route
from vgen_eval_plugins.video.puzzles.verdict import (
    LOST_PART,
    LOST_S,
    MAZE_FAULTS,
    Course,
    Verdict,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

__all__ = ["Walk", "check_walk", "follow_walk"]

FASTEST = 1.5
"""Cells between two frames at most: the prompt asks for one; from two on corners hide walls."""
FURTHER = 0.5
"""Cells that a way out of sight may be longer than the shown speed makes it."""
LEAP = 3.0
"""Cells of the way above which a step that is too long is a leap."""
ON_WALL = 0.16
"""Cells from a wall's middle below which a marker, 0.27 in radius, lies across it."""
AT_GOAL = 0.4
"""Cells by which the marker may lie beside the middle of the goal."""


class Walk(msgspec.Struct, frozen=True, eq=False):
    """Where the marker was seen."""

    times: NDArray[np.float64]
    """(N,) seconds of the frames that were looked at."""
    points: NDArray[np.float64]
    """(N, 2) x, y in pixels of the original picture; NaN where there was not one marker."""
    doubled: NDArray[np.bool_]
    """(N,) frames with more than one."""
    changed_from: int | None
    """The frame from which the scene is another than in the first picture; None: it stays."""

    def check(self, truth: MazeTruth) -> Verdict:
        """What the walk comes to in this maze."""
        return check_walk(self, truth)

    def follow(self, truth: MazeTruth) -> Course:
        """How it comes to that."""
        return follow_walk(self, truth)


def check_walk(walk: Walk, truth: MazeTruth) -> Verdict:
    """Faults, and the part of the right way that was gone before the first of them."""
    return follow_walk(walk, truth).verdict(MAZE_FAULTS)


def follow_walk(walk: Walk, truth: MazeTruth) -> Course:
    """The faults with their frames, and how far along the right way it was when."""
    maze = truth.maze
    seen = np.asarray(np.isfinite(walk.points).all(axis=1))
    count = len(seen)
    until = count if walk.changed_from is None else walk.changed_from
    found = {"scene_changed": until} if until < count else {}
    if walk.doubled.any():
        found["marker_doubled"] = int(np.argmax(walk.doubled))
        until = min(until, found["marker_doubled"])
    lost = _lost_from(seen)
    if lost is not None:
        found["lost_marker"] = lost
    right = route(maze, maze.start, maze.goal)
    best, is_sound = 0, True
    progress = [(0, 0.0)]
    points = to_grid(truth, walk.points[seen])
    for number, point, fault in _steps(maze, points, walk.times, seen):
        if fault:
            found[fault] = min(found.get(fault, number), number)
        is_sound = is_sound and not fault and number < until
        cell = cell_of(maze, point)
        if is_sound and cell in right and right.index(cell) > best:
            best = right.index(cell)
            progress.append((number, best / (len(right) - 1)))
    if not _is_at_goal(maze, points):
        found["goal_not_reached"] = max(0, count - 1)
    return Course(faults=found, progress=tuple(progress))


def _lost_from(seen: NDArray[np.bool_]) -> int | None:
    """The frame from which the marker is missing at the end, or in too many; None: it is not."""
    if not seen.any():
        return 0
    if not seen[-1]:
        return int(np.flatnonzero(seen)[-1]) + 1
    return int(np.argmin(seen)) if (~seen).mean() > LOST_PART else None


def _is_at_goal(maze: Maze, points: Points) -> bool:
    """Does the last sighting lie on the goal?"""
    middle = np.array([maze.goal[1] + 0.5, maze.goal[0] + 0.5])
    return len(points) > 0 and float(np.abs(points[-1] - middle).max()) <= AT_GOAL


def _steps(
    maze: Maze, points: Points, times: NDArray[np.float64], seen: NDArray[np.bool_]
) -> Iterator[tuple[int, Points, str | None]]:
    """Number and place of each sighting, and what is wrong with the step to it."""
    speed = _shown_speed(points, times, seen)
    before = np.array([maze.start[1] + 0.5, maze.start[0] + 0.5])
    last = -1
    for number, point in zip(np.flatnonzero(seen), points, strict=True):
        if number - last == 1:
            fault = _name_step(maze, before, point)
        elif times[number] - times[last + 1] > LOST_S:
            fault = "lost_marker"  # and what it did meanwhile is not known
        else:
            reach = speed * float(times[number] - times[max(last, 0)]) + FURTHER
            fault = _name_gap(maze, before, point, reach)
        if fault is None and distance_to_walls(maze, point) < ON_WALL:
            fault = "wall_crossed"
        yield int(number), point, fault
        before, last = point, int(number)


def _name_step(maze: Maze, a: Points, b: Points) -> str | None:
    """What is wrong with a step from one frame to the next."""
    if float(np.hypot(*(b - a))) > FASTEST:
        return _name_long(maze, a, b)
    return "wall_crossed" if is_blocked(maze, a, b) else None


def _name_gap(maze: Maze, a: Points, b: Points, reach: float) -> str | None:
    """What is wrong with a way that was not seen and had time for `reach` cells."""
    if way_length(maze, a, b) <= reach:
        return None
    return _name_long(maze, a, b) if float(np.hypot(*(b - a))) > reach else "wall_crossed"


def _name_long(maze: Maze, a: Points, b: Points) -> str:
    return "jumped" if way_length(maze, a, b) > LEAP else "too_fast"


def _shown_speed(points: Points, times: NDArray[np.float64], seen: NDArray[np.bool_]) -> float:
    """Cells a second while it moves: the median over frames in a row that show it; else 0."""
    numbers = np.flatnonzero(seen)
    if len(numbers) < 2:
        return 0.0
    steps, spans = np.hypot(*np.diff(points, axis=0).T), np.diff(times[numbers])
    moving = (np.diff(numbers) == 1) & (steps > 0.05) & (spans > 0) & (steps <= FASTEST)
    return float(np.median(steps[moving] / spans[moving])) if moving.any() else 0.0
