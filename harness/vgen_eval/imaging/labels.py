"""Label files to class indices: what is stored, never the colours it is shown in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.arrays import is_array_file, load_array, squeeze
from vgen_eval.imaging.opening import open_picture
from vgen_eval.imaging.samples import read_samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["decode_labels"]

_FORMATS = ("PNG", "TIFF", "GIF", "BMP")
"""A lossy format would invent labels."""


def decode_labels(data: bytes, *, what: str, key: str | None = None) -> NDArray[np.int32]:
    """int32 (H, W) indices of a .npy, .npz, PNG, TIFF, GIF or BMP file's bytes.

    A palette's indices are the labels, whatever its colours; alpha is left aside. `key`: array of
    a .npz (None: its only one). Undecodable, naming `what`, for a colour picture, for numbers that
    are not whole and for what int32 cannot hold.
    """
    import numpy as np

    array = _read(data, what=what, key=key)
    if array.ndim != 2 or array.size == 0:
        raise Undecodable(f"{what}: labels are (H, W), the shape is {array.shape}")
    if array.dtype.kind == "f" and not (np.isfinite(array).all() and (array % 1 == 0).all()):
        raise Undecodable(f"{what}: holds numbers that are not whole, no labels")
    limits = np.iinfo(np.int32)
    if array.dtype.itemsize >= 4 and not limits.min <= array.min() <= array.max() <= limits.max:
        raise Undecodable(f"{what}: holds numbers that no label has, up to {array.max()}")
    return array.astype(np.int32)


def _read(data: bytes, *, what: str, key: str | None) -> NDArray[Any]:
    if is_array_file(data):
        return squeeze(load_array(data, what=what, key=key))
    with open_picture(data, what=what, only=_FORMATS) as picture:
        array = read_samples(picture, data).array
    if array.ndim == 3:
        raise Undecodable(
            f"{what}: is a colour picture, no indices: read it with a decoder that knows the "
            "palette, or save the indices as grey or palette PNG"
        )
    return array
