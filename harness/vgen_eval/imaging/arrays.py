"""NumPy's array files: header first, then the numbers; never an object, never a pickle."""

from __future__ import annotations

import io
import math
from typing import IO, TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.limits import MAX_BYTES, MAX_UNPACKED, check_bytes, check_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["is_array_file", "load_array", "squeeze"]

_NPY = b"\x93NUMPY"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_NUMBERS = "biuf"
_MOST_AXES = 8
_BLOCK = 1 << 20


def is_array_file(data: bytes) -> bool:
    """Do the bytes begin as .npy or .npz does?"""
    return data.startswith((_NPY, *_ZIP))


def load_array(data: bytes, *, what: str, key: str | None = None) -> NDArray[Any]:
    """The numbers in the bytes of a .npy or .npz file, in the machine's byte order.

    `key`: which array of a .npz; None: its only one. Undecodable, naming `what`, for all else:
    objects, records, text, complex numbers, and a header that declares more than there is, or more
    than MAX_PIXELS pixels.
    """
    if data.startswith(_NPY):
        return _load_npy(io.BytesIO(data), len(data), what=what, limit=MAX_BYTES)
    if data.startswith(_ZIP):
        return _load_npz(data, what=what, key=key)
    seen = "it is empty" if not data else f"it begins with {data[:8]!r}"
    raise Undecodable(f"{what}: not an array file ({seen})")


def squeeze(array: NDArray[Any]) -> NDArray[Any]:
    """(1, H, W) and (H, W, 1) as (H, W); all else as it is."""
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    return array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array


def _load_npy(file: IO[bytes], length: int, *, what: str, limit: int) -> NDArray[Any]:
    """The array in the next `length` bytes of `file`, read once the header is found fit."""
    import numpy as np

    shape, fortran, dtype = _read_header(file, what=what)
    if dtype.hasobject:
        raise Undecodable(f"{what}: holds objects, which need a pickle: not allowed")
    if dtype.kind not in _NUMBERS:
        raise Undecodable(f"{what}: holds {dtype}, no numbers")
    sides = all(type(side) is int and 0 <= side < 1 << 40 for side in shape)
    if not sides or len(shape) > _MOST_AXES:
        raise Undecodable(f"{what}: not an array file: the shape that it declares cannot be")
    size = math.prod(shape) * dtype.itemsize
    check_bytes(size, what=f"{what}: {dtype} {shape}", limit=limit)
    check_map(shape, what=f"{what}: {dtype} {shape}")
    there = length - file.tell()
    if there < size:
        raise Undecodable(f"{what}: is cut off: {size} bytes declared, {there} there")
    try:
        flat = np.empty(math.prod(shape), dtype)
        _fill(file, flat, what=what)
        array = flat.reshape(shape, order="F" if fortran else "C")
        return np.ascontiguousarray(array, dtype.newbyteorder("=")).reshape(shape)
    except (ValueError, OverflowError, MemoryError) as exc:
        raise Undecodable(f"{what}: not an array file: {_words(exc)}") from exc


def _read_header(file: IO[bytes], *, what: str) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, is it in Fortran's order, type."""
    import numpy as np

    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        return readers[np.lib.format.read_magic(file)](file)
    # the header is a Python literal that anyone may have written
    except Exception as exc:
        raise Undecodable(f"{what}: not an array file: {_words(exc)}") from exc


def _fill(file: IO[bytes], flat: NDArray[Any], *, what: str) -> None:
    """Reads the numbers in place: an unpacker that is asked for all at once makes them twice."""
    import numpy as np

    view = flat.view(np.uint8)
    at = 0
    while at < len(view):
        found = np.frombuffer(file.read(min(_BLOCK, len(view) - at)), np.uint8)
        if not found.size:
            raise Undecodable(f"{what}: is cut off: {len(view)} bytes declared, {at} there")
        view[at : at + found.size] = found
        at += found.size


def _load_npz(data: bytes, *, what: str, key: str | None) -> NDArray[Any]:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            member = archive.getinfo(_choose(names, what=what, key=key))
            inside = f"{what}: {member.filename}"
            check_bytes(member.file_size, what=inside, limit=MAX_UNPACKED)
            with archive.open(member) as file:
                array = _load_npy(file, member.file_size, what=inside, limit=MAX_UNPACKED)
                while file.read(_BLOCK):  # to the end, where the checksum is compared
                    pass
            return array
    except Undecodable:
        raise
    # broken, encrypted, or packed in a way that is not built in: every unpacker has its own errors
    except Exception as exc:
        raise Undecodable(f"{what}: not an array file: {_words(exc)}") from exc


def _choose(names: list[str], *, what: str, key: str | None) -> str:
    keys = [name.removesuffix(".npy") for name in names]
    if key is None and len(keys) == 1:
        return names[0]
    if key is None or key not in keys:
        wanted = "one array was wanted" if key is None else f"no array '{key}'"
        cure = ": say which by its key" if key is None and keys else ""
        raise Undecodable(f"{what}: {wanted}, it holds {', '.join(keys) or 'none'}{cure}")
    return f"{key}.npy"


def _words(exc: Exception) -> str:
    return " ".join(str(exc).split())[:200] or type(exc).__name__
