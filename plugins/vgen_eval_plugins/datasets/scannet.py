"""ScanNet: depth of indoor scans, the 800 validation frames of Marigold's list."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.imaging import resize
from vgen_eval.types import Item

from vgen_eval_plugins.datasets.pairs import PairedDepth
from vgen_eval_plugins.datasets.release_reader import Entry

__all__ = ["ScanNet"]


class ScanNet(PairedDepth):
    """Lines `sceneXXXX_YY/color/N.jpg sceneXXXX_YY/depth/N.png`; 16 bits, millimetres.

    A colour picture larger than its depth is brought to the depth's size.
    """

    title = "ScanNet"
    metres = 0.001

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which frames."""

        list: Annotated[str, msgspec.Meta(description="File of the frames, below the root.")] = (
            "scannet_val_sampled_list_800_1.txt"
        )

    def read_line(self, words: list[str]) -> Entry:
        """A picture and its depth."""
        if len(words) < 2:
            raise ValueError("a picture and its depth were wanted")
        picture = PurePosixPath(words[0])
        scene = picture.parts[0]
        item = Item(id=f"{scene}/{picture.stem}", group=scene, tags={})
        return Entry(item, (words[0], words[1]))

    def prepare_pair(
        self, picture: NDArray[np.uint8], depth: NDArray[np.float32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """The picture at the depth's size."""
        height, width = depth.shape
        return resize(picture, height=height, width=width, kind="photo"), depth
