"""Reads a mask from a picture that shows the target bright on dark."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import resize
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.pictures import (
    RGB,
    channel_range,
    read_painted,
)

__all__ = ["BinaryMask", "far_fraction", "to_grey"]

Grey = NDArray[np.uint8]

FAR_LEVELS = 32
"""A pixel is near black (white) when every channel is within this of 0 (255)."""

FAR_PIXELS = 1 << 18

_WEIGHTS = {"bt709": (0.2126, 0.7152, 0.0722), "mean": (1 / 3, 1 / 3, 1 / 3)}


def to_grey(picture: RGB, kind: str) -> Grey:
    """uint8 (H, W): BT.601 or BT.709 luma, the mean of the channels or the largest."""
    if kind == "max":
        red, green, blue = cv2.split(picture)
        return np.asarray(cv2.max(cv2.max(red, green), blue), np.uint8)
    if kind == "bt601":
        return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8)
    return np.asarray(cv2.transform(picture, np.array([_WEIGHTS[kind]])), np.uint8)


def far_fraction(picture: RGB) -> float:
    """Part of the pixels that are neither near black nor near white, 0..1.

    Large pictures are read on evenly spaced rows: a flag needs no more.
    """
    rows = picture[:: max(1, picture.size // 3 // FAR_PIXELS)]
    black = cv2.countNonZero(cv2.inRange(rows, (0, 0, 0), (FAR_LEVELS,) * 3))
    white = cv2.countNonZero(cv2.inRange(rows, (255 - FAR_LEVELS,) * 3, (255, 255, 255)))
    return 1.0 - (black + white) / (rows.size // 3)


class BinaryMask:
    """Picture -> mask: grey, bilinear to the original's size, then a threshold.

    ProbeGen (arXiv 2609.07884) takes Otsu's threshold. Otsu splits any picture, a flat or barely
    noisy one too, so a picture whose largest channel range is under `min_range` is all or nothing
    by its mean. The range is of channels, not of luma: pure blue on black has luma 29 and is a
    good mask. Inverted masks are taken as they are.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "mask"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """How grey is made and where it is cut."""

        gray: Annotated[
            Literal["bt601", "bt709", "mean", "max"],
            msgspec.Meta(description="Grey: BT.601 or BT.709 luma, channel mean or maximum."),
        ] = "bt601"
        method: Annotated[
            Literal["otsu", "fixed"], msgspec.Meta(description="How the threshold is found.")
        ] = "otsu"
        threshold: Annotated[
            int, msgspec.Meta(description="For `fixed`: above it is target.", ge=0, le=254)
        ] = 128
        min_range: Annotated[
            int, msgspec.Meta(description="Channel range that is no flat picture.", ge=0, le=255)
        ] = 32

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """bool (H, W) at `scene.size` from uint8 (H, W, 3) RGB; Undecodable for anything else."""
        painted, flags = read_painted(answer, scene)
        far = far_fraction(painted)
        if far > 0.5:
            flags.append("not_a_mask")

        grey = to_grey(painted, self.options.gray)
        threshold = None
        if self._is_flat(painted, grey):
            flags.append("constant")
            # sums are exact; OpenCV's mean of a picture of 127s is a little above 127
            mask = np.full(scene.size, cv2.sumElems(grey)[0] > 127 * grey.size)
        else:
            height, width = scene.size
            mask, threshold = self._cut(resize(grey, height=height, width=width, kind="map"))
        area = cv2.countNonZero(mask.view(np.uint8)) / mask.size
        return Prediction(
            value=mask,
            flags=tuple(flags),
            summary={
                "area_fraction": round(area, 6),
                "threshold": threshold,
                "far_fraction": round(far, 4),
                "fit": scene.fit,
            },
        )

    def _is_flat(self, picture: RGB, grey: Grey) -> bool:
        low, high, _, _ = cv2.minMaxLoc(grey)
        if high - low >= self.options.min_range:  # grey never spans more than its widest channel
            return False
        return channel_range(picture) < self.options.min_range

    def _cut(self, grey: Grey) -> tuple[NDArray[np.bool_], int]:
        method, start = cv2.THRESH_BINARY, self.options.threshold
        if self.options.method == "otsu":
            method, start = method | cv2.THRESH_OTSU, 0
        threshold, ones = cv2.threshold(grey, start, 1, method)
        return np.asarray(ones).view(np.bool_), round(threshold)
