"""Masks given as arrays, and the mask that stands for a failure."""

from __future__ import annotations

from typing import Any, ClassVar

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

__all__ = ["EmptyMask", "NativeMask", "fit_mask"]

Mask = NDArray[np.bool_]


def fit_mask(mask: Mask, *, height: int, width: int) -> Mask:
    """The mask at (height, width): nearest pixel, by pixel centres."""
    if mask.shape == (height, width):
        return mask
    plane = np.ascontiguousarray(mask).view(np.uint8)
    size = (width, height)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_NEAREST_EXACT)).view(np.bool_)


def _predict(mask: Mask, flags: tuple[str, ...] = ()) -> Prediction:
    area = float(np.count_nonzero(mask) / mask.size) if mask.size else 0.0
    return Prediction(value=mask, flags=flags, summary={"area_fraction": round(area, 6)})


class NativeMask:
    """Array -> mask; nearest pixel when its size is not the original's."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """bool (H, W) at `scene.size`; Undecodable for other shapes and for NaN.

        Whole numbers: 0 and one positive value, or, in uint8, grey levels above 127. Floats:
        probabilities above 0.5, or 0 and one positive value.
        """
        if not isinstance(answer, np.ndarray):
            raise Undecodable(f"a mask array was wanted, {type(answer).__name__} came")
        if answer.ndim != 2 or answer.size == 0:
            raise Undecodable(f"a mask of (H, W) was wanted, the shape is {answer.shape}")
        mask = _to_bool(answer)
        height, width = scene.size
        resized = mask.shape != (height, width)
        return _predict(fit_mask(mask, height=height, width=width), ("resized",) if resized else ())


def _to_bool(answer: NDArray[Any]) -> Mask:
    if answer.dtype == np.bool_:
        return answer
    if answer.dtype.kind not in "iuf":
        raise Undecodable(f"a mask of numbers was wanted, the type is {answer.dtype}")
    if answer.dtype.kind == "f" and not np.isfinite(answer).all():
        raise Undecodable("the mask holds values that are not finite")
    low, high = answer.min(), answer.max()
    if low < 0:
        raise Undecodable(f"the mask holds negative values, down to {low}")
    if answer.dtype.kind == "f" and high <= 1:
        return np.asarray(answer > 0.5)
    if bool(((answer == 0) | (answer == high)).all()):
        return np.asarray(answer > 0)
    if answer.dtype == np.uint8:
        return np.asarray(answer > 127)
    raise Undecodable(f"the mask holds more than two values, up to {high}")


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
