"""OpenEXR files: the header is read here, within the limits; the pixels by the library OpenEXR."""

from __future__ import annotations

import importlib
import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.errors import MissingExtra, Undecodable
from vgen_eval.imaging.limits import MAX_UNPACKED, check_bytes, check_pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["choose_channel", "is_exr", "load_exr_library", "read_exr"]

_MAGIC = b"v/1\x01"
_DEEP, _MULTIPART = 0x800, 0x1000
_BYTES = {0: 4, 1: 2, 2: 4}
"""Pixel type of a channel -> bytes: uint, half, float."""
_MAX_TILE = 1 << 14

_Window = tuple[int, int, int, int]
"""Left, top, right, bottom, both ends included."""


class _Part(msgspec.Struct, frozen=True):
    data: _Window
    display: _Window
    channels: Mapping[str, int]
    """Name -> bytes of a pixel."""


def is_exr(data: bytes) -> bool:
    """Do the bytes begin as an OpenEXR file does?"""
    return data.startswith(_MAGIC)


def load_exr_library() -> Any:
    """The library; MissingExtra when it is not installed."""
    try:
        return importlib.import_module("OpenEXR")
    except ImportError as exc:
        raise MissingExtra("exr") from exc


def read_exr(data: bytes, *, what: str) -> dict[str, NDArray[Any]]:
    """Channel -> (H, W) of the first part, float16, float32 or uint32, on its display window.

    Where a file holds no data for a pixel of the window, floats are NaN.
    """
    part = _read_header(data, what=what)
    library = load_exr_library()
    try:
        file = library.File(io.BytesIO(data), separate_channels=True)
        found = {name: channel.pixels for name, channel in file.channels().items()}
    # the library raises RuntimeError, ValueError and others for what a broken file leads it into
    except Exception as exc:
        reason = " ".join(str(exc).split())[:200]
        raise Undecodable(f"{what}: the EXR file cannot be decoded: {reason}") from exc
    left, top, right, bottom = part.data
    size = (bottom - top + 1, right - left + 1)
    if set(found) != set(part.channels) or any(a.shape != size for a in found.values()):
        raise Undecodable(f"{what}: the EXR file does not hold the pixels that it declares")
    if part.data == part.display:
        return found
    return {name: _on_display(array, part) for name, array in found.items()}


def choose_channel(
    channels: Mapping[str, NDArray[Any]], name: str | None, *, best: Sequence[str], what: str
) -> NDArray[Any]:
    """The channel of that name; None: the only one, or the first of `best` that is there."""
    listed = ", ".join(channels)
    if name is not None:
        if name not in channels:
            raise Undecodable(f"{what}: no channel '{name}' (it has {listed})")
        return channels[name]
    if len(channels) == 1:
        return next(iter(channels.values()))
    for candidate in best:
        if candidate in channels:
            return channels[candidate]
    raise Undecodable(f"{what}: which channel? It has {listed}, none of {', '.join(best)}")


def _on_display(array: NDArray[Any], part: _Part) -> NDArray[Any]:
    import numpy as np

    left, top, right, bottom = part.display
    empty = np.nan if array.dtype.kind == "f" else 0
    canvas = np.full((bottom - top + 1, right - left + 1), empty, array.dtype)
    x, y = part.data[0] - left, part.data[1] - top
    rows = slice(max(0, y), min(canvas.shape[0], y + array.shape[0]))
    columns = slice(max(0, x), min(canvas.shape[1], x + array.shape[1]))
    if rows.start < rows.stop and columns.start < columns.stop:
        canvas[rows, columns] = array[
            rows.start - y : rows.stop - y, columns.start - x : columns.stop - x
        ]
    return canvas


def _read_header(data: bytes, *, what: str) -> _Part:
    """The first part, after the declared sizes of all of them were checked."""
    try:
        flags = struct.unpack_from("<I", data, 4)[0]
        if flags & _DEEP:
            raise Undecodable(f"{what}: is a deep EXR file, which holds no one value a pixel")
        parts = list(_read_parts(data, many=bool(flags & _MULTIPART), what=what))
    except (struct.error, IndexError, KeyError, ValueError) as exc:
        raise Undecodable(f"{what}: the header of the EXR file cannot be read") from exc
    total = 0
    for part in parts:
        pixels = max(
            (right - left + 1) * (bottom - top + 1)
            for left, top, right, bottom in (part.data, part.display)
        )
        total += pixels * sum(part.channels.values())
    check_bytes(total, what=what, limit=MAX_UNPACKED)
    if not parts or not parts[0].channels:
        raise Undecodable(f"{what}: the EXR file has no channel")
    return parts[0]


def _read_parts(data: bytes, *, many: bool, what: str) -> Iterator[_Part]:
    at = 8
    while True:
        attributes: dict[str, bytes] = {}
        while data[at] != 0:
            name, at = _read_name(data, at)
            _, at = _read_name(data, at)
            size = struct.unpack_from("<I", data, at)[0]
            at += 4
            if at + size > len(data):
                raise ValueError("an attribute is cut off")
            attributes[name] = data[at : at + size]
            at += size
        at += 1
        windows: list[_Window] = []
        for name in ("dataWindow", "displayWindow"):
            left, top, right, bottom = struct.unpack("<4i", attributes[name])
            check_pixels(right - left + 1, bottom - top + 1, what=what)
            windows.append((left, top, right, bottom))
        tile = attributes.get("tiles")
        if tile is not None and max(struct.unpack_from("<2I", tile)) > _MAX_TILE:
            raise ValueError("tiles that are too large")
        yield _Part(windows[0], windows[1], dict(_read_channels(attributes["channels"], what)))
        if not many or data[at] == 0:
            return


def _read_channels(found: bytes, what: str) -> Iterator[tuple[str, int]]:
    at = 0
    while found[at] != 0:
        name, at = _read_name(found, at)
        kind, _, across, down = struct.unpack_from("<iIii", found, at)
        at += 16
        if (across, down) != (1, 1):
            raise Undecodable(f"{what}: the channel '{name}' does not have every pixel")
        yield name, _BYTES[kind]


def _read_name(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at, at + 256)
    return data[at:end].decode("latin-1"), end + 1
