"""Reads relative depth from a grey picture: the brightness of its pixels."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import resize
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.depth.maps import DepthMap, summarise
from vgen_eval_plugins.pictures import RGB, channel_range, read_painted

__all__ = ["Luminance", "coloured_fraction", "to_luminance"]

COLOUR_LEVELS = 64
"""A pixel is clearly coloured when its channels lie further apart than this.

Compression leaves grey within some 20 levels, a sepia tint within some 50.
"""

COLOUR_SHARE = 0.1
"""Share of clearly coloured pixels above which a picture is no grey one."""

BAND = 1 << 14
"""Pixels turned to floats in one go."""

SAMPLED_PIXELS = 1 << 16
CONSTANT_RANGE = 2

_WEIGHTS = {
    "bt709": (0.2126, 0.7152, 0.0722),
    "bt601": (0.299, 0.587, 0.114),
    "mean": (1 / 3, 1 / 3, 1 / 3),
}


_LEVELS = np.arange(256) / 255
_LINEAR = np.where(_LEVELS <= 0.04045, _LEVELS / 12.92, ((_LEVELS + 0.055) / 1.055) ** 2.4)
"""Of each 8-bit level: the light that sRGB (IEC 61966-2-1) means by it."""


def to_luminance(picture: RGB, weights: str, gamma: str = "none") -> NDArray[np.float32]:
    """float32 (H, W), 0..1: weighted mean of the channels, or the largest one.

    Of the levels as they are, or, with `gamma` "srgb", of the light that they mean.
    """
    if weights == "max":
        red, green, blue = cv2.split(picture)
        most = np.asarray(cv2.max(cv2.max(red, green), blue))
        levels = _LINEAR if gamma == "srgb" else _LEVELS
        return np.asarray(levels.astype(np.float32)[most])
    if gamma == "srgb":
        light = cv2.LUT(picture, _LINEAR.astype(np.float32))
        return np.asarray(cv2.transform(light, np.array([_WEIGHTS[weights]])), np.float32)
    row = np.array([_WEIGHTS[weights]]) / 255
    grey = np.empty(picture.shape[:2], np.float32)
    step = max(1, BAND // picture.shape[1])
    for top in range(0, len(picture), step):  # float copies of a few rows stay in the cache
        cv2.transform(picture[top : top + step].astype(np.float32), row, grey[top : top + step])
    return grey


def coloured_fraction(picture: RGB) -> float:
    """Part of the pixels that are clearly coloured, 0..1; large pictures on evenly spaced rows."""
    rows = picture[:: max(1, picture.size // 3 // SAMPLED_PIXELS)]
    red, green, blue = cv2.split(rows)
    high = cv2.max(cv2.max(red, green), blue)
    low = cv2.min(cv2.min(red, green), blue)
    spread = np.asarray(cv2.subtract(high, low))
    return float(np.count_nonzero(spread > COLOUR_LEVELS) / spread.size)


class Luminance:
    """Grey picture -> relative depth, 0 black to 1 white, whichever way it runs.

    The 8-bit RGB is brought to the original's size first, then its luminance is taken, its gamma
    left in, as "Open-Source Image Editing Models Are Zero-Shot Vision Learners"
    (arXiv 2605.04566) does. `colour_in_gray` marks a picture with colours in it, a rainbow map
    for one, of which brightness is no reading.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "depth"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """How brightness is made of three channels."""

        weights: Annotated[
            Literal["bt709", "bt601", "mean", "max"],
            msgspec.Meta(description="BT.709 or BT.601 luma, channel mean or maximum."),
        ] = "bt709"
        gamma: Annotated[
            Literal["none", "srgb"],
            msgspec.Meta(description="srgb: the levels are made linear in light first."),
        ] = "none"

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """DepthMap, float32 at `scene.size`, of uint8 (H, W, 3) RGB; Undecodable otherwise."""
        painted, flags = read_painted(answer, scene)
        coloured = coloured_fraction(painted)
        if coloured > COLOUR_SHARE:
            flags.append("colour_in_gray")
        height, width = scene.size
        restored = np.ascontiguousarray(resize(painted, height=height, width=width, kind="map"))
        values = to_luminance(restored, self.options.weights, self.options.gamma)
        summary = summarise(values, "relative")
        # brightness never spans more than the widest channel: most pictures need no second look
        if (summary["high"] - summary["low"]) * 255 <= CONSTANT_RANGE + 0.01 and (
            channel_range(painted) <= CONSTANT_RANGE
        ):
            flags.append("constant")
        summary |= {"coloured_fraction": round(coloured, 4), "fit": scene.fit}
        return Prediction(value=DepthMap(values, "relative"), flags=tuple(flags), summary=summary)
