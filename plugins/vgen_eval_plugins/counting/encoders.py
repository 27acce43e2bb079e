"""The answers a model that counts perfectly would give: dots, text, points."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import NoOptions, Scene

from vgen_eval_plugins.counting.layout import Dots, lay_dots, paint_red, paint_white, spread
from vgen_eval_plugins.counting.targets import CountTarget

__all__ = [
    "ComponentsEncoder",
    "CountTextEncoder",
    "PointsEncoder",
    "RedDotsEncoder",
    "RedDotsEncoderOptions",
    "dots_for",
]


class RedDotsEncoderOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Sizes of the dots, in pixels of the decoder's working size."""

    work_long_side: Annotated[
        int, msgspec.Meta(description="The decoder's working long side.", ge=16, le=8192)
    ] = 1024
    min_radius: Annotated[
        float, msgspec.Meta(description="Below it a dot falls under the least area.", gt=0)
    ] = 3.5
    max_radius: Annotated[
        float, msgspec.Meta(description="Above it a dot comes near the largest area.", gt=0)
    ] = 15.0


def dots_for(
    points: NDArray[np.float64], *, height: int, width: int, options: RedDotsEncoderOptions
) -> Dots:
    """Discs at the points, x, y in this picture's pixels, sized for the decoder's limits."""
    scale = options.work_long_side / max(height, width)
    return lay_dots(
        points,
        height=height,
        width=width,
        min_radius=options.min_radius / scale,
        max_radius=options.max_radius / scale,
    )


def seen_points(target: CountTarget, scene: Scene) -> NDArray[np.float64]:
    """(count, 2) x, y in pixels of the picture the model saw; on a free grid when unknown."""
    height, width = scene.image.height, scene.image.width
    if target.points is None:
        return spread(target.count, height=height, width=width)
    points = np.asarray(target.points, dtype=np.float64).reshape(-1, 2)
    return scene.geometry.project_points(points)


class RedDotsEncoder:
    """count -> the input picture with a red disc on every object."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = RedDotsEncoderOptions

    def __init__(self, options: RedDotsEncoderOptions) -> None:
        self.options = options

    def encode(self, target: CountTarget, scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) RGB at the size the model saw."""
        picture = scene.image.array
        dots = dots_for(
            seen_points(target, scene),
            height=picture.shape[0],
            width=picture.shape[1],
            options=self.options,
        )
        return paint_red(picture, dots)


class ComponentsEncoder:
    """count -> white dots on black."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """Sizes of the dots, in pixels of the answer."""

        min_radius: Annotated[int, msgspec.Meta(description="Least radius.", ge=1)] = 2
        max_radius: Annotated[int, msgspec.Meta(description="Largest radius.", ge=1)] = 12

    def __init__(self, options: Options) -> None:
        self.options = options

    def encode(self, target: CountTarget, scene: Scene) -> NDArray[np.uint8]:
        """uint8 (H, W, 3) at the size the model saw."""
        height, width = scene.image.height, scene.image.width
        dots = lay_dots(
            seen_points(target, scene),
            height=height,
            width=width,
            min_radius=self.options.min_radius,
            max_radius=self.options.max_radius,
        )
        return paint_white(height=height, width=width, dots=dots)


class CountTextEncoder:
    """count -> its digits."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: CountTarget, scene: Scene) -> str:  # noqa: ARG002
        """The count in digits."""
        return str(target.count)


class PointsEncoder:
    """count -> one point an object."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: CountTarget, scene: Scene) -> Any:
        """float (N, 2) x, y in pixels of the picture the model saw."""
        points = seen_points(target, scene)
        return np.clip(points, 0, [scene.image.width, scene.image.height])
