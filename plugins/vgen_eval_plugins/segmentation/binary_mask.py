"""Reads a mask from a picture that shows the target bright, or in one colour, on black."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import resize
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.colours import AnyColour, Paint, as_rgb, spell
from vgen_eval_plugins.pictures import (
    RGB,
    channel_range,
    read_painted,
)
from vgen_eval_plugins.segmentation.cuts import cut_adaptive, cut_fixed, cut_otsu, cut_two_means
from vgen_eval_plugins.segmentation.mask_colour import cut_colour, far_from_both

__all__ = ["BinaryMask", "BinaryMaskOptions", "far_fraction", "to_grey"]

Grey = NDArray[np.uint8]

FAR_LEVELS = 32
"""A pixel is near black (white) when every channel is within this of 0 (255)."""

FAR_PIXELS = 1 << 18

WHITE = Paint("#ffffff", "white")
BLACK = Paint("#000000", "black")

_WEIGHTS = {"bt709": (0.2126, 0.7152, 0.0722), "mean": (1 / 3, 1 / 3, 1 / 3)}


def to_grey(picture: RGB, kind: str) -> Grey:
    """uint8 (H, W): BT.601 or BT.709 luma, the mean of the channels or the largest."""
    if kind == "max":
        red, green, blue = cv2.split(picture)
        return np.asarray(cv2.max(cv2.max(red, green), blue), np.uint8)
    if kind == "bt601":
        return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), np.uint8)
    return np.asarray(cv2.transform(picture, np.array([_WEIGHTS[kind]])), np.uint8)


def _weights(kind: str) -> NDArray[np.float64]:
    """R, G, B of brightness; of `max` those of the mean, for a cluster's colour is no grey."""
    luma = {"bt601": (0.299, 0.587, 0.114)} | _WEIGHTS
    return np.array(luma.get(kind, luma["mean"]))


def far_fraction(picture: RGB, colour: AnyColour | Paint = (255, 255, 255)) -> float:
    """Part of the pixels that are neither near black nor near the target's colour, 0..1.

    Large pictures are read on evenly spaced rows: a flag needs no more.
    """
    rows = picture[:: max(1, picture.size // 3 // FAR_PIXELS)]
    return far_from_both(rows, colour) / (rows.size // 3)


class BinaryMaskOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the target is painted, how grey is made and where it is cut."""

    gray: Annotated[
        Literal["bt601", "bt709", "mean", "max"],
        msgspec.Meta(description="Grey: BT.601 or BT.709 luma, channel mean or maximum."),
    ] = "bt601"
    method: Annotated[
        Literal["otsu", "fixed", "adaptive", "kmeans2"],
        msgspec.Meta(
            description="Cut at Otsu's threshold, a fixed one, that of each pixel's "
            "neighbourhood, or between two clusters of colours."
        ),
    ] = "otsu"
    threshold: Annotated[
        int, msgspec.Meta(description="For `fixed`: above it is target.", ge=0, le=254)
    ] = 128
    kernel: Annotated[
        Literal["mean", "gaussian"],
        msgspec.Meta(description="For `adaptive`: how the neighbours are weighted."),
    ] = "mean"
    block: Annotated[
        int, msgspec.Meta(description="For `adaptive`: side in pixels, odd.", ge=3, le=1023)
    ] = 51
    offset: Annotated[
        float, msgspec.Meta(description="For `adaptive`: taken off the mean.", ge=-255, le=255)
    ] = 0.0
    resize: Annotated[
        Literal["gray", "nearest_after"],
        msgspec.Meta(
            description="To the original's size before the cut, bilinear, or after it, nearest."
        ),
    ] = "gray"
    min_range: Annotated[
        int, msgspec.Meta(description="Channel range that is no flat picture.", ge=0, le=255)
    ] = 32
    colour: Annotated[
        AnyColour | Paint | None,
        msgspec.Meta(
            description='Target\'s colour on black, "#rrggbb", [r, g, b] or {rgb, word}; a pixel '
            "goes to the nearer of the two, and `method` is not asked. null: bright on dark."
        ),
    ] = None
    max_distance: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=442)] | None,
        msgspec.Meta(description="For `colour`: RGB distance up to which a pixel is target."),
    ] = None

    def __post_init__(self) -> None:
        if self.block % 2 == 0:
            raise ValueError(f"`block` is odd, a pixel with as many on either side: {self.block}")
        if self.colour is not None and max(as_rgb(self.colour)) < FAR_LEVELS:
            raise ValueError("`colour` is black, as the rest is")
        if self.colour is None and self.max_distance is not None:
            raise ValueError("`max_distance` is from a `colour`, and none is named")


class BinaryMask:
    """Picture -> mask: grey, bilinear to the original's size, then a threshold.

    ProbeGen (arXiv 2609.07884) takes Otsu's threshold. Otsu splits any picture, a flat or barely
    noisy one too, so a picture whose largest channel range is under `min_range` is all or nothing
    by its mean. The range is of channels, not of luma: pure blue on black has luma 29 and is a
    good mask. Inverted masks are taken as they are.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "mask"
    Options: ClassVar[type[BinaryMaskOptions]] = BinaryMaskOptions

    def __init__(self, options: BinaryMaskOptions) -> None:
        self.options = options

    def fields(self, scene: Scene) -> Mapping[str, str]:  # noqa: ARG002
        """{colour} of the target and {rest} of all else, "red (#ff0000)"."""
        return {"colour": spell(self.options.colour or WHITE), "rest": spell(BLACK)}

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """bool (H, W) at `scene.size` from uint8 (H, W, 3) RGB; Undecodable for anything else."""
        painted, flags = read_painted(answer, scene)
        far = far_fraction(painted, self.options.colour or WHITE)
        if far > 0.5:
            flags.append("not_a_mask")
        grey = to_grey(painted, self.options.gray)
        is_flat = self._is_flat(painted, grey)
        if is_flat:
            flags.append("constant")
        mask, threshold = self._read(painted, grey, scene.size, is_flat=is_flat)
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

    def _read(
        self, painted: RGB, grey: Grey, size: tuple[int, int], *, is_flat: bool
    ) -> tuple[NDArray[np.bool_], int | None]:
        """The mask at `size`, and the grey level that it was cut at, where there is one."""
        options = self.options
        by_colour = options.colour is not None
        if is_flat and not by_colour:
            # sums are exact; OpenCV's mean of a picture of 127s is a little above 127
            return np.full(size, cv2.sumElems(grey)[0] > 127 * grey.size), None
        pixels: Any = painted if by_colour or options.method == "kmeans2" else grey
        height, width = size
        if options.resize == "gray":
            pixels = resize(pixels, height=height, width=width, kind="map")
        mask, threshold = self._cut(pixels)
        return resize(mask, height=height, width=width, kind="labels"), threshold

    def _is_flat(self, picture: RGB, grey: Grey) -> bool:
        low, high, _, _ = cv2.minMaxLoc(grey)
        if high - low >= self.options.min_range:  # grey never spans more than its widest channel
            return False
        return channel_range(picture) < self.options.min_range

    def _cut(self, pixels: Any) -> tuple[NDArray[np.bool_], int | None]:
        """Of RGB (H, W, 3) for a colour and for clusters, of grey (H, W) otherwise."""
        options = self.options
        if options.colour is not None:
            return cut_colour(pixels, options.colour, options.max_distance), None
        if options.method == "kmeans2":
            return cut_two_means(pixels, _weights(options.gray)), None
        if options.method == "fixed":
            return cut_fixed(pixels, options.threshold), options.threshold
        if options.method == "adaptive":
            return cut_adaptive(
                pixels,
                kernel=options.kernel,
                block=options.block,
                offset=options.offset,
                min_range=options.min_range,
            )
        return cut_otsu(pixels)
