"""Picture files to RGB: orientation applied, every mode, sizes checked before decoding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.errors import BadSample, Undecodable
from vgen_eval.imaging.image import Image
from vgen_eval.imaging.limits import read_bytes
from vgen_eval.imaging.opening import (
    depth_bits,
    open_picture,
    orientation_of,
    read_deep,
    shows_zero_white,
    turn_upright,
)

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]

__all__ = ["WHITE", "Colour", "decode_image", "read_image"]

Colour = tuple[int, int, int]
"""R, G, B, 0-255."""

WHITE: Colour = (255, 255, 255)


def decode_image(data: bytes, *, what: str, background: Colour = WHITE) -> RGB:
    """uint8 (H, W, 3) RGB of a picture file's bytes; Undecodable, naming `what`, otherwise.

    `background`: the colour that transparent pixels are laid on. Samples of 16 bits are v / 257,
    rounded to the nearest. Of an animation or of many pages the first is read. Colour profiles
    are not applied.

    The size that the file declares is checked before its pixels are decoded; a file that ends
    early is refused, never padded.
    """
    import numpy as np
    import PIL.Image

    with open_picture(data, what=what) as picture:
        deep = read_deep(picture, data)
        if deep is not None:
            rgb = _to_rgb(PIL.Image.fromarray(_to_8_bits(deep)), background)
            return _lay_on(rgb, deep[..., :3], picture, background)
        orientation = orientation_of(picture)
        if picture.mode.startswith("I") or picture.mode == "F":
            levels = _grey_levels(picture, is_deep=depth_bits(picture, data) == 16)
            rgb = np.repeat(levels[:, :, None], 3, axis=2)
            rgb = _lay_on(rgb, np.asarray(picture)[:, :, None], picture, background)
        else:
            rgb = _to_rgb(picture, background)
        return turn_upright(rgb, orientation)


def _to_rgb(picture: PIL.Image.Image, background: Colour) -> RGB:
    import numpy as np
    import PIL.Image

    if "A" in picture.getbands() or "transparency" in picture.info:
        canvas = PIL.Image.new("RGBA", picture.size, (*background, 255))
        canvas.alpha_composite(picture.convert("RGBA"))
        picture = canvas
    # converted where it must be alone: of a large picture each copy counts
    return np.array(picture if picture.mode == "RGB" else picture.convert("RGB"))


def _lay_on(rgb: RGB, stored: NDArray[Any], picture: PIL.Image.Image, background: Colour) -> RGB:
    """The pixels of a PNG of 16 bits with its one transparent colour laid on the background.

    `stored`: (H, W, channels) of the file's own numbers, of which the colour is one.
    """
    colour = picture.info.get("transparency") if picture.format == "PNG" else None
    if colour is not None:
        rgb[(stored == colour).all(axis=2)] = background
    return rgb


def _grey_levels(picture: PIL.Image.Image, *, is_deep: bool) -> NDArray[np.uint8]:
    """uint8 (H, W) of numbers of 16 or 32 bits, or of floats, that are grey levels.

    Where the bits do not say the range, numbers up to 255 are of 8 bits, larger ones of 16, and
    floats up to 1 that are not all whole are parts of white.
    """
    import numpy as np

    grey = np.asarray(picture)
    if is_deep:
        levels = _to_8_bits(grey.astype(np.uint16))
        return 255 - levels if shows_zero_white(picture) else levels
    numbers = grey.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("a picture of floats that are not all finite")
    low, high = numbers.min(), numbers.max()
    if low < 0 or high > 65535:
        raise ValueError(f"numbers from {low:g} to {high:g} are no grey levels")
    if high > 255:  # the 16-bit range
        numbers = numbers / 257.0
    elif picture.mode == "F" and high <= 1 and (numbers % 1).any():
        numbers = numbers * 255.0
    return np.rint(numbers).astype(np.uint8)


def _to_8_bits(deep: NDArray[np.uint16]) -> NDArray[np.uint8]:
    import numpy as np

    wide = deep.astype(np.uint32)
    wide += 128
    wide //= 257  # 257 is odd, so no value lies half-way
    return wide.astype(np.uint8)


def read_image(path: Path, *, background: Colour = WHITE) -> Image:
    """The picture in a file of a data set; BadSample, naming the file, when it is faulty."""
    try:
        return Image(decode_image(read_bytes(path), what=path.name, background=background))
    except Undecodable as exc:
        raise BadSample(f"{path}: {exc}") from exc
