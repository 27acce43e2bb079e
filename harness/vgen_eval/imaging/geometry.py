"""From the original picture to what the model saw, and from its answer back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from vgen_eval.imaging.image import Image
from vgen_eval.imaging.resize import Kind, resize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ASPECT_TOLERANCE", "Box", "Fit", "Geometry", "prepare_image"]

Fit = Literal["stretch", "letterbox"]
Size = tuple[int, int]
"""(height, width)."""
Box = tuple[int, int, int, int]
"""(top, left, height, width) in pixels."""

ASPECT_TOLERANCE = 0.02
"""Relative difference of width / height above which an answer has another shape."""


class Geometry(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of the original and of the picture seen, and where the one lies in the other."""

    original: Size
    seen: Size
    box: Box
    """The part of the picture seen that shows the original: all of it, unless it has bars."""
    fit: Fit = "stretch"
    """How an answer of another shape lies on the picture seen: stretched, or between bars."""

    def has_other_shape(self, size: tuple[int, ...]) -> bool:
        """Does (height, width, ...) differ from the picture seen by over 2 % and over a pixel?"""
        if not self.seen[0]:
            return False  # there is no picture to differ from
        exact = size[0] * self.seen[1] / self.seen[0]
        # a side is a whole number of pixels, so one pixel is no evidence in a small picture
        return abs(size[1] - exact) > max(ASPECT_TOLERANCE * exact, 1.0)

    def cut(self, answer: NDArray[Any]) -> NDArray[Any]:
        """The part of an answer (h, w, ...) that shows what the model saw, as a view.

        Under `letterbox`, for an answer of another shape, the largest centred part of the right
        one; else all of it.
        """
        rows, columns = answer.shape[:2]
        if self.fit == "stretch" or not self.has_other_shape((rows, columns)):
            return answer
        height, width = self.seen
        if rows * width > columns * height:
            keep = max(1, round(columns * height / width))
            top = (rows - keep) // 2
            return answer[top : top + keep]
        keep = max(1, round(rows * width / height))
        left = (columns - keep) // 2
        return answer[:, left : left + keep]

    def crop(self, answer: NDArray[Any]) -> NDArray[Any]:
        """The part of an answer (h, w, ...) that shows the original, as a view: no bars at all."""
        part = self.cut(answer)
        if self.box == (0, 0, *self.seen):
            return part
        top, left, height, width = self.box
        down, right = part.shape[0] / self.seen[0], part.shape[1] / self.seen[1]
        first = min(round(top * down), part.shape[0] - 1)
        start = min(round(left * right), part.shape[1] - 1)
        last = max(first + 1, round((top + height) * down))
        stop = max(start + 1, round((left + width) * right))
        return part[first:last, start:stop]

    def restore(self, answer: NDArray[Any], kind: Kind) -> NDArray[Any]:
        """An answer of any size (h, w, ...) on the original's grid: cropped, then resized."""
        part = self.crop(answer)
        return resize(part, height=self.original[0], width=self.original[1], kind=kind)

    def project(self, target: NDArray[Any], kind: Kind, *, fill: Any) -> NDArray[Any]:
        """A target (H, W, ...) on the grid of the picture seen, `fill` in the bars."""
        import numpy as np

        top, left, height, width = self.box
        inner = resize(target, height=height, width=width, kind=kind)
        if inner.shape[:2] == self.seen:
            return inner
        outer = np.full((*self.seen, *inner.shape[2:]), fill, inner.dtype)
        outer[top : top + height, left : left + width] = inner
        return outer

    def restore_points(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N, 2) x, y in pixels of the picture seen -> of the original; centres are whole."""
        import numpy as np

        top, left, height, width = self.box
        scale = np.array([self.original[1] / width, self.original[0] / height])
        return np.asarray((points + 0.5 - [left, top]) * scale - 0.5)

    def project_points(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(N, 2) x, y in pixels of the original -> of the picture seen."""
        import numpy as np

        top, left, height, width = self.box
        scale = np.array([width / self.original[1], height / self.original[0]])
        return np.asarray((points + 0.5) * scale + [left, top] - 0.5)


def prepare_image(
    image: Image,
    *,
    long_side: int | None = None,
    upsample: bool = False,
    size: Size | None = None,
    fit: Fit = "stretch",
    pad: tuple[int, int, int] = (0, 0, 0),
) -> tuple[Image, Box]:
    """The picture as a protocol shows it, and the part of that which shows the original.

    `long_side`: pixels of its long side, its shape kept; enlarged only with `upsample`. `size`:
    (height, width) that it is stretched to, or laid into between bars of the colour `pad`.
    """
    height, width = image.height, image.width
    if size is None:
        rows, columns = _scaled(height, width, long_side, upsample=upsample)
    elif fit == "stretch":
        rows, columns = size
    else:
        scale = min(size[0] / height, size[1] / width)
        rows = min(size[0], max(1, round(height * scale)))
        columns = min(size[1], max(1, round(width * scale)))
    shown = image
    if (rows, columns) != (height, width):
        shown = Image(resize(image.array, height=rows, width=columns, kind="photo"))
    if size is None or (rows, columns) == size:
        return shown, (0, 0, rows, columns)
    import numpy as np

    canvas = np.empty((*size, 3), np.uint8)
    canvas[:] = pad
    top, left = (size[0] - rows) // 2, (size[1] - columns) // 2
    canvas[top : top + rows, left : left + columns] = shown.array
    return Image(canvas), (top, left, rows, columns)


def _scaled(height: int, width: int, long_side: int | None, *, upsample: bool) -> Size:
    longest = max(height, width)
    if long_side is None or (longest < long_side and not upsample):
        return height, width
    scale = long_side / longest
    return max(1, round(height * scale)), max(1, round(width * scale))
