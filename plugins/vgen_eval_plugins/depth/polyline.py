"""Exact projection of colours onto a polyline in RGB, fast for megapixels and long tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["project", "unique_colours"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CELL_BITS = 3
"""Colours are grouped in cells of 8 levels a side."""

CELL_RADIUS = 0.5 * (2**CELL_BITS - 1) * 3**0.5
PAIRS = 1 << 18
"""Pairs of colour and segment that are looked at in one go: what the cache holds."""


def unique_colours(picture: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Colours (N, 3) of a uint8 (H, W, 3) picture, each once, and the index (H, W) of each pixel.

    Ordered by cell, so that `project` finds neighbours beside each other.
    """
    packed = _pack(picture)
    seen = np.zeros(1 << 24, np.bool_)
    seen[packed] = True
    present = np.flatnonzero(seen).astype(np.uint32)
    index = np.empty(1 << 24, np.int32)  # only the entries of colours that occur are touched
    index[present] = np.arange(present.size, dtype=np.int32)
    return _unpack(present), index[packed]


def _pack(picture: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Cell in the high 15 bits, place within it in the low 9."""
    low = (1 << CELL_BITS) - 1
    shift = 3 * CELL_BITS
    packed = np.zeros(picture.shape[:2], np.uint32)
    for channel in range(3):
        # by table: four operations on 256 numbers instead of on every pixel
        level = np.arange(256, dtype=np.uint32)
        cell = (level >> CELL_BITS) << (shift + (8 - CELL_BITS) * (2 - channel))
        table = cell | ((level & low) << (CELL_BITS * (2 - channel)))
        packed |= table[picture[:, :, channel]]
    return packed


def _unpack(packed: NDArray[np.uint32]) -> NDArray[np.uint8]:
    low = (1 << CELL_BITS) - 1
    shift = 3 * CELL_BITS
    channels = []
    for channel in range(3):
        cell = packed >> (shift + (8 - CELL_BITS) * (2 - channel)) & (256 >> CELL_BITS) - 1
        channels.append(cell << CELL_BITS | packed >> (CELL_BITS * (2 - channel)) & low)
    return np.stack(channels, axis=1).astype(np.uint8)


class _Segments:
    """The segments between neighbouring stops; a segment of length 0 is its stop."""

    def __init__(self, stops: Floats) -> None:
        self.start = stops[:-1]
        self.along = stops[1:] - stops[:-1]
        self.squared = np.maximum((self.along**2).sum(axis=1), 1.0)
        self.start_squared = (self.start**2).sum(axis=1)
        self.start_along = (self.start * self.along).sum(axis=1)

    def __len__(self) -> int:
        return len(self.start)

    def distance(
        self, squared: Floats, by_start: Floats, by_along: Floats, at: Ints | slice
    ) -> tuple[Floats, Floats]:
        """Squared distance of points to segments, and the place along them, 0..1.

        Of |point|^2 and the point's products with start and direction. For whole numbers it is
        one whole number over another, both exact, so that equal distances compare as equal.
        """
        length = self.squared[at]
        away = squared - 2 * by_start + self.start_squared[at]
        dot = by_along - self.start_along[at]
        inside = np.clip(dot, 0.0, length)
        return (away * length + inside * (inside - 2 * dot)) / length, inside / length


def project(colours: NDArray[np.uint8], stops: Floats) -> tuple[Floats, Floats]:
    """Place (N,) of each colour's nearest point on the polyline, and its distance (N,) from it.

    `colours`: (N, 3), ordered as `unique_colours` does. `stops`: (K, 3) whole numbers, 0..255.
    Place 2.25 is a quarter of the way from stop 2 to stop 3. Of equally near segments the earlier
    counts.
    """
    segments = _Segments(stops)
    points = colours.astype(np.float64)
    cells, first = np.unique(_pack(colours[None])[0] >> 3 * CELL_BITS, return_index=True)
    counts = np.diff(np.append(first, len(points)))
    place, squared = np.empty(len(points)), np.empty(len(points))
    step = max(1, PAIRS // len(segments))
    for at in range(0, len(cells), step):
        near = _candidates(cells[at : at + step], segments)
        for some, chosen in _blocks(near, counts[at : at + step], first[at]):
            place[some], squared[some] = _nearest(points[some], segments, *chosen)
    return place, np.sqrt(squared)


def _candidates(cells: NDArray[np.uint32], segments: _Segments) -> NDArray[np.bool_]:
    """bool (cells, segments): which may be the nearest to some colour of the cell.

    A colour lies within CELL_RADIUS of its cell's centre, so its distances do not differ from the
    centre's by more.
    """
    corners = _unpack(cells << np.uint32(3 * CELL_BITS)).astype(np.float64)
    centres = corners + 0.5 * (2**CELL_BITS - 1)
    squared, _ = segments.distance(
        (centres**2).sum(axis=1)[:, None],
        np.einsum("ij,kj->ik", centres, segments.start),
        np.einsum("ij,kj->ik", centres, segments.along),
        slice(None),
    )
    distance = np.sqrt(np.maximum(squared, 0.0))
    reach = distance.min(axis=1, keepdims=True) + 2 * CELL_RADIUS + 1e-6
    return np.asarray(distance <= reach)


def _blocks(
    near: NDArray[np.bool_], counts: Ints, start: int
) -> Iterator[tuple[slice, tuple[Ints, Ints]]]:
    """Runs of colours with some PAIRS candidates: which colours, and (how many, which) of each."""
    per_cell = near.sum(axis=1)
    listed = np.nonzero(near)[1]
    begins = np.cumsum(per_cell) - per_cell
    cell_of = np.repeat(np.arange(len(counts)), counts)
    ends = np.cumsum(per_cell[cell_of])
    done = 0
    while done < len(cell_of):
        budget = (ends[done - 1] if done else 0) + PAIRS
        stop = max(done + 1, int(np.searchsorted(ends, budget, side="right")))
        many = per_cell[cell_of[done:stop]]
        within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        chosen = listed[np.repeat(begins[cell_of[done:stop]], many) + within]
        yield slice(start + done, start + stop), (many, chosen)
        done = stop


def _nearest(
    points: Floats, segments: _Segments, many: Ints, chosen: Ints
) -> tuple[Floats, Floats]:
    """Place and squared distance of points (N, 3), of `many` (N,) candidates each."""
    owner = np.repeat(np.arange(len(points)), many)
    rows = points[owner]
    distance, along = segments.distance(
        (points**2).sum(axis=1)[owner],
        np.einsum("ij,ij->i", rows, segments.start[chosen]),
        np.einsum("ij,ij->i", rows, segments.along[chosen]),
        chosen,
    )
    least = np.minimum.reduceat(distance, np.cumsum(many) - many)
    hits = np.flatnonzero(distance == least[owner])
    hits = hits[np.diff(owner[hits], prepend=-1) > 0]  # the first of equals: candidates ascend
    return chosen[hits] + along[hits], least
