"""The answers a model that segments perfectly would give."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import NoOptions, Scene

from vgen_eval_plugins.colours import as_rgb
from vgen_eval_plugins.segmentation.binary_mask import BinaryMask, BinaryMaskOptions

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
    """Mask -> a picture, the target white, or in the decoder's colour, on black."""

    version: ClassVar[int] = 3
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = BinaryMask.Options

    def __init__(self, options: BinaryMaskOptions) -> None:
        self.options = options

    def encode(self, target: NDArray[np.bool_], scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw."""
        colour = as_rgb(self.options.colour or (255, 255, 255))
        paints = np.array([(0, 0, 0), colour], np.uint8)
        return np.asarray(paints.take(_at_seen_size(target, scene), axis=0))
