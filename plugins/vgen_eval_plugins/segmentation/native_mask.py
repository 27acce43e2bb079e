"""Masks given as arrays, and the mask that stands for a failure."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import to_bool
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.pictures import size_flags

__all__ = ["EmptyMask", "NativeMask"]

Mask = NDArray[np.bool_]


def _predict(mask: Mask, flags: tuple[str, ...] = ()) -> Prediction:
    area = float(np.count_nonzero(mask) / mask.size) if mask.size else 0.0
    return Prediction(value=mask, flags=flags, summary={"area_fraction": round(area, 6)})


class NativeMask:
    """Array -> mask; nearest pixel when its size is not the original's."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """bool (H, W) at `scene.size`, by the rule of `imaging.to_bool`; Undecodable otherwise."""
        if not isinstance(answer, np.ndarray):
            raise Undecodable(f"a mask array was wanted, {type(answer).__name__} came")
        if answer.ndim != 2 or answer.size == 0:
            raise Undecodable(f"a mask of (H, W) was wanted, the shape is {answer.shape}")
        mask = to_bool(answer, what="the mask")
        flags = tuple(size_flags(mask, scene))
        return _predict(scene.geometry.restore(mask, "labels"), flags)


class EmptyMask:
    """The failure value: nothing found, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """bool (H, W) at `scene.size`, False everywhere."""
        return _predict(np.zeros(scene.size, bool))
