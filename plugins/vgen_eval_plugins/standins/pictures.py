"""What stand-ins of services see in a picture: its bright parts, and how many patches they form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import decode_image, encode_png

__all__ = ["bright_parts", "count_patches", "kind_of", "read_picture"]

RGB = NDArray[np.uint8]


def kind_of(data: bytes) -> str | None:
    """Media type of a picture by its first bytes."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    signatures = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    return next((kind for mark, kind in signatures.items() if data.startswith(mark)), None)


def read_picture(data: bytes, label: str) -> RGB:
    """uint8 (H, W, 3); ValueError when it is no picture, or another kind than its label says."""
    if kind_of(data) != label:
        raise ValueError(f"Image does not match the provided media type {label}")
    try:
        return decode_image(data, what="image")
    except Undecodable as exc:
        raise ValueError(exc.what) from None


def _bright(picture: RGB) -> Any:
    """bool (H, W): brighter than the middle between the darkest and the brightest pixel."""
    grey = picture.mean(axis=2)
    return grey > (grey.min() + grey.max()) / 2


def bright_parts(picture: RGB) -> bytes:
    """A PNG of the picture's size, its bright parts white on black."""
    mask = (_bright(picture) * 255).astype(np.uint8)
    return encode_png(np.repeat(mask[..., None], 3, axis=2))


def count_patches(picture: RGB) -> int:
    """How many separate bright patches there are."""
    import cv2

    return int(cv2.connectedComponents(_bright(picture).astype(np.uint8))[0]) - 1
