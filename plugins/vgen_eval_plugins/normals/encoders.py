"""The answers that a model which sees normals perfectly would give."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import Scene

from vgen_eval_plugins.normals.frames import from_house
from vgen_eval_plugins.normals.native_map import NormalMap
from vgen_eval_plugins.normals.rgb_normals import RgbNormals
from vgen_eval_plugins.normals.vectors import Normals, seen_normals

__all__ = ["NormalMapEncoder", "RgbNormalsEncoder"]


class RgbNormalsEncoder:
    """Normals -> a picture of them, v = 255 (n + 1) / 2."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "normals"
    Options: ClassVar[type[msgspec.Struct]] = RgbNormals.Options

    def __init__(self, options: RgbNormals.Options) -> None:
        self.options = options

    def encode(self, target: Normals, scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw, in the colours of `options.frame`."""
        components = from_house(seen_normals(target, scene), self.options.frame)
        return np.asarray(np.rint((components + 1) * 127.5), np.uint8)


class NormalMapEncoder:
    """Normals -> the array of them."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "normals"
    Options: ClassVar[type[msgspec.Struct]] = NormalMap.Options

    def __init__(self, options: NormalMap.Options) -> None:
        self.options = options

    def encode(self, target: Normals, scene: Scene) -> Normals:
        """float32 (H, W, 3) at the size the model saw, in `options.frame`."""
        return from_house(seen_normals(target, scene), self.options.frame)
