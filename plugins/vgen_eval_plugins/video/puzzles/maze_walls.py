"""The walls of a maze as lines: what a straight step crosses, and how far it is around."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from vgen_eval_plugins.video.puzzles.mazes import Cell, Maze, route

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

__all__ = ["cell_of", "distance_to_walls", "is_blocked", "way_length"]

TIP = 0.08
"""Cells from a wall's free end within which a line passes it: tracking is not exact."""
_EXACT = 1e-9


def cell_of(maze: Maze, point: Points) -> Cell | None:
    """The cell of x, y in cells; None outside of the maze."""
    cell = (math.floor(point[1]), math.floor(point[0]))
    return cell if maze.holds(cell) else None


def is_blocked(maze: Maze, a: Points, b: Points) -> bool:
    """Does the straight line from a to b, x, y in cells, cross a wall?"""
    start, end = _lines(maze)
    along, step = end - start, b - a
    turn = _cross(along, step)
    # a line along a wall crosses none: that is for `distance_to_walls` to say
    safe = np.where(np.abs(turn) < _EXACT, 1.0, turn)
    on_wall = _cross(a - start, np.broadcast_to(step, along.shape)) / safe
    on_step = _cross(a - start, along) / safe
    hits = (np.abs(turn) >= _EXACT) & (on_step >= 0) & (on_step <= 1)
    return bool((hits & (on_wall >= -_EXACT) & (on_wall <= 1 + _EXACT)).any())


def distance_to_walls(maze: Maze, point: Points) -> float:
    """Cells from the point to the middle of the nearest wall."""
    start, end = _lines(maze)
    along = end - start
    part = ((point - start) * along).sum(axis=1) / (along**2).sum(axis=1)
    near = start + along * np.clip(part, 0, 1)[:, None]
    return float(np.hypot(*(point - near).T).min())


def way_length(maze: Maze, a: Points, b: Points) -> float:
    """Cells from a to b: straight where no wall stands between, else by the cells' middles.

    Infinite from or to a point outside.
    """
    first, last = cell_of(maze, a), cell_of(maze, b)
    if first is None or last is None:
        return math.inf
    if not is_blocked(maze, a, b):
        return float(np.hypot(*(b - a)))
    middles = [np.array([c + 0.5, r + 0.5]) for r, c in route(maze, first, last)[1:-1]]
    points = np.array([a, *middles, b])
    return float(np.hypot(*np.diff(points, axis=0).T).sum())


def _cross(a: Points, b: Points) -> Points:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


@lru_cache(maxsize=64)
def _lines(maze: Maze) -> tuple[Points, Points]:
    """(walls, 2) x, y of both ends of each wall, one cell long, shorter by `TIP` at a free end."""
    walls = []
    for row in range(maze.rows + 1):
        for column in range(maze.columns + 1):
            above, here, left = (row - 1, column), (row, column), (row, column - 1)
            if column < maze.columns and not maze.is_open(above, here):
                walls.append(((column, row), (column + 1, row)))
            if row < maze.rows and not maze.is_open(left, here):
                walls.append(((column, row), (column, row + 1)))
    ends = [end for wall in walls for end in wall]
    made = np.array(walls, np.float64)
    for wall, line in zip(walls, made, strict=True):
        inwards = (line[1] - line[0]) * TIP
        for k, sign in ((0, 1), (1, -1)):
            if ends.count(wall[k]) == 1:
                line[k] += sign * inwards
    return made[:, 0], made[:, 1]
