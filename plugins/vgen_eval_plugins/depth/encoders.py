"""The answers a model that knows every depth would give."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import NoOptions, Scene

from vgen_eval_plugins.depth.maps import fill_unknown, known_depth
from vgen_eval_plugins.depth.native_map import DepthMapOptions
from vgen_eval_plugins.depth.table import DepthColoursOptions, Table

__all__ = [
    "DepthColoursEncoder",
    "DepthMapEncoder",
    "LuminanceDepthEncoder",
    "LuminanceDisparityEncoder",
]

FLAT = 0.5
"""Nearness of a target that is equally far everywhere."""


def _whole(target: Any, *, inverse: bool = False) -> NDArray[np.float32]:
    """float32 (H, W) metres, or 1 / metre, without holes; NoValidTarget when nothing is known."""
    depth = np.asarray(target, np.float32)
    filled = fill_unknown(depth, known_depth(depth))
    return np.asarray(1 / filled, np.float32) if inverse else filled


def _nearness(target: Any, *, inverse: bool) -> NDArray[np.float32]:
    """0 the farthest known pixel to 1 the nearest, linear in depth or in 1 / depth."""
    values = _whole(target, inverse=inverse)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.full_like(values, FLAT)
    upright = (values - low) / (high - low)
    return np.asarray(upright if inverse else 1 - upright, np.float32)


def _paint_grey(nearness: NDArray[np.float32], scene: Scene) -> NDArray[np.uint8]:
    shown = scene.geometry.project(nearness, "map", fill=0.0)
    grey = np.rint(np.clip(shown, 0, 1) * 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


class LuminanceDepthEncoder:
    """Depth -> a grey picture, the nearest pixel white, linear in depth."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: NDArray[np.float32], scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw; NoValidTarget when no depth is known."""
        return _paint_grey(_nearness(target, inverse=False), scene)


class LuminanceDisparityEncoder:
    """Depth -> a grey picture, the nearest pixel white, linear in 1 / depth."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: NDArray[np.float32], scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw; NoValidTarget when no depth is known."""
        return _paint_grey(_nearness(target, inverse=True), scene)


class DepthColoursEncoder:
    """Depth -> a picture in the table's colours; depths beyond the table take its ends.

    A table without values is painted from its first colour, the farthest known pixel, to its last,
    linear in the space that the table names.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[DepthColoursOptions]] = DepthColoursOptions

    def __init__(self, options: DepthColoursOptions) -> None:
        self.options = options
        self.table = Table(options)

    def encode(self, target: NDArray[np.float32], scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw; NoValidTarget when no depth is known."""
        if self.table.is_metric:
            numbers = _whole(target)
        else:
            numbers = _nearness(target, inverse=self.options.space == "disparity")
        shown = scene.geometry.project(numbers, "map", fill=np.nan)
        in_bars = np.isnan(shown)
        shown[in_bars] = 1.0
        picture = self.table.colour_at(self.table.place_of(shown.astype(np.float64)))
        picture[in_bars] = 0
        return picture


class DepthMapEncoder:
    """Depth -> an array in the units that the decoder reads, without holes."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[DepthMapOptions]] = DepthMapOptions

    def __init__(self, options: DepthMapOptions) -> None:
        self.options = options

    def encode(self, target: NDArray[np.float32], scene: Scene) -> NDArray[np.float32]:
        """float32 (H, W) at the size the model saw, NaN in bars; NoValidTarget if none is known."""
        numbers = _whole(target, inverse=self.options.space == "disparity")
        shown = scene.geometry.project(numbers, "map", fill=np.nan)
        return np.asarray(shown / self.options.scale, np.float32)
