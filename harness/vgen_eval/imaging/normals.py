"""Normal files to raw components: pictures that encode -1..1, arrays, EXR and PFM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.arrays import is_array_file, load_array
from vgen_eval.imaging.exr import is_exr, read_exr
from vgen_eval.imaging.opening import open_picture
from vgen_eval.imaging.pfm import is_pfm, read_pfm
from vgen_eval.imaging.samples import read_samples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["decode_normals"]

_AXES = (("X", "Y", "Z"), ("R", "G", "B"))


def decode_normals(data: bytes, *, what: str, key: str | None = None) -> NDArray[np.float32]:
    """float32 (H, W, 3) components as the file has them: no axis turned, no length changed.

    Pictures in colour and arrays of uint8 or uint16 encode n = v / 255 * 2 - 1 or v / 65535 * 2 -
    1; floats are components, of shape (H, W, 3) or (3, H, W). Pixels that are 0 in every channel,
    transparent, without length or not finite are NaN: there is no normal. `key`: array of a .npz
    (None: its only one). Undecodable, naming `what`, otherwise; MissingExtra for an EXR without
    its library.
    """
    import numpy as np

    array, alpha = _read(data, what=what, key=key)
    if array.ndim == 3 and array.shape[2] != 3 and array.shape[0] == 3:
        array = np.moveaxis(array, 0, 2)
    if array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
        raise Undecodable(f"{what}: normals are (H, W, 3), the shape is {array.shape}")
    if array.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            normals = array.astype(np.float32)
        x, y, z = (normals[..., axis] for axis in range(3))
        none = (x == 0) & (y == 0) & (z == 0)
        none |= ~(np.isfinite(x) & np.isfinite(y) & np.isfinite(z))
    elif array.dtype in (np.uint8, np.uint16):
        normals, none = _spread(array)
    else:
        raise Undecodable(f"{what}: holds {array.dtype}; normals are floats, uint8 or uint16")
    if alpha is not None:
        none |= alpha == 0
    normals[none] = np.nan
    return normals


def _read(data: bytes, *, what: str, key: str | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
    import numpy as np

    if is_array_file(data):
        array = load_array(data, what=what, key=key)
        return (array[0] if array.ndim == 4 and array.shape[0] == 1 else array), None
    if is_exr(data):
        return _stack(read_exr(data, what=what), what=what), None
    if is_pfm(data):
        return read_pfm(data, what=what), None
    with open_picture(data, what=what) as picture:
        if picture.mode in {"P", "PA"}:
            picture = picture.convert("RGB")  # noqa: PLW2901
        if len(picture.getbands()) < 3:
            raise Undecodable(f"{what}: is a grey picture, no normals: three channels are wanted")
        samples = read_samples(picture, data)
    array = samples.array
    if array.ndim == 2:  # equal channels are components too
        array = np.repeat(array[:, :, None], 3, axis=2)
    return array, samples.alpha


def _stack(channels: dict[str, NDArray[Any]], *, what: str) -> NDArray[Any]:
    """(H, W, 3) of X, Y, Z or R, G, B, of the one layer that has them."""
    import numpy as np

    layers: dict[str, dict[str, NDArray[Any]]] = {}
    for name, array in channels.items():
        layer, _, axis = name.rpartition(".")
        layers.setdefault(layer, {})[axis.upper()] = array
    found = [
        [layer[axis] for axis in axes]
        for layer in layers.values()
        for axes in _AXES
        if layer.keys() >= set(axes)
    ]
    if len(found) != 1:
        raise Undecodable(
            f"{what}: normals are the channels X, Y, Z or R, G, B of one layer, it has "
            + ", ".join(channels)
        )
    stacked = np.stack(found[0], axis=-1)
    if stacked.dtype.kind != "f":
        raise Undecodable(f"{what}: the channels hold {stacked.dtype}, normals are floats")
    return stacked


def _spread(array: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Components of encoded pixels, and where there is none.

    No whole number is the middle of the range: the two beside it, in all channels, are a normal
    of no length.
    """
    import numpy as np

    top = int(np.iinfo(array.dtype).max)
    red, green, blue = (array[..., channel] for channel in range(3))
    none = (red | green | blue) == 0
    half = array.dtype.type(top // 2)
    # unsigned numbers wrap round: what lies below the middle is far above it
    none |= ((red - half) <= 1) & ((green - half) <= 1) & ((blue - half) <= 1)
    values = (np.arange(top + 1) / top * 2.0 - 1.0).astype(np.float32)
    return values.take(array), none
