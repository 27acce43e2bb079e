"""The nearest palette entry of any 8-bit colour: exact, and one look-up a pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.colours import pack

__all__ = ["ColourTable", "RuledTable"]

Codes = NDArray[Any]
Whole = NDArray[np.int32]

SIDE = 8
"""Levels along an edge of a cell: 32 x 32 x 32 cells fill the cube of colours."""

CELLS = 256 // SIDE
CHUNK = 2048


class ColourTable:
    """Nearest of `palette` by Euclidean distance in RGB; ties go to the earlier entry.

    Codes: entry + 1, or 0 where the nearest is farther than `max_distance`. All 2^24 colours have
    a place in the table (16 MiB; twice that over 254 entries), in cells of 8 x 8 x 8. A cell is
    filled when a picture first shows one of its colours, so that a table for a single picture costs
    little: at once where it lies wholly with one entry, colour by colour with whole numbers where
    a border crosses it. No pixel differs from the plain loop over the entries.
    """

    def __init__(
        self, palette: Sequence[tuple[int, int, int]], *, max_distance: float | None = None
    ) -> None:
        """`palette`: R, G, B of each entry, at least one."""
        self.palette = np.array(palette, np.int32).reshape(-1, 3)
        self._entries = np.vstack([[[np.inf] * 3], self.palette]).astype(np.float32)
        small = len(palette) < 255
        self._unknown = 255 if small else 65535
        self._limit = None if max_distance is None else max_distance**2
        doubled = 2 * self.palette
        self._spread = np.abs(doubled[:, None] - doubled[None]).sum(axis=2)  # (entries, entries)
        kind: type[np.uint8 | np.uint16] = np.uint8 if small else np.uint16
        self._table = np.full((CELLS, SIDE) * 3, self._unknown, kind)
        self._flat = self._table.reshape(-1)

    def look_up(self, picture: NDArray[np.uint8]) -> Codes:
        """Codes (H, W), uint8 or uint16, of uint8 (H, W, 3)."""
        colours = pack(picture)
        codes = self._flat.take(colours)
        if codes.max(initial=0) == self._unknown:
            lost = colours[codes == self._unknown]
            self._fill(_cells_of(lost))
            codes[codes == self._unknown] = self._flat.take(lost)
        return codes

    def distance(self, picture: NDArray[np.uint8], codes: Codes) -> NDArray[np.float32]:
        """Distance in RGB, (H, W), of each pixel to its code's entry; infinite for code 0."""
        gap = picture - self._entries.take(codes, axis=0)
        return np.asarray(np.sqrt(np.einsum("hwc,hwc->hw", gap, gap)))

    def _judge(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The code of every cell, `unknown` where its colours have several; and what may win."""
        centre, square, contested = self._contest(cells)
        best = square.argmin(axis=1)
        codes = np.where(contested.sum(axis=1) == 1, best + 1, self._unknown)
        if self._limit is not None:
            farthest = ((np.abs(centre - 2 * self.palette[best]) + SIDE - 1) ** 2).sum(axis=1)
            codes[farthest > 4 * self._limit] = self._unknown
            # no colour of the cell is within reach of any entry
            reach = np.sqrt(square.min(axis=1)) - np.sqrt(3.0) * (SIDE - 1)
            codes[reach > 2 * np.sqrt(self._limit) + 1e-6] = 0
        return codes, contested

    def _contest(self, cells: NDArray[np.int64]) -> tuple[Whole, Whole, NDArray[np.bool_]]:
        """Centres (cells, 3), squared distances to the entries, and which may win in the cell.

        The difference of two squared distances is linear in the colour: over a cell it is at most
        its value at the centre plus, per axis, half an edge times the entries' difference twice.
        An entry may win where it can reach the centre's best so; that one is always among them.
        All in doubled coordinates, in which centres are whole.
        """
        doubled = 2 * self.palette
        centre = 2 * SIDE * _coordinates(cells) + SIDE - 1
        square = np.zeros((len(cells), len(doubled)), np.int32)
        for axis in range(3):
            gap = centre[:, axis, None] - doubled[None, :, axis]
            square += gap * gap
        bound = square.min(axis=1)[:, None] + 2 * (SIDE - 1) * self._spread[square.argmin(axis=1)]
        return centre, square, bound >= square  # equal is a tie, whoever comes first

    def _fill(self, cells: NDArray[np.int64]) -> None:
        """Settle all colours of these cells. Threads may do so at once: they write the same."""
        for at in range(0, len(cells), CHUNK):
            some = cells[at : at + CHUNK]
            codes, contested = self._judge(some)
            sure = codes != self._unknown
            self._write(some[sure], codes[sure][:, None, None, None])
            crossed = np.flatnonzero(~sure)
            for start in range(0, len(crossed), CHUNK // 4):
                rows = crossed[start : start + CHUNK // 4]
                self._write(some[rows], self._settle(some[rows], contested[rows]))

    def _write(self, cells: NDArray[np.int64], codes: Codes) -> None:
        red, green, blue = _coordinates(cells).T
        self._table[red, :, green, :, blue, :] = codes

    def _settle(self, cells: NDArray[np.int64], contested: NDArray[np.bool_]) -> Codes:
        """The codes of all colours of these cells, (cells, 8, 8, 8)."""
        levels = SIDE * _coordinates(cells)[:, :, None] + np.arange(SIDE, dtype=np.int32)
        least = np.full((len(cells), SIDE, SIDE, SIDE), np.iinfo(np.int32).max, np.int32)
        codes = np.zeros(least.shape, self._table.dtype)
        for number in np.flatnonzero(contested.any(axis=0)):
            rows = np.flatnonzero(contested[:, number])
            red, green, blue = ((levels[rows] - self.palette[number][:, None]) ** 2).swapaxes(0, 1)
            square = red[:, :, None, None] + green[:, None, :, None] + blue[:, None, None, :]
            closer = square < least[rows]  # strictly: the earlier entry keeps a tie
            codes[rows] = np.where(closer, codes.dtype.type(number + 1), codes[rows])
            least[rows] = np.where(closer, square, least[rows])
        if self._limit is not None:
            codes[least > self._limit] = 0
        return codes


class RuledTable:
    """Entries by another rule than Euclidean distance, colour by colour; ties to the earlier.

    `dot`: the least dot product with the entry (PixelArena, arXiv 2512.16303, equation 1 as it is
    printed); `lab`: the nearest in CIELAB (D65).
    """

    def __init__(self, palette: Sequence[tuple[int, int, int]], rule: str) -> None:
        """`palette`: R, G, B of each entry, at least one."""
        self.palette = np.array(palette, np.uint8).reshape(-1, 3)
        self._rule = rule

    def look_up(self, picture: NDArray[np.uint8]) -> Codes:
        """Codes (H, W), uint16: entry + 1."""
        present, index = np.unique(pack(picture), return_inverse=True)
        colours = np.stack([present >> 16, present >> 8 & 255, present & 255], axis=1)
        is_dot = self._rule == "dot"
        found = colours.astype(np.float64) if is_dot else _to_lab(colours)
        entries = self.palette.astype(np.float64) if is_dot else _to_lab(self.palette)
        least = np.full(len(found), np.inf)
        codes = np.zeros(len(found), np.uint16)
        for number, entry in enumerate(entries, 1):  # one at a time: a photo has a million colours
            cost = found @ entry if is_dot else ((found - entry) ** 2).sum(axis=1)
            closer = cost < least
            codes[closer] = number
            least[closer] = cost[closer]
        return np.asarray(codes[index.reshape(picture.shape[:2])])

    def distance(self, picture: NDArray[np.uint8], codes: Codes) -> NDArray[np.float32]:
        """Distance in RGB, (H, W), of each pixel to its code's entry."""
        gap = picture.astype(np.float32) - self.palette[codes.astype(np.int64) - 1]
        return np.asarray(np.linalg.norm(gap, axis=2), np.float32)


def _to_lab(colours: NDArray[Any]) -> NDArray[np.float64]:
    import skimage.color

    return np.asarray(skimage.color.rgb2lab(colours[None].astype(np.uint8))[0], np.float64)


def _coordinates(cells: NDArray[np.int64]) -> NDArray[np.int32]:
    """(n, 3): red, green and blue of the cells, in cells."""
    return np.stack(np.unravel_index(cells, (CELLS,) * 3), axis=-1).astype(np.int32)


def _cells_of(colours: NDArray[np.int32]) -> NDArray[np.int64]:
    """The cells that hold these colours, each once."""
    step = CELLS * np.int32(CELLS)
    cells = (colours >> 19) * step + ((colours >> 11) & 31) * CELLS + ((colours >> 3) & 31)
    seen = np.zeros(CELLS**3, bool)
    seen[cells] = True
    return np.flatnonzero(seen)
