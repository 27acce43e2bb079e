"""KITTI, Eigen's test split: depth on roads by laser, the 652 frames that have annotated depth."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import Item

from vgen_eval_plugins.datasets.pairs import PairedDepth
from vgen_eval_plugins.datasets.release_reader import Entry, size_of

__all__ = ["Kitti"]

CROP = (352, 1216)
"""Height and width of the KITTI benchmark's crop, at the bottom and in the middle."""


class Kitti(PairedDepth):
    """Lines `PICTURE DEPTH|None FOCAL`; 16 bits, 1/256 metre (Uhrig et al., 2017).

    The list has 697 lines, 45 of them without depth.
    """

    title = "KITTI"
    metres = 1 / 256

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which frames, and how much of them."""

        list: Annotated[str, msgspec.Meta(description="File of the frames, below the root.")] = (
            "eigen_test_files_with_gt.txt"
        )
        kb_crop: Annotated[
            bool,
            msgspec.Meta(description="Cut picture and depth to 352 x 1216, bottom, centred?"),
        ] = True

    def read_line(self, words: list[str]) -> Entry | None:
        """A picture and its depth; None where the list says it has none."""
        if len(words) < 2:
            raise ValueError("a picture and its depth, or None, were wanted")
        if words[1] == "None":
            return None
        picture = PurePosixPath(words[0])
        drive = next((part for part in picture.parts if "drive" in part), picture.parts[0])
        item = Item(id=f"{drive}/{picture.stem}", group=drive, tags={})
        return Entry(item, (words[0], words[1]))

    def prepare_pair(
        self, picture: NDArray[np.uint8], depth: NDArray[np.float32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Both, cut alike."""
        if picture.shape[:2] != depth.shape:
            raise ValueError(f"is {size_of(depth)}, the picture {size_of(picture)}")
        if not self.options.kb_crop:
            return picture, depth
        height, width = depth.shape
        rows, columns = CROP
        if height < rows or width < columns:
            raise ValueError(f"is {size_of(depth)}, too small for the crop of {columns}x{rows}")
        top, left = height - rows, (width - columns) // 2
        part = np.s_[top : top + rows, left : left + columns]
        return picture[part].copy(), depth[part].copy()
