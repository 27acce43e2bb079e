"""Files made by hand: what the tests read back was not written by the code that they test."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
import PIL.Image
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def saved(array: Any, form: str = "PNG", mode: str | None = None, **options: Any) -> bytes:
    """An array, or a Pillow picture, as a file that Pillow writes."""
    picture = array if isinstance(array, PIL.Image.Image) else PIL.Image.fromarray(array)
    buffer = io.BytesIO()
    (picture if mode is None else picture.convert(mode)).save(buffer, form, **options)
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(head: tuple[int, int, int, int], pixels: bytes, *extra: bytes) -> bytes:
    """A PNG file. head: width, height, bits, colour type; pixels: rows, filter bytes included."""
    ihdr = struct.pack(">IIBBBBB", *head, 0, 0, 0)
    body = chunk(b"IHDR", ihdr) + b"".join(extra) + chunk(b"IDAT", zlib.compress(pixels))
    return SIGNATURE + body + chunk(b"IEND", b"")


def png16(array: NDArray[np.uint16], *extra: bytes) -> bytes:
    """A PNG file of 16 bits a sample: (H, W) grey, or (H, W, 2, 3 or 4)."""
    planes = array.reshape(*array.shape[:2], -1)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in planes)
    height, width, channels = planes.shape
    return png((width, height, 16, _COLOUR_TYPES[channels]), rows, *extra)


def tiff_grey(array: NDArray[Any], *, photometric: int) -> bytes:
    """A TIFF file of grey numbers, 8 or 16 bits; photometric 0: 0 is white, 1: 0 is black."""
    height, width = array.shape
    body = array.astype(array.dtype.newbyteorder("<")).tobytes()
    entries = [
        (256, width), (257, height), (258, array.dtype.itemsize * 8), (259, 1), (262, photometric),
        (273, 8), (277, 1), (278, height), (279, len(body)),
    ]  # fmt: skip
    table = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    head = b"II*\0" + struct.pack("<I", 8 + len(body))
    return head + body + struct.pack("<H", len(entries)) + table + bytes(4)


def png_few_bits(labels: NDArray[np.uint8], bits: int) -> bytes:
    """A grey PNG file of 1, 2 or 4 bits a sample."""
    rows = []
    for row in labels:
        spelled = "".join(f"{value:0{bits}b}" for value in row)
        spelled += "0" * (-len(spelled) % 8)
        rows.append(bytes([0, *(int(spelled[at : at + 8], 2) for at in range(0, len(spelled), 8))]))
    return png((labels.shape[1], labels.shape[0], bits, 0), b"".join(rows))


def npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npy_head(descr: str, shape: tuple[int, ...]) -> bytes:
    """The header of an array file and nothing after it."""
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", npy(array))
    return buffer.getvalue()


def exif(orientation: int) -> PIL.Image.Exif:
    found = PIL.Image.Exif()
    found[0x0112] = orientation
    return found


def pfm(array: NDArray[np.float32], order: str = "<", scale: float = 1.0) -> bytes:
    sign = -scale if order == "<" else scale
    head = f"{'Pf' if array.ndim == 2 else 'PF'}\n{array.shape[1]} {array.shape[0]}\n{sign}\n"
    return head.encode() + array[::-1].astype(f"{order}f4").tobytes()


def exr(
    channels: dict[str, NDArray[Any]],
    *,
    data: tuple[int, int, int, int] | None = None,
    display: tuple[int, int, int, int] | None = None,
    flags: int = 0,
    sampling: int = 1,
) -> bytes:
    """An uncompressed EXR file. Windows: left, top, right, bottom, both ends included."""
    height, width = next(iter(channels.values())).shape
    window = data or (0, 0, width - 1, height - 1)
    kinds = {np.dtype(np.uint32): 0, np.dtype(np.float16): 1, np.dtype(np.float32): 2}

    def attribute(name: str, kind: str, value: bytes) -> bytes:
        return f"{name}\0{kind}\0".encode() + struct.pack("<I", len(value)) + value

    listed = b"".join(
        name.encode() + b"\0" + struct.pack("<iIii", kinds[array.dtype], 0, sampling, sampling)
        for name, array in sorted(channels.items())
    )
    head = b"v/1\x01" + struct.pack("<I", 2 | flags)
    head += attribute("channels", "chlist", listed + b"\0")
    head += attribute("compression", "compression", b"\0")
    head += attribute("dataWindow", "box2i", struct.pack("<4i", *window))
    head += attribute("displayWindow", "box2i", struct.pack("<4i", *(display or window)))
    head += attribute("lineOrder", "lineOrder", b"\0")
    head += attribute("pixelAspectRatio", "float", struct.pack("<f", 1))
    head += attribute("screenWindowCenter", "v2f", struct.pack("<2f", 0, 0))
    head += attribute("screenWindowWidth", "float", struct.pack("<f", 1)) + b"\0"
    rows = [b"".join(a[y].tobytes() for _, a in sorted(channels.items())) for y in range(height)]
    blocks = [struct.pack("<iI", window[1] + y, len(row)) + row for y, row in enumerate(rows)]
    at, offsets = len(head) + 8 * height, b""
    for block in blocks:
        offsets += struct.pack("<Q", at)
        at += len(block)
    return head + offsets + b"".join(blocks)
