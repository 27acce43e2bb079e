"""Writing pictures and maps with OpenCV and NumPy alone."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = [
    "jpeg_bytes",
    "rle_counts",
    "sha256",
    "write_indexed",
    "write_jpeg",
    "write_npy",
    "write_png",
]


def write_png(path: Path, array: NDArray[Any]) -> None:
    """A PNG of (H, W) uint8 or uint16, or (H, W, 3) RGB; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = array[..., ::-1] if array.ndim == 3 else array
    done, data = cv2.imencode(
        ".png", np.ascontiguousarray(stored), [cv2.IMWRITE_PNG_COMPRESSION, 1]
    )
    assert done
    path.write_bytes(data.tobytes())


def write_npy(path: Path, array: NDArray[Any]) -> None:
    """An array in NumPy's own format; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array, allow_pickle=False)


def jpeg_bytes(rgb: NDArray[np.uint8]) -> bytes:
    """A JPEG of quality 95 without chroma subsampling, so that its pixels drift little."""
    stream = io.BytesIO()
    Image.fromarray(rgb).save(stream, "JPEG", quality=95, subsampling=0)
    return stream.getvalue()


def write_jpeg(path: Path, rgb: NDArray[np.uint8]) -> None:
    """A JPEG file; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jpeg_bytes(rgb))


def write_indexed(
    path: Path, indices: NDArray[np.uint8], palette: list[tuple[int, int, int]]
) -> None:
    """A PNG of mode P: indices with a palette."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(indices)
    picture.putpalette([level for colour in palette for level in colour])
    picture.save(path)


def sha256(data: bytes) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def rle_counts(mask: NDArray[np.bool_]) -> list[int]:
    """COCO's uncompressed runs of a mask (H, W): columns first, the first run is of zeros."""
    flat = np.asarray(mask, bool).ravel(order="F")
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flat])))
    return [int(n) for n in np.diff(np.concatenate([[0], edges, [flat.size]]))]
