"""Depth files to metres: 16-bit pictures with a stated scale, arrays, EXR and PFM."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.arrays import is_array_file, load_array, squeeze
from vgen_eval.imaging.exr import choose_channel, is_exr, read_exr
from vgen_eval.imaging.opening import open_picture
from vgen_eval.imaging.pfm import is_pfm, read_pfm
from vgen_eval.imaging.samples import read_samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["decode_depth"]

_CHANNELS = ("Z", "Y", "R")
_FORMATS = ("PNG", "TIFF")


def decode_depth(
    data: bytes,
    *,
    what: str,
    scale: float | None = None,
    key: str | None = None,
    channel: str | None = None,
) -> NDArray[np.float32]:
    """float32 (H, W) metres of a .npy, .npz, EXR, PFM, PNG or TIFF file's bytes.

    `scale`: metres per unit. Whole numbers mean nothing without it and are refused; floats are
    metres where it is None. `key`: array of a .npz (None: its only one). `channel`: of an EXR
    (None: its only one, or Z, Y or R). NaN and infinity are kept. Undecodable, naming `what`, for
    all else; MissingExtra for an EXR without its library.
    """
    import numpy as np

    if scale is not None and not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"scale: metres per unit are positive, {scale} seen")
    array = _read(data, what=what, key=key, channel=channel)
    if array.ndim != 2 or array.size == 0:
        raise Undecodable(f"{what}: depth is (H, W), the shape is {array.shape}")
    if array.dtype.kind == "b":
        raise Undecodable(f"{what}: holds True and False, no depth")
    if scale is None and array.dtype.kind != "f":
        raise Undecodable(
            f"{what}: holds whole numbers ({array.dtype}), which are no metres: give the scale, "
            "in metres per unit (0.001 for millimetres)"
        )
    # what float32 cannot hold is as far as infinity; NaN stays, whatever its bits
    with np.errstate(over="ignore", invalid="ignore"):
        if scale is None:
            return array.astype(np.float32)
        return np.asarray(np.multiply(array, scale, dtype=np.float64), np.float32)


def _read(data: bytes, *, what: str, key: str | None, channel: str | None) -> NDArray[Any]:
    if is_array_file(data):
        return squeeze(load_array(data, what=what, key=key))
    if is_exr(data):
        return choose_channel(read_exr(data, what=what), channel, best=_CHANNELS, what=what)
    if is_pfm(data):
        return read_pfm(data, what=what)
    with open_picture(data, what=what, only=_FORMATS) as picture:
        if picture.mode in {"P", "PA"}:
            raise Undecodable(f"{what}: is a palette of colours, no depth")
        array = read_samples(picture, data).array
    if array.ndim == 3:
        raise Undecodable(
            f"{what}: is a colour picture, no depth: read it with a decoder of colours, or save "
            "the depth as 16-bit grey or floats"
        )
    return array
