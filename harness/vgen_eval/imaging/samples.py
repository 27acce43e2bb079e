"""The numbers that a picture file stores, not the colours they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.imaging.opening import (
    depth_bits,
    orientation_of,
    read_deep,
    shows_zero_white,
    turn_upright,
)

if TYPE_CHECKING:
    import PIL.Image
    from numpy.typing import NDArray

__all__ = ["Samples", "read_samples"]


class Samples(msgspec.Struct, frozen=True, eq=False):
    """Stored numbers, upright; colours of a palette are left aside."""

    array: NDArray[Any]
    """(H, W), or (H, W, 3) of a file in colour: uint8, uint16, int32 or float32."""
    top: int | None
    """The largest number that the file's bits can hold; None for 32 bits and floats."""
    alpha: NDArray[Any] | None = None
    """(H, W), of the type of `array`."""


def read_samples(picture: PIL.Image.Image, data: bytes, *, seen: bool = False) -> Samples:
    """What an open picture stores; grey of 1, 2 and 4 bits is 0-1, 0-3, 0-15, as it lies there.

    `seen`: large numbers are light ones, in a file where 0 is white too.
    """
    falls, deep_grey = shows_zero_white(picture), depth_bits(picture, data) == 16
    samples = _read_samples(picture, data)
    if falls and samples.top is not None and samples.alpha is None and seen == deep_grey:
        top = samples.array.dtype.type(samples.top)
        return Samples(top - samples.array, samples.top)
    return samples


def _read_samples(picture: PIL.Image.Image, data: bytes) -> Samples:
    import numpy as np

    deep = read_deep(picture, data)
    if deep is not None:
        return _split(deep, top=65535)
    orientation, bits = orientation_of(picture), depth_bits(picture, data)
    if picture.mode in {"CMYK", "YCbCr", "LAB", "HSV"}:
        picture = picture.convert("RGB")
    array = turn_upright(np.array(picture), orientation)
    if picture.mode == "1":
        return Samples(array.astype(np.uint8), 1)
    if picture.mode.startswith("I") and bits == 16:
        return Samples(array.astype(np.uint16), 65535)
    if array.dtype in (np.int32, np.float32):
        return Samples(array, None)
    if picture.mode == "L" and bits in (2, 4):
        top = (1 << bits) - 1  # Pillow spreads them over 0-255
        return Samples(array // np.uint8(255 // top), top)
    return _split(array, top=255)


def _split(array: NDArray[Any], *, top: int) -> Samples:
    """Numbers and alpha apart; a colour file whose channels are equal is a grey one."""
    alpha = None
    if array.ndim == 3 and array.shape[2] in (2, 4):
        array, alpha = array[..., :-1], array[..., -1]
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim == 3 and _is_grey(array[::16, ::16]) and _is_grey(array):
        array = array[..., 0]
    return Samples(array, top, alpha)


def _is_grey(array: NDArray[Any]) -> bool:
    return bool((array[..., 1:] == array[..., :1]).all())
