"""Plain facts of a picture's look, one measure each, and how far each is past its mark."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.quality.classic.luma import luma

__all__ = ["FAULTS", "MARKS", "Facts", "measure_facts"]

Plane = NDArray[np.float64]

FAULTS = ("blur", "noise", "blocks", "dark", "contrast")
"""What a picture may suffer from."""

MARKS: Mapping[str, float] = {
    "blur": 0.3, "noise": 2.5, "blocks": 1.35, "dark": 50.0, "contrast": 0.6, "bright": 190.0,
}  # fmt: skip
"""Where a fact begins to be a fault: set by eye on photographs, no model of vision."""

_MOST = 100.0
_CELL = 8
_REBLUR = 1.5
_IMMERKAER = np.array([[1.0, -2, 1], [-2, 4, -2], [1, -2, 1]])


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of the luma, in levels 0..255 where nothing else is said."""

    sharpness: float
    """Part of the differences between neighbours that another slight blur takes away."""
    noise: float
    """Standard deviation of white noise, read where the picture is smoothest."""
    blockiness: float
    """Differences across the lines of an 8 x 8 grid over those within it; 1: no grid; at most 100.
    """
    brightness: float
    """Mean."""
    contrast: float
    """Span of the middle 90 % of levels over their mean: what darkening leaves as it is."""

    @property
    def severity(self) -> Mapping[str, float]:
        """Fault -> how far past its mark, as a ratio; above 1 it is seen, at most 100."""
        found = {
            "blur": MARKS["blur"] / max(self.sharpness, 1e-3),
            "noise": self.noise / MARKS["noise"],
            "blocks": self.blockiness / MARKS["blocks"],
            "dark": MARKS["dark"] / max(self.brightness, 1e-3),
            "contrast": MARKS["contrast"] / max(self.contrast, 1e-3),
        }
        return {name: min(value, _MOST) for name, value in found.items()}

    @property
    def worst(self) -> str | None:
        """The fault that is farthest past its mark; None: none is."""
        found = self.severity
        name = max(found, key=lambda fault: found[fault])
        return name if found[name] > 1 else None


def measure_facts(picture: NDArray[np.uint8]) -> Facts:
    """Facts of a picture as `luma` takes it; finite for tiny and flat ones too."""
    levels = luma(picture)
    low, high = np.percentile(levels, [5, 95])
    mean = float(levels.mean())
    across, down = _blockiness(levels), _blockiness(levels.T)
    return Facts(
        sharpness=_sharpness(levels),
        noise=_noise(levels),
        blockiness=(across + down) / 2,
        brightness=mean,
        contrast=float(high - low) / max(mean, 1.0),
    )


def _change(levels: Plane) -> float:
    return float(sum(np.abs(np.diff(levels, axis=axis)).sum() for axis in (0, 1)))


def _sharpness(levels: Plane) -> float:
    """After Crete et al. 2007: what is blurred already loses little to another blur."""
    change = _change(levels)
    if change == 0:
        return 0.0
    return max(0.0, 1 - _change(np.asarray(cv2.GaussianBlur(levels, (0, 0), _REBLUR))) / change)


def _noise(levels: Plane) -> float:
    """After Immerkaer 1996: what a difference of two Laplacians leaves, in the smoothest tenth."""
    left = np.abs(np.asarray(cv2.filter2D(levels, -1, _IMMERKAER)))[1:-1, 1:-1]
    rows, columns = left.shape[0] // _CELL, left.shape[1] // _CELL
    if rows == 0 or columns == 0:
        return 0.0
    cells = left[: rows * _CELL, : columns * _CELL].reshape(rows, _CELL, columns, _CELL)
    smooth = float(np.percentile(cells.mean(axis=(1, 3)), 10))
    return float(np.sqrt(np.pi / 2)) * smooth / 6


def _blockiness(levels: Plane) -> float:
    """Along rows: column 7 to 8, 15 to 16, ... against all the other steps."""
    steps = np.abs(np.diff(levels, axis=1)).mean(axis=0)
    on_grid = np.arange(len(steps)) % _CELL == _CELL - 1
    if not on_grid.any() or on_grid.all():
        return 1.0
    grid, rest = float(steps[on_grid].mean()), float(steps[~on_grid].mean())
    if grid == rest == 0:
        return 1.0
    return min(grid / max(rest, 1e-3), _MOST)
