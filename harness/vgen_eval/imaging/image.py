"""The picture that models see: 8-bit RGB, read-only, known by the digest of its pixels."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["Image", "buffer_of", "encode_png"]


class Image:
    """An 8-bit RGB picture, read-only, as a model sees it."""

    def __init__(self, array: RGB) -> None:
        """`array`: uint8 (H, W, 3)."""
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype.char != "B":
            raise ValueError(f"uint8 (H, W, 3) wanted, {array.dtype} {array.shape} seen")
        self.array = array.view()
        self.array.flags.writeable = False

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The pixels, so that `numpy.asarray(image)` is uint8 (H, W, 3)."""
        import numpy as np

        return np.array(self.array, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"Image({self.width}x{self.height})"

    @property
    def height(self) -> int:
        return int(self.array.shape[0])

    @property
    def width(self) -> int:
        return int(self.array.shape[1])

    @cached_property
    def sha256(self) -> str:
        """Digest of the size and the pixels: equal for equal pictures, whatever the file."""
        head = f"rgb8 {self.width}x{self.height}\n".encode()
        digest = hashlib.sha256(head)
        digest.update(buffer_of(self.array))
        return digest.hexdigest()

    def to_pil(self) -> PIL.Image.Image:
        """The picture as a Pillow image."""
        import PIL.Image

        return PIL.Image.fromarray(self.array)

    def png(self) -> bytes:
        """The picture as a PNG file."""
        return encode_png(self.array)


def buffer_of(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, row by row, as they lie there where they do: none is copied."""
    import numpy as np

    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def encode_png(array: NDArray[Any]) -> bytes:
    """A PNG file of uint8 or uint16 (H, W), or uint8 (H, W, 3) RGB or (H, W, 4) RGBA pixels."""
    import cv2

    pixels = array
    if array.ndim == 3:
        to_bgr = cv2.COLOR_RGBA2BGRA if array.shape[2] == 4 else cv2.COLOR_RGB2BGR
        pixels = cv2.cvtColor(array, to_bgr)
    # level 1 and the sub filter: a fifth of the default's time for a few per cent of size
    ok, data = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not ok:
        raise ValueError(f"cannot write {array.dtype} {array.shape} as PNG")
    return data.tobytes()
