"""Reads normals from a picture whose red, green and blue are their three components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import resize
from vgen_eval.types import Example, Prediction, Scene

from vgen_eval_plugins.normals.calibration import Conventions, calibrate_frame
from vgen_eval_plugins.normals.colours import describe_channels, describe_colours
from vgen_eval_plugins.normals.frames import HOUSE, Frame, parse_frame
from vgen_eval_plugins.normals.vectors import FACING_AWAY, Normals
from vgen_eval_plugins.pictures import RGB, channel_range, read_painted

__all__ = ["RgbNormals"]

CONSTANT_RANGE = 8
"""Spread of every channel, in 8-bit levels, up to which a picture is flat."""

UNIT = (0.8, 1.2)
"""Lengths that a colour of a normal map may have, give or take compression and blur."""

BLOCK = 1 << 15
"""Pixels at a time: few enough that all planes of a block stay in the cache."""


class RgbNormals:
    """Picture -> normals: bilinear to the original's size, n = 2 v / 255 - 1, length 1.

    A colour whose vector is shorter than `min_length` says nothing: its pixel is left open. Grey
    is such a colour. The frame is declared, and the prompt says which colours it has; under a
    protocol with a `calibration` it is the one of 48 that fits the first samples best. Source:
    arXiv 2605.04566 (section 3) and its public code.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "normals"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """What the colours mean."""

        frame: Annotated[
            str,
            msgspec.Meta(
                description="Where R, G and B point: three of right/left, up/down, toward/away, "
                "or opengl (right up toward), opencv, dsine (left up toward)."
            ),
        ] = "opengl"
        min_length: Annotated[
            float,
            msgspec.Meta(description="Vectors shorter than this are left open.", ge=0, le=1),
        ] = 0.5
        conventions: Annotated[
            Conventions,
            msgspec.Meta(
                description="Frames to choose from in a calibration: 48, or 24 rotations."
            ),
        ] = "all"

        def __post_init__(self) -> None:
            parse_frame(self.frame)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.frame = parse_frame(options.frame)

    def fields(self, scene: Scene) -> Mapping[str, str]:  # noqa: ARG002
        """{normal_colours}: what visible surfaces are painted; {normal_channels}: R, G and B."""
        return {
            "normal_colours": describe_colours(self.frame),
            "normal_channels": describe_channels(self.frame),
        }

    def calibrate(self, examples: Sequence[Example]) -> Mapping[str, Any]:
        """The frame that fits the examples best, and how well."""
        options = self.options
        as_painted = RgbNormals(msgspec.structs.replace(options, frame=HOUSE))
        return calibrate_frame(
            as_painted.decode, examples, frame=options.frame, conventions=options.conventions
        )

    def calibrated(self, record: Mapping[str, Any]) -> RgbNormals:
        """The decoder of that frame."""
        return RgbNormals(msgspec.structs.replace(self.options, frame=record["frame"]))

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """float32 (H, W, 3) at `scene.size` from uint8 (H, W, 3) RGB; Undecodable otherwise."""
        painted, flags = read_painted(answer, scene)
        if channel_range(painted) <= CONSTANT_RANGE:
            flags.append("constant")

        height, width = scene.size
        shown = np.ascontiguousarray(resize(painted, height=height, width=width, kind="map"))
        normals, unit, opened, away = read_vectors(shown, self.frame, self.options.min_length)
        pixels = shown.shape[0] * shown.shape[1]
        if 2 * unit < pixels:
            flags.append("not_unit")
        if 2 * away > pixels - opened:
            flags.append(FACING_AWAY)
        return Prediction(
            value=normals,
            flags=tuple(flags),
            summary={
                "unit_fraction": round(unit / pixels, 6),
                "open_fraction": round(opened / pixels, 6),
                "frame": str(self.frame),
                "fit": scene.fit,
            },
        )


def read_vectors(picture: RGB, frame: Frame, min_length: float) -> tuple[Normals, int, int, int]:
    """Normals of a picture (H, W, 3), and the numbers of some of its vectors.

    These are of about length 1, open, or pointing away from the camera. In units of 1/255 a
    component is the whole number 2 v - 255, so that lengths are exact.
    """
    height, width = picture.shape[:2]
    tables = [_table(sign) for _, sign in map(frame.component, range(3))]
    order = [frame.component(axis)[0] for axis in range(3)]
    short, low, high = ((255 * length) ** 2 for length in (min_length, *UNIT))
    normals = np.empty((height, width, 3), np.float32)
    unit = opened = away = 0
    rows = max(1, BLOCK // width)
    for top in range(0, height, rows):
        channels = cv2.split(picture[top : top + rows])
        planes = [cv2.LUT(channels[at], table) for at, table in zip(order, tables, strict=True)]
        square = planes[0] * planes[0]
        square += planes[1] * planes[1]
        square += planes[2] * planes[2]
        unit += cv2.countNonZero(cv2.inRange(square, low, high))
        is_short = square < short
        scale = np.reciprocal(np.sqrt(square))  # the square is 3 at least: components are odd
        found = int(np.count_nonzero(is_short))
        if found:
            opened += found
            scale[is_short] = np.nan
        for plane in planes:
            np.multiply(plane, scale, out=plane)
        away += int(np.count_nonzero(planes[2] < 0))
        cv2.merge(planes, normals[top : top + rows])
    return normals, unit, opened, away


def _table(sign: int) -> NDArray[np.float32]:
    """8-bit level -> its component along the house's axis, in units of 1/255."""
    return np.arange(-255, 256, 2, dtype=np.float32)[::sign].copy()
