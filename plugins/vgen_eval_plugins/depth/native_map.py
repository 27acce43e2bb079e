"""Depth given as an array, and the flat map that stands for a failure."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import squeeze
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.depth.maps import DepthMap, Linear, Space, resize_map, summarise
from vgen_eval_plugins.pictures import size_flags

__all__ = ["ConstantDepth", "DepthMapOptions", "NativeDepth"]

Positive = Annotated[float, msgspec.Meta(gt=0, le=1e6)]


class DepthMapOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the numbers of an array mean."""

    space: Annotated[
        Linear, msgspec.Meta(description="depth: metres; disparity: 1 / metre; or affine in it.")
    ] = "depth"
    scale: Annotated[
        float,
        msgspec.Meta(
            description="Metres (disparity: 1 / metre) in one unit of the array.", gt=0, le=1e6
        ),
    ] = 1.0
    invalid: Annotated[
        tuple[float, ...],
        msgspec.Meta(description="Numbers, before scaling, that stand for no reading."),
    ] = ()


def _read_array(answer: Any) -> NDArray[Any]:
    if not isinstance(answer, np.ndarray):
        raise Undecodable(f"a depth array was wanted, {type(answer).__name__} came")
    if answer.dtype.kind not in "iuf":
        raise Undecodable(f"a depth map of numbers was wanted, the type is {answer.dtype}")
    plane = squeeze(answer)
    if plane.ndim != 2 or plane.size == 0:
        raise Undecodable(f"a depth map of (H, W) was wanted, the shape is {answer.shape}")
    return plane


class NativeDepth:
    """Array -> depth; what is not finite, marked invalid or no depth at all is left open.

    No depth at all: 0 and below, in space `depth`. In `disparity` any finite number may stand,
    since a map that is affine in 1 / metre may pass 0.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"
    Options: ClassVar[type[msgspec.Struct]] = DepthMapOptions

    def __init__(self, options: DepthMapOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """DepthMap, float32 at `scene.size`, of numbers (H, W), (H, W, 1) or (1, H, W).

        Undecodable for other shapes and types, and when every pixel is open.
        """
        plane, options = _read_array(answer), self.options
        flags = size_flags(plane, scene)
        with np.errstate(over="ignore"):  # what float32 cannot hold is open as well
            values = np.multiply(plane, options.scale, dtype=np.float64).astype(np.float32)
        is_open = ~np.isfinite(values)
        if options.space == "depth":
            is_open |= values <= 0
        if options.invalid:
            is_open |= np.isin(plane, np.array(options.invalid))
        values[is_open] = np.nan
        values = resize_map(scene.geometry.crop(values), scene.size)
        summary = summarise(values, options.space)
        if summary["low"] == summary["high"]:
            flags.append("constant")
        return Prediction(
            value=DepthMap(values, options.space), flags=tuple(flags), summary=summary
        )


class ConstantDepth:
    """The failure value: everything equally far, whatever the answer."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """How far."""

        depth_m: Annotated[
            Positive | None,
            msgspec.Meta(description="Metres; null: a relative map, which a fit brings to depth."),
        ] = None

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """DepthMap, float32 at `scene.size`, the same number everywhere."""
        depth_m = self.options.depth_m
        space: Space = "relative" if depth_m is None else "depth"
        values = np.full(scene.size, 0.5 if depth_m is None else depth_m, np.float32)
        return Prediction(value=DepthMap(values, space), summary=summarise(values, space))
