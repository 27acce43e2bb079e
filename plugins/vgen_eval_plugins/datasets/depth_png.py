"""Depth that a release stores as 16-bit grey PNG."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import decode_depth

__all__ = ["read_depth_png"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = 26
"""Bytes up to and with the kind of colour: bits a sample at 24, kind at 25 (0: grey)."""


def read_depth_png(data: bytes, *, what: str, metres: float) -> NDArray[np.float32]:
    """float32 (H, W) metres, `metres` to a unit; 0 stays 0, no reading.

    Undecodable, naming `what`, for anything but 16-bit grey: a map that somebody converted to 8
    bits would be read as depth of another scale.
    """
    if data[:8] != SIGNATURE or len(data) < HEADER:
        raise Undecodable(f"{what}: is no PNG, the release has grey ones of 16 bits")
    if data[24] != 16 or data[25] != 0:
        kind = "grey" if data[25] == 0 else "colour"
        raise Undecodable(
            f"{what}: is {kind} of {data[24]} bits, the release has grey PNGs of 16 bits"
        )
    return decode_depth(data, what=what, scale=metres)
