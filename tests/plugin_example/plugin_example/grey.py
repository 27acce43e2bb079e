"""Brightness as a picture: how it is read off an answer, painted, and assumed after a failure."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

__all__ = ["FlatGrey", "MeanLuma", "MiddleGrey", "luma"]

_WEIGHTS = {
    "bt601": (0.299, 0.587, 0.114),
    "bt709": (0.2126, 0.7152, 0.0722),
}


def luma(picture: NDArray[np.uint8], *, weights: str = "bt601") -> NDArray[np.float64]:
    """(H, W) luma, 0-255, of a uint8 (H, W, 3) picture (ITU-R BT.601 or BT.709 weights)."""
    return np.asarray(picture @ np.array(_WEIGHTS[weights]))


class MeanLuma:
    """Picture -> its mean luma."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Set beside `decoder` in the protocol's answer."""

        weights: Annotated[
            Literal["bt601", "bt709"], msgspec.Meta(description="Weights of R, G, B.")
        ] = "bt601"
        flat_within: Annotated[
            float,
            msgspec.Meta(description="Standard deviation of luma above which it is no flat grey."),
        ] = 8.0

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """Mean luma, 0-255, of a uint8 (H, W, 3) answer; flagged `not_flat` when it varies."""
        if not isinstance(answer, np.ndarray):
            raise Undecodable(f"a colour picture was wanted, {type(answer).__name__} came")
        if answer.dtype != np.uint8 or answer.ndim != 3 or answer.shape[2] != 3 or not answer.size:
            raise Undecodable(f"a picture (H, W, 3) was wanted, {answer.dtype} {answer.shape} came")
        plane = luma(answer, weights=self.options.weights)
        value = float(plane.mean())
        return Prediction(
            value=value,
            flags=("not_flat",) if plane.std() > self.options.flat_within else (),
            summary={"luma": round(value, 2)},
        )


class MiddleGrey:
    """The failure value: scores a sample that the model did not answer."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The middle of the scale, whatever the answer."""
        return Prediction(value=127.5, summary={"luma": 127.5})


class FlatGrey:
    """Mean luma -> the flat grey picture that a model which sees perfectly would paint."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: float, scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3), as large as the picture that the model saw."""
        return np.full((scene.image.height, scene.image.width, 3), round(target), np.uint8)
