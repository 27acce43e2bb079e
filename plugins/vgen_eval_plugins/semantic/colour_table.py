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
    a place in the table (16 MiB; twice that over 254 entries). Cells of 8 x 8 x 8 colours that lie
    wholly with one entry are filled when it is made; those that a border crosses when a picture
    first shows one of their colours, colour by colour with whole numbers, so that no pixel differs
    from the plain loop over the entries.
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
        cells = self._sure_cells().astype(np.uint8 if small else np.uint16)
        self._table = np.empty((CELLS, SIDE) * 3, cells.dtype)
        self._table[:] = cells.reshape(CELLS, 1, CELLS, 1, CELLS, 1)
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

    def _sure_cells(self) -> NDArray[np.int64]:
        """The code of every cell (32768), `unknown` where its colours have several."""
        cells = np.arange(CELLS**3)
        return np.concatenate(
            [self._judge(cells[at : at + CHUNK]) for at in range(0, len(cells), CHUNK)]
        )

    def _judge(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        centre, square, contested = self._contest(cells)
        best = square.argmin(axis=1)
        codes = np.where(contested.sum(axis=1) == 1, best + 1, self._unknown)
        if self._limit is not None:
            farthest = ((np.abs(centre - 2 * self.palette[best]) + SIDE - 1) ** 2).sum(axis=1)
            codes[farthest > 4 * self._limit] = self._unknown
            # no colour of the cell is within reach of any entry
            reach = np.sqrt(square.min(axis=1)) - np.sqrt(3.0) * (SIDE - 1)
            codes[reach > 2 * np.sqrt(self._limit) + 1e-6] = 0
        return codes

    def _contest(self, cells: NDArray[np.int64]) -> tuple[Whole, Whole, NDArray[np.bool_]]:
        """Centres (cells, 3), squared distances to the entries, and which may win in the cell.

        The difference of two squared distances is linear in the colour: over a cell it is at most
        its value at the centre plus, per axis, half an edge times the entries' difference twice.
        An entry may win where it can reach the centre's best so; that one is always among them.
        All in doubled coordinates, in which centres are whole.
        """
        doubled = 2 * self.palette
        spread = np.abs(doubled[:, None] - doubled[None]).sum(axis=2)  # (entries, entries)
        centre = 2 * SIDE * _coordinates(cells) + SIDE - 1
        square = np.zeros((len(cells), len(doubled)), np.int32)
        for axis in range(3):
            gap = centre[:, axis, None] - doubled[None, :, axis]
            square += gap * gap
        bound = square.min(axis=1)[:, None] + 2 * (SIDE - 1) * spread[square.argmin(axis=1)]
        return centre, square, bound >= square  # equal is a tie, whoever comes first

    def _fill(self, cells: NDArray[np.int64]) -> None:
        """Settle all colours of these cells. Threads may do so at once: they write the same."""
        for at in range(0, len(cells), CHUNK // 4):
            some = cells[at : at + CHUNK // 4]
            red, green, blue = _coordinates(some).T
            self._table[red, :, green, :, blue, :] = self._settle(some)

    def _settle(self, cells: NDArray[np.int64]) -> Codes:
        """The codes of all colours of these cells, (cells, 8, 8, 8)."""
        contested = self._contest(cells)[2]
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
        if self._rule == "dot":
            cost = colours.astype(np.float64) @ self.palette.T.astype(np.float64)
        else:
            found, entries = _to_lab(colours), _to_lab(self.palette)
            cost = np.stack([((found - entry) ** 2).sum(axis=1) for entry in entries], axis=1)
        codes = (cost.argmin(axis=1) + 1).astype(np.uint16)
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
