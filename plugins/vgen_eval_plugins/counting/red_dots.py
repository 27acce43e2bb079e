"""Reads a count from a picture on which a red dot was painted on every object."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import cv2
import msgspec
import numpy as np
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.counting.dots import Mask, Method, find_dots
from vgen_eval_plugins.pictures import RGB, channel_range, read_rgb, resize

__all__ = ["RedDots", "RedDotsOptions", "find_red", "working_size"]

SHOWN_POINTS = 200
CONSTANT_RANGE = 2


def _doc(text: str, **bounds: Any) -> msgspec.Meta:
    return msgspec.Meta(description=text, **bounds)


class RedDotsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every constant of the reading; lengths and areas in pixels of the working size."""

    work_long_side: Annotated[
        int, _doc("Long side to which answer and input are both resized.", ge=16, le=8192)
    ] = 1024
    hue_low: Annotated[int, _doc("Red is a hue (0-179) up to this ...", ge=0, le=179)] = 10
    hue_high: Annotated[int, _doc("... or from this on.", ge=0, le=179)] = 170
    s_min: Annotated[int, _doc("Least saturation.", ge=0, le=255)] = 160
    v_min: Annotated[int, _doc("Least value (brightness).", ge=0, le=255)] = 80
    method: Annotated[
        Method,
        _doc(
            "What a dot is in the red mask: a blob of a dot's size and shape, any component, or a "
            "peak of the distance to the rim; +diff: only what differs from the input is red."
        ),
    ] = "blob+diff"
    diff_min: Annotated[
        int, _doc("Least difference to the input in some channel.", ge=1, le=255)
    ] = 40
    min_area: Annotated[
        float, _doc("Least contour area of a blob, least pixels of a component.", ge=0)
    ] = 10
    max_area: Annotated[float, _doc("Contour area of a blob that is too large.", gt=0)] = 1500
    min_circularity: Annotated[
        float | None, _doc("Least 4 pi area / perimeter^2; null: not tested.")
    ] = 0.5
    min_inertia: Annotated[
        float | None, _doc("Least ratio of the second moments; null: not tested.")
    ] = 0.3
    min_convexity: Annotated[
        float | None, _doc("Least area / area of the convex hull; null: not tested.")
    ] = None
    blob_color: Annotated[int | None, _doc("Mask value at a blob's centre; null: not tested.")] = (
        255
    )
    min_threshold: Annotated[float, _doc("First threshold on the mask.")] = 127
    max_threshold: Annotated[float, _doc("Thresholds stay below this.")] = 128
    threshold_step: Annotated[float, _doc("Step between thresholds.", gt=0)] = 10
    min_repeatability: Annotated[int, _doc("Thresholds at which a blob must be seen.", ge=1)] = 1
    min_distance: Annotated[
        float, _doc("Blobs whose centres are nearer are one; so of two peaks the lower.", ge=0)
    ] = 3
    peak_min_value: Annotated[
        float, _doc("Least distance to the rim of a peak: half a dot's width, about.", gt=0)
    ] = 1.5

    def __post_init__(self) -> None:
        if self.min_area >= self.max_area:
            raise ValueError(f"min_area {self.min_area} is not below max_area {self.max_area}")
        if self.min_threshold >= self.max_threshold:
            raise ValueError(
                f"min_threshold {self.min_threshold} is not below "
                f"max_threshold {self.max_threshold}"
            )


def working_size(scene: Scene, long_side: int) -> tuple[int, int]:
    """(height, width) of the input picture brought to this long side, enlarged if need be."""
    scale = long_side / max(scene.image.height, scene.image.width)
    return max(1, round(scene.image.height * scale)), max(1, round(scene.image.width * scale))


def find_red(picture: RGB, options: RedDotsOptions) -> Mask:
    """255 where a pixel is red by hue, saturation and value; uint8 (H, W)."""
    hsv = cv2.cvtColor(picture, cv2.COLOR_RGB2HSV)
    floor = (options.s_min, options.v_min)
    if options.hue_low >= options.hue_high:
        return np.asarray(cv2.inRange(hsv, (0, *floor), (179, 255, 255)), np.uint8)
    low = cv2.inRange(hsv, (0, *floor), (options.hue_low, 255, 255))
    high = cv2.inRange(hsv, (options.hue_high, *floor), (179, 255, 255))
    return np.asarray(cv2.bitwise_or(low, high), np.uint8)


def find_unchanged(answer: RGB, picture: RGB, diff_min: int) -> Mask:
    """255 where no channel differs by `diff_min` or more; uint8 (H, W)."""
    top = diff_min - 1
    return np.asarray(
        cv2.inRange(cv2.absdiff(answer, picture), (0, 0, 0), (top, top, top)), np.uint8
    )


class RedDots:
    """Red dots -> count: colour test, difference to the input, blobs of a dot's size and shape.

    Source: ProbeGen (arXiv 2609.07884) names the steps, the other methods that it compares with
    (appendix A.1), saturation 160 and area 1500; the other constants are ours. Areas hang on the
    working size, so both pictures are brought to it first: pixel areas are averaged when a picture
    shrinks, bilinear when it grows; an answer of another shape is stretched or cut, as the card's
    `fit` says. A right answer of 0 is a copy of the input and carries `copied_input`.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "count"
    Options: ClassVar[type[msgspec.Struct]] = RedDotsOptions

    def __init__(self, options: RedDotsOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The number of dots on an RGB picture, uint8 (H, W, 3); Undecodable for anything else."""
        options = self.options
        given = read_rgb(answer)
        geometry = scene.geometry
        height, width = working_size(scene, options.work_long_side)
        picture = resize(scene.image.array, height=height, width=width)
        painted = resize(np.ascontiguousarray(geometry.cut(given)), height=height, width=width)
        unchanged = find_unchanged(painted, picture, options.diff_min)

        mask = find_red(painted, options)
        if options.method.endswith("+diff"):
            mask = np.asarray(cv2.bitwise_and(mask, cv2.bitwise_not(unchanged)), np.uint8)
        centres, unstable = find_dots(mask, options)
        count = len(centres)

        flags = []
        if unchanged.size - cv2.countNonZero(unchanged) < max(options.min_area, 1):
            flags.append("copied_input")
        if channel_range(given) <= CONSTANT_RANGE:
            flags.append("constant")
        if geometry.has_other_shape(given.shape):
            flags.append("wrong_aspect")
        if unstable:
            flags.append("unstable_count")
        scale = max(scene.image.height, scene.image.width) / options.work_long_side
        found = geometry.restore_points((centres + 0.5) * scale - 0.5)
        points = sorted([round(float(x), 1), round(float(y), 1)] for x, y in found)
        return Prediction(
            value=count,
            flags=tuple(flags),
            summary={"count": count, "points": points[:SHOWN_POINTS]},
        )
