"""Pictures of a maze: black on white, or a board of wood and stone, lit from one side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vgen_eval_plugins.video.puzzles.mazes import Cell, Maze, MazeTruth, make_maze
from vgen_eval_plugins.video.puzzles.seeing import PAINTS
from vgen_eval_plugins.video.puzzles.textures import (
    clouds,
    develop,
    draw_ball,
    grain_of_wood,
    lay,
    shadow_of,
    to_part,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Plane = NDArray[np.float32]
    Points = NDArray[np.float64]

__all__ = ["MARKER", "draw_maze", "make_truth", "to_grid", "to_picture"]

MARKER = "red"
RADIUS = 0.27
"""Of the ball, in cells."""
WALL = 0.15
"""Thickness of a wall, in cells."""
_BORDER = 0.32
"""Of the board beyond its cells, in cells."""
_FINE = 2
"""Drawn so many times as large, then averaged."""


def make_truth(
    rows: int, columns: int, seed: int, *, style: str, size: tuple[int, int]
) -> MazeTruth:
    """The maze of that seed as it lies in a picture of that (width, height).

    The same maze in either style; `real` sees it from a little aside, like a hand-held camera.
    """
    width, height = size
    span = np.array([columns + 2 * _BORDER, rows + 2 * _BORDER])
    cell = min(width / (span[0] + 0.4), height / (span[1] + 0.4))
    half = np.array([columns, rows]) * cell / 2
    centre = np.array([width, height]) / 2 - 0.5
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    if style == "real":
        rng = np.random.default_rng([seed, rows, columns, 7])
        angle = np.deg2rad(rng.uniform(-2.5, 2.5))
        corners *= 0.94
        corners[:2, 0] *= 0.92
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        corners = corners @ turn.T
    grid = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], np.float32)
    view = cv2.getPerspectiveTransform(grid, (corners + centre).astype(np.float32))
    return MazeTruth(
        maze=make_maze(rows, columns, seed), view=tuple(float(n) for n in view.reshape(-1)),
        size=size, style=style, seed=seed,
    )  # fmt: skip


def to_picture(truth: MazeTruth, points: Points) -> Points:
    """(N, 2) x, y in cells -> pixels of the picture."""
    return _project(np.array(truth.view).reshape(3, 3), points)


def to_grid(truth: MazeTruth, points: Points) -> Points:
    """(N, 2) x, y in pixels of the picture -> cells: cell (r, c) is c to c + 1, r to r + 1."""
    return _project(np.linalg.inv(np.array(truth.view).reshape(3, 3)), points)


def _project(view: Points, points: Points) -> Points:
    full = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ view.T
    return np.asarray(full[:, :2] / full[:, 2:])


def draw_maze(truth: MazeTruth, at: tuple[float, float] | None) -> RGB:
    """uint8 (H, W, 3): the maze with the ball at (x, y) in cells; None: without the ball."""
    board = _board(truth)
    if at is None:
        return np.array(board)
    near = np.array([[at[0], at[1]], [at[0] + 1, at[1]], [at[0], at[1] + 1]])
    here, right, down = to_picture(truth, near)
    cell = (np.hypot(*(right - here)) + np.hypot(*(down - here))) / 2
    return draw_ball(
        board, (float(here[0]), float(here[1])), RADIUS * float(cell), PAINTS[MARKER],
        shaded=truth.style == "real",
    )  # fmt: skip


@lru_cache(maxsize=16)
def _board(truth: MazeTruth) -> RGB:
    board = _draw_real(truth) if truth.style == "real" else _draw_abstract(truth)
    board.flags.writeable = False
    return board


def _walls(maze: Maze) -> Iterator[tuple[Cell, Cell]]:
    """Ends of every wall, (x, y) in cells."""
    rows, columns = maze.rows, maze.columns
    yield from [((0, 0), (columns, 0)), ((0, rows), (columns, rows)),
                ((0, 0), (0, rows)), ((columns, 0), (columns, rows))]  # fmt: skip
    for row in range(rows):
        for column in range(columns):
            if column + 1 < columns and not maze.is_open((row, column), (row, column + 1)):
                yield (column + 1, row), (column + 1, row + 1)
            if row + 1 < rows and not maze.is_open((row, column), (row + 1, column)):
                yield (column, row + 1), (column + 1, row + 1)


class _Sheet:
    """Masks of the board's parts, seen from above, and the way into the picture."""

    def __init__(self, truth: MazeTruth) -> None:
        maze, (width, height) = truth.maze, truth.size
        corners = to_picture(truth, np.array([[0.0, 0.0], [1.0, 0.0]]))
        self.unit = float(np.hypot(*(corners[1] - corners[0]))) * _FINE
        self.edge = int(np.ceil(_BORDER * self.unit))
        self.width = round(maze.columns * self.unit) + 2 * self.edge
        self.height = round(maze.rows * self.unit) + 2 * self.edge
        self._fine = (width * _FINE, height * _FINE)
        self._size = truth.size
        onto = np.array([[1 / self.unit, 0, (0.5 - self.edge) / self.unit],
                         [0, 1 / self.unit, (0.5 - self.edge) / self.unit], [0, 0, 1]])  # fmt: skip
        larger = np.array([[_FINE, 0, (_FINE - 1) / 2], [0, _FINE, (_FINE - 1) / 2], [0, 0, 1]])
        self._way = larger @ np.array(truth.view).reshape(3, 3) @ onto
        self.walls = self._draw_walls(maze)
        self.goal = self._draw_goal(maze)

    def place(self, x: float, y: float) -> tuple[int, int]:
        """Pixel of the sheet of a point in cells."""
        return round(x * self.unit) + self.edge, round(y * self.unit) + self.edge

    def _draw_walls(self, maze: Maze) -> Plane:
        mask = np.zeros((self.height, self.width), np.uint8)
        thick = max(2, round(WALL * self.unit))
        for a, b in _walls(maze):
            cv2.line(mask, self.place(*a), self.place(*b), 255, thick, cv2.LINE_AA)
        return to_part(mask)

    def _draw_goal(self, maze: Maze) -> Plane:
        mask = np.zeros((self.height, self.width), np.uint8)
        row, column = maze.goal
        low, high = self.place(column + 0.19, row + 0.19), self.place(column + 0.81, row + 0.81)
        cv2.rectangle(mask, low, high, 255, -1)
        return to_part(mask)

    def warp(self, sheet: Plane) -> Plane:
        """A plane of the sheet as the picture shows it, finely; 0 around."""
        return np.asarray(
            cv2.warpPerspective(sheet, self._way, self._fine, flags=cv2.INTER_LINEAR), np.float32
        )

    def average(self, fine: Plane) -> Plane:
        """At the picture's own size."""
        return np.asarray(cv2.resize(fine, self._size, interpolation=cv2.INTER_AREA), np.float32)


def _draw_abstract(truth: MazeTruth) -> RGB:
    sheet = _Sheet(truth)
    flat = np.full((sheet.height, sheet.width, 3), 255, np.float32)
    flat = lay(flat, PAINTS["green"], sheet.goal)
    flat = lay(flat, (24, 26, 32), sheet.walls)
    whole = sheet.warp(np.ones((sheet.height, sheet.width), np.float32))
    ground = np.full((*whole.shape, 3), 255, np.float32)
    laid = ground * (1 - whole[..., None]) + sheet.warp(flat)
    return np.clip(np.rint(sheet.average(laid)), 0, 255).astype(np.uint8)


def _draw_real(truth: MazeTruth) -> RGB:
    rng = np.random.default_rng([truth.seed, truth.maze.rows, truth.maze.columns, 11])
    sheet = _Sheet(truth)
    board = _real_board(sheet, rng)
    whole = sheet.warp(np.ones((sheet.height, sheet.width), np.float32))
    height, width = whole.shape
    weave = clouds(rng, height, width, size=sheet.unit * 1.5)
    threads = rng.standard_normal((height, width)).astype(np.float32)
    tone = 1 + 0.16 * weave + 0.05 * threads
    table = np.array([52, 66, 78], np.float32) * tone[..., None]
    lift = 0.10 * sheet.unit
    dark = shadow_of(whole, shift=(lift * 1.4, lift * 1.8), blur=lift * 1.3)
    table *= 1 - 0.62 * dark[..., None]
    laid = table * (1 - whole[..., None]) + sheet.warp(board)
    rows, columns = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j].astype(np.float32)
    laid = laid * (1.10 - 0.12 * columns - 0.12 * rows)[..., None]
    return develop(sheet.average(np.asarray(laid, np.float32)), rng)


def _real_board(sheet: _Sheet, rng: np.random.Generator) -> Plane:
    """The board from above: pale stone, walls of beech with a lit and a dark edge, a green felt."""
    height, width, unit = sheet.height, sheet.width, sheet.unit
    stone = 1 + 0.09 * clouds(rng, height, width, size=unit)
    stone += 0.035 * rng.standard_normal((height, width))
    board = np.array([172, 176, 178], np.float32) * stone[..., None].astype(np.float32)
    felt = 1 + 0.10 * rng.standard_normal((height, width))
    green = np.array([52, 142, 74], np.float32) * felt[..., None].astype(np.float32)
    board = lay(board, green, np.asarray(cv2.GaussianBlur(sheet.goal, (0, 0), 0.8), np.float32))
    far = 0.11 * unit
    dark = np.maximum(
        shadow_of(sheet.walls, shift=(far, far * 1.2), blur=far * 0.45),
        0.7 * shadow_of(sheet.walls, shift=(far * 0.4, far * 0.5), blur=far * 0.3),
    )
    board = board * (1 - 0.55 * dark[..., None])
    wood = 1 + 0.13 * grain_of_wood(rng, height, width, size=unit * 0.8)
    beech = np.array([222, 200, 168], np.float32) * wood[..., None]
    soft = np.asarray(cv2.GaussianBlur(sheet.walls, (0, 0), 0.035 * unit + 0.4), np.float32)
    slope = np.gradient(soft)
    edge = np.clip((slope[0] + slope[1]) * unit * 0.09, -1, 1)
    beech = beech * (1 + 0.34 * edge[..., None])
    return lay(board, np.asarray(np.clip(beech, 0, 255), np.float32), sheet.walls)
