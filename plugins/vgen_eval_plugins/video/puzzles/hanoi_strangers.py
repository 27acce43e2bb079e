"""What stands in a tower's scene and did not in the first picture, whatever its colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vgen_eval_plugins.video.puzzles.comparing import difference, size_of, soften
from vgen_eval_plugins.video.puzzles.seeing import Blob, find_blobs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Plane = NDArray[np.float32]

__all__ = ["Strangers"]

_NEW = 30.0
"""Distance of two colours, in levels, from which they are two."""
_SHADOW = 0.65
"""Thicknesses to the right of a disc and below it that its shadow may darken."""
_EDGE = 3
"""Pixels around a disc that its colour may run into."""
_THIN = (0.6, 0.5)
"""Parts of the narrowest disc's width and of the thickness below which a thing is no disc: the
pegs are thin."""


class Strangers:
    """Looks for them: `discs` are the parts of the first picture that are its discs.

    Behind those nothing is known but what lies to both sides, so each row of it is taken to go
    evenly from the left to the right; of the stand below them nothing is, so it is left out.
    """

    def __init__(self, first: RGB, discs: Iterable[Blob]) -> None:
        self._discs = tuple(discs)
        self._thick = float(np.median([blob[4] for blob in self._discs])) / 0.94
        self._unknown = np.zeros(first.shape[:2], np.bool_)
        self._scene = self._empty(soften(first))

    def find(self, picture: RGB, discs: Iterable[Blob], *, least: float) -> list[Blob]:
        """New things of at least so many pixels, apart from these discs and their shadows."""
        free = ~self._unknown
        for blob in discs:
            rows, columns = self._box(blob, free.shape)
            free[rows, columns] = False
        off = difference(picture, self._scene, free)
        is_new = (size_of(off) > _NEW) & free
        narrowest = min(blob[3] for blob in self._discs)
        sides = max(3, round(_THIN[1] * self._thick)), max(3, round(_THIN[0] * narrowest))
        kernel = np.ones(sides, np.uint8)
        mask = cv2.morphologyEx(is_new.astype(np.uint8) * 255, cv2.MORPH_OPEN, kernel)
        return find_blobs(np.asarray(mask, np.uint8), least=least)

    def _box(self, blob: Blob, shape: tuple[int, ...]) -> tuple[slice, slice]:
        """Rows and columns of a disc and of its shadow."""
        x, y, _, width, height = blob
        after = _SHADOW * self._thick
        top, bottom = y - height / 2 - _EDGE, y + height / 2 + after
        left, right = x - width / 2 - _EDGE, x + width / 2 + after
        return (
            slice(max(0, int(top)), min(shape[0], int(bottom) + 2)),
            slice(max(0, int(left)), min(shape[1], int(right) + 2)),
        )

    def _empty(self, scene: Plane) -> Plane:
        """The first picture without its discs."""
        empty = scene.copy()
        boxes = [self._box(blob, scene.shape) for blob in self._discs]
        left = min(columns.start for _, columns in boxes)
        right = max(columns.stop for _, columns in boxes)
        floor = round(max(y + height / 2 for _, y, _, _, height in self._discs)) - 1
        self._unknown[floor : max(rows.stop for rows, _ in boxes), left:right] = True
        for row in range(min(rows.start for rows, _ in boxes), floor):
            near = scene[row, max(0, left - 3) : max(1, left)].mean(axis=0)
            far = scene[row, min(right, scene.shape[1] - 1) : right + 3].mean(axis=0)
            part = np.linspace(0, 1, right - left, dtype=np.float32)[:, None]
            empty[row, left:right] = near * (1 - part) + far * part
        return empty
