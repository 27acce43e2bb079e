"""Portable float maps: rows from the bottom up, in the byte order that the header's sign says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.limits import check_pixels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["is_pfm", "read_pfm"]

_MAGIC = (b"PF", b"Pf")
# one white-space ends the header: the pixels may begin with a byte that looks like another
_HEADER = re.compile(
    rb"P([Ff])\s+(\d{1,9})\s+(\d{1,9})\s+([-+]?[0-9.]+(?:[eE][-+]?\d+)?)(?:\r?\n|\s)"
)


def is_pfm(data: bytes) -> bool:
    """Do the bytes begin as a PFM file does?"""
    return data[:2] in _MAGIC and data[2:3].isspace()


def read_pfm(data: bytes, *, what: str) -> NDArray[np.float32]:
    """float32 (H, W), or (H, W, 3) of a colour map, the top row first.

    The size of the header's last number is left aside: Middlebury's files use it as a hint for
    viewers, not as a unit.
    """
    import numpy as np

    head = _HEADER.match(data[:256])
    if head is None:
        raise Undecodable(f"{what}: the header of the PFM file cannot be read")
    channels = 3 if head[1] == b"F" else 1
    width, height = int(head[2]), int(head[3])
    check_pixels(width, height, what=what)
    try:
        sign = float(head[4])
    except ValueError:
        sign = 0.0
    if sign == 0:
        raise Undecodable(f"{what}: the PFM header does not say the byte order: {head[4]!r}")
    size, there = width * height * channels * 4, len(data) - head.end()
    if there < size:
        raise Undecodable(f"{what}: is cut off: {size} bytes declared, {there} there")
    numbers = np.frombuffer(data, "<f4" if sign < 0 else ">f4", size // 4, head.end())
    shape = (height, width) if channels == 1 else (height, width, 3)
    return np.ascontiguousarray(numbers.reshape(shape)[::-1], np.float32)
