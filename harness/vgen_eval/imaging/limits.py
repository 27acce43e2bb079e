"""How large a file, a picture or an array may be: asked before anything of it is decoded."""

from __future__ import annotations

import math
import stat
from pathlib import Path

from vgen_eval.errors import Undecodable

__all__ = [
    "MAX_BYTES",
    "MAX_PIXELS",
    "MAX_UNPACKED",
    "check_bytes",
    "check_map",
    "check_pixels",
    "read_bytes",
]

MAX_PIXELS = 100_000_000
"""Declared pixels above which a picture is refused before it is decoded."""

MAX_BYTES = 1 << 30
"""Bytes of a file, and of an array that lies in it as it is."""

MAX_UNPACKED = 1 << 28
"""Bytes that a compressed array may declare: a small file can hold them all."""

MAX_CHANNELS = 4


def check_pixels(width: int, height: int, *, what: str) -> None:
    """Undecodable unless a declared size is that of a picture within MAX_PIXELS."""
    if width < 1 or height < 1:
        raise Undecodable(f"{what}: declares {width}x{height} pixels: there are none")
    if width * height > MAX_PIXELS:
        raise Undecodable(
            f"{what}: declares {width}x{height} pixels, over the limit of {MAX_PIXELS}"
        )


def check_map(shape: tuple[int, ...], *, what: str) -> None:
    """Undecodable when an array declares more than MAX_PIXELS pixels, its channels not counted.

    Up to four numbers at the end, or before the two sides, are channels.
    """
    pixels = math.prod(shape)
    if len(shape) > 2:
        pixels //= next((n for n in (shape[-1], shape[-3]) if 1 <= n <= MAX_CHANNELS), 1)
    if pixels > MAX_PIXELS:
        raise Undecodable(f"{what}: declares {pixels} pixels, over the limit of {MAX_PIXELS}")


def check_bytes(size: int, *, what: str, limit: int = MAX_BYTES) -> None:
    """Undecodable when a declared size in bytes is over the limit."""
    if size > limit:
        raise Undecodable(f"{what}: declares {size} bytes, over the limit of {limit}")


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file; Undecodable, naming it, when they cannot be had or are over `limit`."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise Undecodable(f"{path.name}: is no file of bytes")
        with path.open("rb") as file:
            found = file.read(limit + 1)
    except OSError as exc:
        raise Undecodable(f"{path.name}: cannot be read: {exc.strerror or exc}") from exc
    if len(found) > limit:
        raise Undecodable(f"{path.name}: is larger than the limit of {limit} bytes")
    return found
