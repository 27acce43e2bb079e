"""Mask files and arrays to True and False, by one rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.arrays import is_array_file, load_array, squeeze
from vgen_eval.imaging.opening import open_picture
from vgen_eval.imaging.samples import read_samples

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

__all__ = ["decode_mask", "to_bool"]


def decode_mask(data: bytes, *, what: str, key: str | None = None) -> NDArray[np.bool_]:
    """bool (H, W) of a picture's, .npy's or .npz's bytes, by the rule of `to_bool`.

    A picture is read as it is seen: a palette by its colours, of colours the brightest channel,
    and transparent pixels are no part of the mask (an alpha that is the same everywhere says
    nothing). `key`: array of a .npz (None: its only one). Undecodable, naming `what`, otherwise.
    """
    if is_array_file(data):
        array, top = squeeze(load_array(data, what=what, key=key)), None
    else:
        with open_picture(data, what=what) as picture:
            array, top = _read_grey(picture, data)
    if array.ndim != 2 or array.size == 0:
        raise Undecodable(f"{what}: a mask is (H, W), the shape is {array.shape}")
    return to_bool(array, what=f"{what}: the mask", top=top)


def _read_grey(picture: PIL.Image.Image, data: bytes) -> tuple[NDArray[Any], int | None]:
    import numpy as np

    if picture.mode in {"P", "PA"}:
        see_through = picture.mode == "PA" or "transparency" in picture.info
        picture = picture.convert("RGBA" if see_through else "RGB")
    samples = read_samples(picture, data, seen=True)
    array = samples.array if samples.array.ndim == 2 else samples.array.max(axis=2)
    alpha = samples.alpha
    if alpha is not None and alpha.min() != alpha.max():
        array = np.where(alpha > (samples.top or 255) // 2, array, 0).astype(array.dtype)
    return array, samples.top


def to_bool(array: NDArray[Any], *, what: str, top: int | None = None) -> NDArray[np.bool_]:
    """bool of the same shape: True where the target is; Undecodable, naming `what`, otherwise.

    0 and one positive number: the number. Else grey levels, above half of their range: 0 to `top`,
    0 to 255 in uint8, 0 to 1 in floats. NaN, infinity, negative numbers and whole numbers of no
    known range are refused.
    """
    import numpy as np

    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf":
        raise Undecodable(f"{what} is of the type {array.dtype}, no numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise Undecodable(f"{what} holds values that are not finite")
    low, high = array.min(), array.max()
    if low < 0:
        raise Undecodable(f"{what} holds negative values, down to {low}")
    if array.dtype.kind == "f" and high <= 1:
        return np.asarray(array > 0.5)
    if bool(((array == 0) | (array == high)).all()):
        return np.asarray(array > 0)
    if top is None and array.dtype == np.uint8:
        top = 255
    if top is None:
        raise Undecodable(f"{what} holds more than two values, up to {high}")
    return np.asarray(array > top // 2)
