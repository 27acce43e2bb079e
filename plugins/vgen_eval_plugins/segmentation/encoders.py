"""The answers a model that segments perfectly would give."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import NoOptions, Scene

__all__ = ["BinaryMaskEncoder", "MaskEncoder"]


def _at_seen_size(target: NDArray[np.bool_], scene: Scene) -> NDArray[np.bool_]:
    return scene.geometry.project(np.asarray(target, dtype=bool), "labels", fill=False)


class MaskEncoder:
    """Mask -> the mask at the size the model saw."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: NDArray[np.bool_], scene: Scene) -> NDArray[np.bool_]:
        """bool (H, W)."""
        return _at_seen_size(target, scene)


class BinaryMaskEncoder:
    """Mask -> a picture, the target white on black."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: NDArray[np.bool_], scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw."""
        grey = _at_seen_size(target, scene).view(np.uint8) * np.uint8(255)
        return np.repeat(grey[:, :, None], 3, axis=2)
