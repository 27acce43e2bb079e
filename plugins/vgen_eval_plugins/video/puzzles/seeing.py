"""What both trackers share: which frames are looked at, at what size, and colours by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from vgen_eval.imaging import resize
from vgen_eval.types import Scene
from vgen_eval.video import Clip

from vgen_eval_plugins.video.puzzles.steadying import find_shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Mask = NDArray[np.uint8]

__all__ = ["HUES", "PAINTS", "Bench", "Blob", "find_blobs", "mask_of", "pick", "to_hsv"]

MOST_FRAMES = 900
WORK_SIDES = (192, 512)
"""Long side of the pictures that are looked at: at least and at most."""
STILL = 0.3
"""Pixels of a shift that is none."""

HUES: Mapping[str, tuple[int, int]] = {
    "red": (170, 9), "yellow": (20, 35), "green": (45, 76), "cyan": (83, 99), "blue": (102, 126),
    "magenta": (138, 163),
}  # fmt: skip
"""Name -> first and last hue, 0 to 179; red goes over the end."""
PAINTS: Mapping[str, tuple[int, int, int]] = {
    "red": (214, 32, 38), "yellow": (236, 200, 32), "green": (44, 160, 60), "cyan": (34, 178, 188),
    "blue": (36, 78, 206), "magenta": (196, 42, 178),
}  # fmt: skip
_SATURATION, _VALUE = 105, 55

Blob = tuple[float, float, float, int, int]
"""x, y of its centre, its area, its width and height, in pixels."""


def pick(clip: Clip, most: int = MOST_FRAMES) -> list[int]:
    """Numbers of the frames that are looked at: all, or `most` from the first to the last."""
    if clip.frames <= most:
        return list(range(clip.frames))
    return [round(k * (clip.frames - 1) / (most - 1)) for k in range(most)]


def to_hsv(picture: RGB) -> RGB:
    """Hue 0 to 179, saturation and value 0 to 255; uint8 (H, W, 3)."""
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2HSV), np.uint8)


def mask_of(hsv: RGB, colour: str) -> Mask:
    """255 where a pixel has the colour: by hue, strong and not dark; uint8 (H, W)."""
    low, high = HUES[colour]
    floor = (_SATURATION, _VALUE)
    if low <= high:
        return np.asarray(cv2.inRange(hsv, (low, *floor), (high, 255, 255)), np.uint8)
    first = cv2.inRange(hsv, (low, *floor), (179, 255, 255))
    return np.asarray(cv2.bitwise_or(first, cv2.inRange(hsv, (0, *floor), (high, 255, 255))))


def find_blobs(mask: Mask, *, least: float) -> list[Blob]:
    """Connected parts of the mask of at least so many pixels, the largest first."""
    count, _, stats, centres = cv2.connectedComponentsWithStats(mask, connectivity=8)
    found = [
        (
            float(centres[k][0]), float(centres[k][1]), float(stats[k][cv2.CC_STAT_AREA]),
            int(stats[k][cv2.CC_STAT_WIDTH]), int(stats[k][cv2.CC_STAT_HEIGHT]),
        )
        for k in range(1, count)
        if stats[k][cv2.CC_STAT_AREA] >= least
    ]  # fmt: skip
    return sorted(found, key=lambda blob: -blob[2])


class Bench:
    """The size at which a scene's pictures are looked at, and the way back to the original."""

    def __init__(self, scene: Scene) -> None:
        self.geometry = scene.geometry
        height, width = scene.image.height, scene.image.width
        longest = max(height, width)
        self.scale = min(max(longest, WORK_SIDES[0]), WORK_SIDES[1]) / longest
        self.height = max(1, round(height * self.scale))
        self.width = max(1, round(width * self.scale))
        self.first = self.bring(scene.image.array)
        self._step = max(1.0, max(self.width, self.height) / 256)
        self._small = self._shrink(self.first)
        self._reach = max(2, round(max(self._small.shape) / 30))

    def bring(self, answer: RGB) -> RGB:
        """A frame of any size, cut as the card's `fit` says, at the bench's size."""
        part = np.ascontiguousarray(self.geometry.cut(answer))
        return np.asarray(resize(part, height=self.height, width=self.width, kind="photo"))

    @staticmethod
    def grey(picture: RGB) -> NDArray[np.float32]:
        """Grey levels, a little blurred: what the codec and the grain add is gone."""
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
        return np.asarray(cv2.GaussianBlur(grey, (0, 0), 1.0), np.float32)

    def steadied(self, picture: RGB) -> RGB:
        """The frame moved back by what the camera shook: a shift of up to a thirtieth of a side."""
        dx, dy = self._shift_of(picture)
        if np.hypot(dx, dy) < STILL:
            return picture
        move = np.array([[1, 0, -dx], [0, 1, -dy]], np.float32)
        size = (self.width, self.height)
        return np.asarray(cv2.warpAffine(picture, move, size, borderMode=cv2.BORDER_REPLICATE))

    def _shift_of(self, picture: RGB) -> tuple[float, float]:
        """Pixels by which the scene lies to the right and below of where it was."""
        x, y = find_shift(self._shrink(picture), self._small, reach=self._reach)
        return x * self._step, y * self._step

    def _shrink(self, picture: RGB) -> NDArray[np.float32]:
        size = (round(self.width / self._step), round(self.height / self._step))
        small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
        return self.grey(np.asarray(small))

    def frames(self, clip: Clip) -> Iterator[tuple[float, RGB]]:
        """(time, picture at the bench's size, steadied) of the frames that are looked at."""
        for frame in clip.take(pick(clip)):
            yield frame.time, self.steadied(self.bring(frame.image.array))

    def restore(self, points: Any) -> NDArray[np.float64]:
        """(N, 2) x, y at the bench's size -> pixels of the original picture."""
        seen = (np.asarray(points, np.float64).reshape(-1, 2) + 0.5) / self.scale - 0.5
        return self.geometry.restore_points(seen)
