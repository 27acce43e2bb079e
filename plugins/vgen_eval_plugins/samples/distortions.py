"""Known distortions of a photograph: the same pixels for the same line, on every machine but jpeg.

What a JPEG encoder rounds to is the library's affair and may differ by a level between versions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["Distortion", "DistortionKind", "distort"]

RGB = NDArray[np.uint8]

DistortionKind = Literal["blur", "noise", "jpeg", "blocks", "dark", "contrast"]

_RANGES: Mapping[DistortionKind, tuple[float, float]] = {
    "blur": (0.1, 50), "noise": (0.1, 255), "jpeg": (1, 100), "blocks": (2, 64),
    "dark": (0, 1), "contrast": (0, 1),
}  # fmt: skip
_WHOLE = ("jpeg", "blocks")


class Distortion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One distortion.

    `amount` by kind. blur: sigma of a Gaussian in pixels. noise: standard deviation of white noise
    in levels, each channel its own. jpeg: the quality. blocks: side of the squares that become
    their mean. dark: what levels are multiplied by. contrast: what is left of the distance from the
    picture's mean colour.
    """

    kind: DistortionKind
    amount: float
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Of noise."""

    def __post_init__(self) -> None:
        low, high = _RANGES[self.kind]
        if not low <= self.amount <= high:
            raise ValueError(f"{self.kind} of {self.amount:g}: {low:g} to {high:g} was wanted")
        if self.kind in _WHOLE and self.amount != int(self.amount):
            raise ValueError(f"{self.kind} of {self.amount:g}: a whole number was wanted")


def distort(picture: RGB, distortions: Sequence[Distortion]) -> RGB:
    """uint8 (H, W, 3) after one distortion and then the next."""
    for each in distortions:
        picture = _METHODS[each.kind](picture, each)
    return picture


def _levels(values: NDArray[Any]) -> RGB:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def _blur(picture: RGB, how: Distortion) -> RGB:
    import cv2

    # in floats: what cv2 blurs of bytes it reckons with as few bits as the machine likes
    return _levels(cv2.GaussianBlur(picture.astype(np.float64), (0, 0), how.amount))


def _add_noise(picture: RGB, how: Distortion) -> RGB:
    noise = np.random.default_rng(how.seed).normal(0.0, how.amount, picture.shape)
    return _levels(picture + noise)


def _compress(picture: RGB, how: Distortion) -> RGB:
    from vgen_eval.imaging import recompress

    return recompress(picture, f"jpeg:{int(how.amount)}")


def _average_blocks(picture: RGB, how: Distortion) -> RGB:
    side = int(how.amount)
    found = picture.copy()
    for top in range(0, picture.shape[0], side):
        for left in range(0, picture.shape[1], side):
            block = picture[top : top + side, left : left + side]
            found[top : top + side, left : left + side] = np.rint(block.mean(axis=(0, 1)))
    return found


def _darken(picture: RGB, how: Distortion) -> RGB:
    return _levels(picture * how.amount)


def _fade(picture: RGB, how: Distortion) -> RGB:
    mean = picture.reshape(-1, 3).mean(axis=0)
    return _levels(mean + (picture - mean) * how.amount)


_METHODS: Mapping[DistortionKind, Callable[[RGB, Distortion], RGB]] = {
    "blur": _blur,
    "noise": _add_noise,
    "jpeg": _compress,
    "blocks": _average_blocks,
    "dark": _darken,
    "contrast": _fade,
}
