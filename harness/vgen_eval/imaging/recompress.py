"""A picture as it comes back from a lossy file."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["recompress"]


def recompress(picture: NDArray[np.uint8], how: str) -> NDArray[np.uint8]:
    """uint8 (H, W, 3) after one round through `how`: "jpeg:QUALITY", chroma at half resolution."""
    import numpy as np
    import PIL.Image

    form, _, quality = how.partition(":")
    if form != "jpeg":
        raise ValueError(f"'{how}' is no way to compress: jpeg:QUALITY is")
    file = io.BytesIO()
    PIL.Image.fromarray(picture).save(file, "JPEG", quality=int(quality), subsampling=2)
    with PIL.Image.open(file) as opened:
        return np.asarray(opened.convert("RGB"))
