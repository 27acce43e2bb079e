"""Resizing by what the pixels are: a photograph, a map of numbers, or labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Kind", "resize"]

Kind = Literal["photo", "map", "labels"]


def resize(array: NDArray[Any], *, height: int, width: int, kind: Kind) -> NDArray[Any]:
    """The array at (height, width), its own dtype and channels; itself when it has that size.

    photo: pixel areas averaged when both sides shrink, cubic otherwise; uint8. map: bilinear as
    Pillow does it, which is anti-aliased when it shrinks; uint8 or floats, NaN spreads to its
    neighbours. labels: the nearest pixel by pixel centres, Pillow's rule, ties to the right; any
    dtype, no value that was not there.
    """
    if array.shape[:2] == (height, width):
        return array
    if kind == "labels":
        return _nearest(array, height, width)
    if array.size == 0:
        raise ValueError(f"a picture without pixels cannot be resized: {array.shape}")
    return _photo(array, height, width) if kind == "photo" else _bilinear(array, height, width)


def _nearest(array: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    import numpy as np

    # whole numbers: a centre that falls on a border must not hang on rounding
    rows = (2 * np.arange(height) + 1) * array.shape[0] // (2 * height)
    columns = (2 * np.arange(width) + 1) * array.shape[1] // (2 * width)
    return np.asarray(array[rows].take(columns, axis=1))


def _photo(array: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    import cv2
    import numpy as np

    shrinks = height <= array.shape[0] and width <= array.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(array, (width, height), interpolation=method))


def _bilinear(array: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    import numpy as np
    import PIL.Image

    def one(plane: NDArray[Any]) -> NDArray[Any]:
        picture = PIL.Image.fromarray(np.ascontiguousarray(plane))
        return np.asarray(picture.resize((width, height), PIL.Image.Resampling.BILINEAR))

    is_8_bit = array.dtype == np.uint8
    if is_8_bit and array.shape[2:] in ((), (3,)):
        return one(array)
    numbers = array if is_8_bit else array.astype(np.float32)
    if array.ndim == 2:
        return one(numbers).astype(array.dtype)
    planes = [one(numbers[..., channel]) for channel in range(array.shape[2])]
    return np.stack(planes, axis=-1).astype(array.dtype)
