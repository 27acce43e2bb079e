"""Opens picture files: by their content, within the limits, at their full depth, upright."""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import Undecodable
from vgen_eval.imaging.limits import check_pixels

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

__all__ = [
    "depth_bits",
    "open_picture",
    "orientation_of",
    "read_deep",
    "shows_zero_white",
    "turn_upright",
]

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM")

# tags of TIFF
_SIDES = (256, 257)
_BITS_PER_SAMPLE = 258
_PHOTOMETRIC = 262
_ORIENTATION = 274


@contextmanager
def open_picture(
    data: bytes, *, what: str, only: tuple[str, ...] | None = None
) -> Iterator[PIL.Image.Image]:
    """The first picture of a file, its pixels not decoded yet; every fault is Undecodable.

    `only`: the formats that will do, of those that can be read.

    The size that the file declares is checked here; what Pillow raises while the picture is in
    use becomes Undecodable too, so a file that ends early is refused, never padded.
    """
    import PIL.Image

    if not data:
        raise Undecodable(f"{what}: the file is empty")
    try:
        with _QUIET, PIL.Image.open(io.BytesIO(data), formats=_FORMATS) as picture:
            check_pixels(*picture.size, what=what)
            _check_strips(picture, what=what)
            if only is not None and picture.format not in only:
                raise Undecodable(
                    f"{what}: is a {picture.format} file, which need not keep its numbers: "
                    f"{', '.join(only)} or an array file is wanted"
                )
            yield picture
    except PIL.UnidentifiedImageError:
        raise Undecodable(f"{what}: not a picture ({_describe(data)})") from None
    # Pillow's readers raise whatever a broken header leads them into
    except (
        OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError,
        OverflowError, MemoryError, PIL.Image.DecompressionBombError,
    ) as exc:  # fmt: skip
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


def _check_strips(picture: PIL.Image.Image, *, what: str) -> None:
    """Undecodable for a TIFF with strips or tiles for a part of its pixels: the rest is made up."""
    if picture.format != "TIFF" or not picture.tile:  # type: ignore[attr-defined]
        return
    extents = [tile[1] for tile in picture.tile]  # type: ignore[attr-defined]
    right, bottom = max(e[2] for e in extents), max(e[3] for e in extents)
    width, height = (picture.tag_v2[tag] for tag in _SIDES)  # type: ignore[attr-defined]
    if right < width or bottom < height:
        raise Undecodable(f"{what}: declares {width}x{height} pixels and holds {right}x{bottom}")


def depth_bits(picture: PIL.Image.Image, data: bytes) -> int:
    """Bits of one sample as the file stores it; 8 where the format has no other."""
    if picture.format == "PNG":
        return data[24]  # IHDR stands first, its depth after the two sides
    if picture.format == "TIFF":
        bits = picture.tag_v2.get(_BITS_PER_SAMPLE, (1,))  # type: ignore[attr-defined]
        return int(bits[0] if isinstance(bits, tuple) else bits)
    return 8


def shows_zero_white(picture: PIL.Image.Image) -> bool:
    """Is it a grey TIFF whose numbers fall with the light (TIFF 6.0, WhiteIsZero)?

    Pillow turns the numbers of up to 8 bits round, and leaves those of 16.
    """
    grey = picture.format == "TIFF" and len(picture.getbands()) == 1
    return grey and picture.tag_v2.get(_PHOTOMETRIC) == 0  # type: ignore[attr-defined]


def read_deep(picture: PIL.Image.Image, data: bytes) -> NDArray[np.uint16] | None:
    """uint16 (H, W, 3 or 4), RGB or RGBA, upright, of a colour file of 16 bits; else None.

    Pillow keeps only the upper byte of these.
    """
    if len(picture.getbands()) < 2 or depth_bits(picture, data) != 16:
        return None
    import cv2
    import numpy as np

    orientation = orientation_of(picture)  # and refuses a file that ends early: OpenCV fills it up
    if picture.format == "TIFF":  # which Pillow has turned already
        orientation = picture.tag_v2.get(_ORIENTATION, 1)  # type: ignore[attr-defined]
    pixels: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.dtype != np.uint16:
        raise ValueError(f"a {picture.format} of 16 bits a channel in an unknown layout")
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    to_rgb = cv2.COLOR_BGRA2RGBA if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGB
    return turn_upright(np.asarray(cv2.cvtColor(pixels, to_rgb), np.uint16), orientation)


def orientation_of(picture: PIL.Image.Image) -> int:
    """The EXIF orientation, 1-8; 1 where there is none that can be read."""
    picture.load()  # PNG may say it after the pixels
    try:
        value = picture.getexif().get(_ORIENTATION, 1)
    except Exception:  # broken EXIF of any kind: its pixels are as good as without
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def turn_upright(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    """(H, W, ...) pixels as stored -> as they are meant to be seen (EXIF 2.3, section 4.6.4)."""
    import numpy as np

    if orientation == 1:
        return array
    turned = array.swapaxes(0, 1) if orientation >= 5 else array
    rows = -1 if orientation in (3, 4, 7, 8) else 1
    columns = -1 if orientation in (2, 3, 6, 7) else 1
    return np.ascontiguousarray(turned[::rows, ::columns])
