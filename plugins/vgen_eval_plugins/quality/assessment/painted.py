"""Painted answers -> quality: a grey level, or the length of a bar. Our protocol, no paper's."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.pictures import read_painted

__all__ = ["BarLength", "BarOptions", "GreyLevel", "GreyOptions"]

RGB = NDArray[np.uint8]

UNEVEN = 0.1
"""Deviation of the middle of the levels, of 0..1, above which a picture is not one grey."""
COLOURED = 0.1
"""Mean spread of the channels, of 0..1, above which a picture is not grey."""
OFF_START = 0.03
"""Of the width: how far from the left edge a bar may begin."""
FULL = 0.7
"""Of its box, what a bar fills at least; something else fills less."""


class GreyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a level is read off a picture that is not even."""

    trim: Annotated[
        float,
        msgspec.Meta(
            description="Part of the pixels, darkest and brightest each, left out.", ge=0, lt=0.5
        ),
    ] = 0.1


class GreyLevel:
    """Picture -> quality: its mean luminance, black 0 and white 1.

    BT.601 weights on the values as they are stored; the darkest and the brightest tenth of the
    pixels do not count, so that a frame, a caption or noise moves it little.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = GreyOptions

    def __init__(self, options: GreyOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The quality, 0..1.

        Flags: wrong_aspect, copied_input, `uneven` (not one grey), colour_in_gray. Undecodable
        when the answer is no picture.
        """
        picture, flags = read_painted(answer, scene)
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        levels = np.sort(grey, axis=None)
        cut = int(self.options.trim * levels.size)
        middle = levels[cut : levels.size - cut].astype(np.float64) / 255
        deviation = float(middle.std())
        spread = float((picture.max(axis=2) - picture.min(axis=2)).mean()) / 255
        flags += ["uneven"] if deviation > UNEVEN else []
        flags += ["colour_in_gray"] if spread > COLOURED else []
        quality = float(middle.mean())
        return Prediction(
            value=quality,
            flags=tuple(flags),
            summary={"quality": quality, "deviation": deviation},
        )


class BarOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is bar and what is ground."""

    threshold: Annotated[
        float, msgspec.Meta(description="Luminance, of 0..1, below which it is bar.", gt=0, lt=1)
    ] = 0.5
    least_area: Annotated[
        float, msgspec.Meta(description="Of the picture, that a bar takes at least.", ge=0, lt=1)
    ] = 0.0005


class BarLength:
    """Picture -> quality: the length of a dark bar on a bright ground, over the picture's width.

    The bar is the largest dark component. It has to fill its box and to be no higher than half of
    the picture; it is meant to begin at the left edge.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "quality"
    Options: ClassVar[type[msgspec.Struct]] = BarOptions

    def __init__(self, options: BarOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The quality, 0..1: the median length of the bar's rows over the width.

        Flags: wrong_aspect, copied_input, `several_bars`, `bar_off_start` (does not begin at the
        left edge). Undecodable when there is no bar, or what is dark is none.
        """
        picture, flags = read_painted(answer, scene)
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        dark = (grey < round(255 * self.options.threshold)).astype(np.uint8)
        height, width = dark.shape
        count, labels, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
        areas = stats[1:, cv2.CC_STAT_AREA]
        large = areas >= max(1.0, self.options.least_area * dark.size)
        if count < 2 or not large.any():
            raise Undecodable("no bar: nothing in the picture is dark")
        bar = 1 + int(areas.argmax())
        left, top, long, high = (int(stats[bar, at]) for at in range(4))
        if high > height / 2:
            raise Undecodable(f"no bar: what is dark is {high} of {height} pixels high")
        if areas[bar - 1] < FULL * long * high:
            raise Undecodable("no bar: what is dark is no rectangle")
        rows = (labels[top : top + high, left : left + long] == bar).sum(axis=1)
        length = float(np.median(rows))
        flags += ["several_bars"] if int(large.sum()) > 1 else []
        flags += ["bar_off_start"] if left > OFF_START * width else []
        quality = length / width
        return Prediction(
            value=quality,
            flags=tuple(flags),
            summary={"quality": quality, "length": length, "width": width},
        )
