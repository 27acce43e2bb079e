"""The one way to read pictures: orientation applied, every mode to RGB, sizes checked first."""

from __future__ import annotations

import hashlib
import io
import threading
import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import BadSample, Undecodable

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["MAX_PIXELS", "Image", "decode_image", "encode_png", "read_image", "resize_long_side"]

MAX_PIXELS = 100_000_000
"""Declared pixels above which a picture is refused before it is decoded."""

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM")


class Image:
    """An 8-bit RGB picture, read-only, as a model sees it."""

    def __init__(self, array: RGB) -> None:
        """`array`: uint8 (H, W, 3)."""
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype.char != "B":
            raise ValueError(f"uint8 (H, W, 3) wanted, {array.dtype} {array.shape} seen")
        self.array = array.view()
        self.array.flags.writeable = False

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
        return hashlib.sha256(head + self.array.tobytes()).hexdigest()

    def to_pil(self) -> PIL.Image.Image:
        """The picture as a Pillow image."""
        import PIL.Image

        return PIL.Image.fromarray(self.array)

    def png(self) -> bytes:
        """The picture as a PNG file."""
        return encode_png(self.array)


def encode_png(array: NDArray[Any]) -> bytes:
    """A PNG file of uint8 or uint16 (H, W) or uint8 (H, W, 3) RGB pixels, at a fast setting."""
    import cv2

    pixels = cv2.cvtColor(array, cv2.COLOR_RGB2BGR) if array.ndim == 3 else array
    # level 1 and the sub filter: a fifth of the default's time for a few per cent of size
    ok, data = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not ok:
        raise ValueError(f"cannot write {array.dtype} {array.shape} as PNG")
    return data.tobytes()


def decode_image(data: bytes, *, what: str) -> RGB:
    """uint8 (H, W, 3) RGB of a picture file's bytes; Undecodable, naming `what`, otherwise.

    The size that the file declares is checked before its pixels are decoded; a file that ends
    early is refused, never padded.
    """
    import PIL.Image

    if not data:
        raise Undecodable(f"{what}: the file is empty")
    try:
        with _QUIET, PIL.Image.open(io.BytesIO(data), formats=_FORMATS) as picture:
            width, height = picture.size
            if width * height > MAX_PIXELS:
                raise Undecodable(
                    f"{what}: declares {width}x{height} pixels, over the limit of {MAX_PIXELS}"
                )
            return _to_rgb(picture)
    except PIL.UnidentifiedImageError:
        raise Undecodable(f"{what}: not a picture ({_describe(data)})") from None
    except (OSError, SyntaxError, ValueError, EOFError, PIL.Image.DecompressionBombError) as exc:
        raise Undecodable(f"{what}: cannot be decoded: {exc}") from exc


class _Quiet:
    """Pillow's warnings off while any thread decodes.

    `warnings.catch_warnings` alone is not safe in threads: it would leave all warnings off.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._saved: warnings.catch_warnings[None] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._saved = warnings.catch_warnings()
                self._saved.__enter__()
                warnings.simplefilter("ignore")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._saved is not None:
                self._saved.__exit__(None, None, None)
                self._saved = None


_QUIET = _Quiet()


def _describe(data: bytes) -> str:
    head = data[:32].lstrip()
    if head[:1] in (b"<", b"{", b"["):
        return f"it begins with {head[:12].decode('ascii', 'replace')!r}"
    return f"{len(data)} bytes of unknown format"


def _to_rgb(picture: PIL.Image.Image) -> RGB:
    import numpy as np
    import PIL.Image
    import PIL.ImageOps

    upright = PIL.ImageOps.exif_transpose(picture)
    if upright.mode.startswith("I") or upright.mode == "F":
        grey = np.asarray(upright).astype(np.float64)
        if upright.mode.startswith("I;16") or grey.max(initial=0.0) > 255:
            grey = grey / 257.0  # the 16-bit range onto the 8-bit one
        plane = np.clip(np.rint(grey), 0, 255).astype(np.uint8)
        return np.repeat(plane[:, :, None], 3, axis=2)
    if "A" in upright.getbands() or "transparency" in upright.info:
        canvas = PIL.Image.new("RGBA", upright.size, (255, 255, 255, 255))
        canvas.alpha_composite(upright.convert("RGBA"))
        upright = canvas
    return np.array(upright.convert("RGB"))


def read_image(path: Path) -> Image:
    """The picture in a file of a data set; BadSample, naming the file, when it is faulty."""
    try:
        return Image(decode_image(path.read_bytes(), what=path.name))
    except (OSError, Undecodable) as exc:
        raise BadSample(f"{path}: {exc}") from exc


def resize_long_side(image: Image, long_side: int | None, *, upsample: bool) -> Image:
    """The picture with its long side at `long_side` pixels; as it is when that is None."""
    longest = max(image.width, image.height)
    if long_side is None or longest == long_side or (longest < long_side and not upsample):
        return image
    import cv2

    scale = long_side / longest
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    resized: Any = cv2.resize(image.array, size, interpolation=interpolation)
    return Image(resized)
