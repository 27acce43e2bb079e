"""Where the columns of a figure stand: what is known before its texts are measured."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["BAR", "DPI", "EDGE", "GAP", "LEFT", "side_of", "stand"]

DPI = 300
"""Pixels an inch, of pictures that are drawn for a cell."""
EDGE, LEFT, BAR = 0.04, 0.16, 0.46
"""Inches: of the rim, of the sample's name, of a bar of colours with its numbers."""
GAP, BLOCK_GAP = 0.04, 0.12


def side_of(width: float, columns: int, blocks: int, bars: int) -> float:
    """Width of a cell, in inches; below 0 where there is no room for any.

    `blocks`: gaps that are wider than the others; `bars`: of colours, right of the cells.
    """
    gaps = GAP * (columns - 1) + (BLOCK_GAP - GAP) * blocks
    return (width - LEFT - 2 * EDGE - BAR * bars - gaps) / columns


def stand(columns: int, blocks: Sequence[int], side: float) -> list[float]:
    """The left edge of each column; `blocks`: columns with a wider gap before them."""
    lefts, left = [], LEFT + EDGE
    for at in range(columns):
        if at:
            left += side + (BLOCK_GAP if at in blocks else GAP)
        lefts.append(left)
    return lefts
