"""Follows the one marker of a maze through a video, and watches whether the maze stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import cv2
import msgspec
import numpy as np
from vgen_eval.errors import Undecodable
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.video.clip_decoder import open_answer
from vgen_eval_plugins.video.puzzles.comparing import box_mean, difference, size_of, soften
from vgen_eval_plugins.video.puzzles.maze_drawing import MARKER
from vgen_eval_plugins.video.puzzles.maze_rules import Walk
from vgen_eval_plugins.video.puzzles.seeing import Bench, Blob, find_blobs, mask_of, to_hsv

if TYPE_CHECKING:
    from numpy.typing import NDArray

    RGB = NDArray[np.uint8]
    Plane = NDArray[np.float32]

__all__ = ["MazeWalk", "MazeWalkOptions"]

_STRUCTURE = 9.0
"""Standard deviation, in grey levels, of a place where there is something to see."""
_FLAT = 5.0
_LIKE = 0.5
"""Correlation below which a place does not look as it did."""
_TILES = 14
"""Tiles along the shorter side."""
_TINT = 32.0
"""Distance of two colours of one lightness, in levels, from which they are two."""
_LIGHT = 45.0
"""Levels by which a tile is lighter or darker than it was."""
_LASTING = 3
"""Frames for which a change must be seen, in a video that has them."""


class MazeWalkOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is taken for the marker, and for a change of the scene."""

    min_size: Annotated[
        float, msgspec.Meta(description="Least area, as a part of the first picture's.", gt=0, le=1)
    ] = 0.25
    max_size: Annotated[
        float, msgspec.Meta(description="Largest area, as a multiple of the first's.", ge=1)
    ] = 2.0
    second: Annotated[
        float,
        msgspec.Meta(
            description="Least area of a second marker, as a part of the first picture's.",
            gt=0, le=1,
        ),
    ] = 0.25  # fmt: skip
    changed_tiles: Annotated[
        float,
        msgspec.Meta(description="Tiles that must differ before the scene has changed.", gt=0),
    ] = 1.0


class MazeWalk:
    """Video -> where the red marker was, frame by frame, and whether the walls stayed.

    Looked at are all frames of a video of up to 900, else 900 spread evenly over it, each at the
    size of the input picture (its long side 192 to 512 pixels), moved back by what the camera
    shook. The marker is the one red part of a size near the first picture's; in a frame with none,
    or with two, it is not seen. The scene is compared in small tiles, the marker's places left
    out: it has changed when tiles lose their structure, flat ones gain some, or, with the tone of
    the whole frame taken out, their colour or lightness is another, in three frames. Undecodable:
    no frames. What a walk is worth, `maze_rules` says.
    """

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "puzzle"
    Options: ClassVar[type[msgspec.Struct]] = MazeWalkOptions

    def __init__(self, options: MazeWalkOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """A Walk in pixels of the original picture; flags as the clip's."""
        clip = open_answer(answer)
        bench = Bench(scene)
        found = find_blobs(mask_of(to_hsv(bench.first), MARKER), least=4.0)
        if not found:
            raise Undecodable(f"the input picture shows no {MARKER} marker")
        first = found[0]
        watch = _Watch(bench.first, first)
        times, points, doubled, changed = [], [], [], []
        for time, picture in bench.frames(clip):
            blob, is_doubled = self._find(picture, first)
            times.append(time)
            points.append((np.nan, np.nan) if blob is None else blob[:2])
            doubled.append(is_doubled)
            changed.append(watch.changed_tiles(picture, blob) >= self.options.changed_tiles)
        is_changed = sum(changed) >= min(_LASTING, len(changed))
        changed_from = changed.index(True) if is_changed else None
        walk = Walk(
            np.array(times), bench.restore(points), np.array(doubled, np.bool_), changed_from
        )
        seen = [not np.isnan(x) for x, _ in points]
        summary = {
            **clip.summary(), "looked_at": len(times), "seen": sum(seen),
            "doubled": sum(doubled), "changed": sum(changed),
        }  # fmt: skip
        return Prediction(value=walk, flags=clip.flags, summary=summary)

    def _find(self, picture: RGB, first: Blob) -> tuple[Blob | None, bool]:
        """The one marker, None when there is none or more than one; are there more?"""
        least, area = max(3.0, self.options.min_size * first[2]), first[2]
        second = max(3.0, self.options.second * area)
        blobs = find_blobs(mask_of(to_hsv(picture), MARKER), least=min(least, second))
        if len(blobs) > 1 and blobs[1][2] >= second:
            return None, True
        is_one = bool(blobs) and least <= blobs[0][2] <= self.options.max_size * area
        return (blobs[0] if is_one else None), False


class _Watch:
    """Compares pictures with the first one, tile by tile."""

    def __init__(self, first: RGB, marker: Blob) -> None:
        height, width = first.shape[:2]
        self._side = max(5, round(min(height, width) / _TILES) | 1)
        self._grey = Bench.grey(first)
        self._soft = soften(first)
        self._marker = marker
        self._fine = max(3, round(0.5 * max(marker[3:])) | 1)

    def changed_tiles(self, picture: RGB, marker: Blob | None) -> float:
        """How many tiles' worth of the picture do not look as they did."""
        free = self._free(picture, marker)
        return max(self._changed_structure(picture, free), self._changed_colour(picture, free))

    def _free(self, picture: RGB, marker: Blob | None) -> Plane:
        """1 where no marker is or was."""
        free = np.ones(picture.shape[:2], np.float32)
        for x, y, _, wide, high in (self._marker, *(() if marker is None else (marker,))):
            size = max(wide, high)
            # its shadow falls to the right and below
            middle = (round(x + 0.2 * size), round(y + 0.2 * size))
            cv2.circle(free, middle, round(0.8 * size) + 1, 0.0, -1)
        return free

    def _changed_colour(self, picture: RGB, free: Plane) -> float:
        """Tiles' worth of another colour, in tiles half as wide as the marker, or lightness."""
        off = difference(picture, self._soft, free > 0)
        light = np.asarray(cv2.transform(off, np.full((1, 3), 1 / 3, np.float32)), np.float32)
        tint = off - light[..., None]
        fine = box_mean(free, self._fine)
        mean = box_mean(tint * free[..., None], self._fine) / np.maximum(fine, 1e-3)[..., None]
        is_other = (size_of(mean) > _TINT) & (fine > 0.35)
        tinted = int(np.count_nonzero(is_other)) / self._fine**2
        wide = self._mean(free)
        shade = np.abs(self._mean(light * free)) / np.maximum(wide, 1e-3)
        shaded = int(np.count_nonzero((shade > _LIGHT) & (wide > 0.35))) / self._side**2
        return float(max(tinted, shaded))

    def _changed_structure(self, picture: RGB, free: Plane) -> float:
        """Tiles' worth that lost their structure, or are flat no more."""
        a, b = self._grey, Bench.grey(picture)
        count = self._mean(free)
        enough = count > 0.35
        count = np.maximum(count, 1e-3)
        mean_a, mean_b = self._mean(free * a) / count, self._mean(free * b) / count
        var_a = np.maximum(self._mean(free * a * a) / count - mean_a**2, 1e-3)
        var_b = np.maximum(self._mean(free * b * b) / count - mean_b**2, 1e-3)
        both = self._mean(free * a * b) / count - mean_a * mean_b
        like = both / np.sqrt(var_a * var_b)
        lost = (var_a > _STRUCTURE**2) & (like < _LIKE)
        new = (var_a < _FLAT**2) & (var_b > (2 * _STRUCTURE) ** 2)
        return int(np.count_nonzero((lost | new) & enough)) / int(self._side) ** 2

    def _mean(self, plane: Plane) -> Plane:
        return box_mean(plane, self._side)
