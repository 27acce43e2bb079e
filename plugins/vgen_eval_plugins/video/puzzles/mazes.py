"""Mazes with one way between any two cells, made from a seed, and their truth in a picture."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache

import msgspec

__all__ = ["Cell", "Maze", "MazeTruth", "make_maze", "route"]

Cell = tuple[int, int]
"""(row, column)."""


class Maze(msgspec.Struct, frozen=True):
    """A grid of cells; `ways` are the pairs of neighbours with no wall between them."""

    rows: int
    columns: int
    ways: frozenset[tuple[Cell, Cell]]
    """Each pair once, the upper or left cell first."""
    start: Cell
    goal: Cell

    def is_open(self, a: Cell, b: Cell) -> bool:
        """Can one step from one to the other?"""
        return (min(a, b), max(a, b)) in self.ways

    def around(self, cell: Cell) -> Iterator[Cell]:
        """The neighbours that can be stepped to."""
        row, column = cell
        for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if self.is_open(cell, near):
                yield near

    def holds(self, cell: Cell) -> bool:
        """Is it one of its cells?"""
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns


class MazeTruth(msgspec.Struct, frozen=True, kw_only=True):
    """A maze and how it lies in the picture: enough to draw it, and to check a walk."""

    maze: Maze
    view: tuple[float, ...]
    """3x3, row by row: (x, y) in cells from the upper left corner -> pixels of the picture."""
    size: tuple[int, int]
    """(width, height) of the picture."""
    style: str
    seed: int


def make_maze(rows: int, columns: int, seed: int) -> Maze:
    """A maze of rows x columns cells by a random walk that backs up where it is stuck.

    Start and goal are the ends of its longest way, the start the upper one.
    """
    rng = random.Random(f"maze {rows} {columns} {seed}")
    here = (rng.randrange(rows), rng.randrange(columns))
    seen, stack = {here}, [here]
    ways: set[tuple[Cell, Cell]] = set()
    while stack:
        row, column = stack[-1]
        near = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        free = [
            (r, c) for r, c in near if 0 <= r < rows and 0 <= c < columns and (r, c) not in seen
        ]
        if not free:
            stack.pop()
            continue
        chosen = rng.choice(free)
        ways.add((min(stack[-1], chosen), max(stack[-1], chosen)))
        seen.add(chosen)
        stack.append(chosen)
    maze = Maze(rows, columns, frozenset(ways), here, here)
    start = _farthest(maze, here)
    goal = _farthest(maze, start)
    first, last = min(start, goal), max(start, goal)
    return msgspec.structs.replace(maze, start=first, goal=last)


def _farthest(maze: Maze, cell: Cell) -> Cell:
    found = _steps_from(maze, cell)
    return max(found, key=lambda c: (found[c][0], c))


@lru_cache(maxsize=4096)
def _steps_from(maze: Maze, cell: Cell) -> dict[Cell, tuple[int, Cell]]:
    """Every cell -> (steps to it, the cell before it)."""
    found = {cell: (0, cell)}
    edge = [cell]
    while edge:
        edge = [
            near
            for here in edge
            for near in maze.around(here)
            if found.setdefault(near, (found[here][0] + 1, here)) == (found[here][0] + 1, here)
        ]
    return found


def route(maze: Maze, a: Cell, b: Cell) -> list[Cell]:
    """The cells of the one way from a to b, both included."""
    found = _steps_from(maze, a)
    cells = [b]
    while cells[-1] != a:
        cells.append(found[cells[-1]][1])
    return cells[::-1]
