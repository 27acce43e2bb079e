"""NYU Depth v2 as files of single samples: two re-exports of depth, two of normals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.imaging import decode_depth, decode_normals, load_array, squeeze

from vgen_eval_plugins.datasets.depth_png import read_depth_png
from vgen_eval_plugins.datasets.release import Release

__all__ = ["DsineFiles", "FlatFiles", "PngFiles"]

TEST_SAMPLES = 654
MILLIMETRES = 0.001
MASK_LENGTH = 0.5
"""A vector of the flat layout that is shorter than this says nothing."""

NO_TAGS: Mapping[str, str] = {}


class FlatFiles:
    """`images/NNNN.png` and arrays beside, NNNN the place in the test split, from 0000."""

    def __init__(self, release: Release, target: str) -> None:
        self._release = release
        self._target = target
        depth = (release.first(("depth", "depths")),)
        self._folders = depth if target == "depth" else ("normals", "normals_mask")

    def index(self) -> Mapping[str, Mapping[str, str]]:
        """All places of the split, whether or not their files are there."""
        return {f"{place:04d}": NO_TAGS for place in range(TEST_SAMPLES)}

    def files(self, name: str) -> Sequence[str]:
        """The picture first."""
        return [f"images/{name}.png", *(f"{folder}/{name}.npy" for folder in self._folders)]

    def picture(self, name: str) -> NDArray[np.uint8]:
        """uint8 (H, W, 3)."""
        return self._release.picture(self.files(name)[0])

    def truth(self, name: str) -> NDArray[np.float32]:
        """Metres, or normals where the mask file says so: they go on outside of it."""
        _, file, *masks = self.files(name)
        if self._target == "depth":
            return self._release.decode(file, decode_depth)
        normals = self._release.decode(file, decode_normals)
        (mask_file,) = masks
        mask = squeeze(self._release.decode(mask_file, load_array))
        if mask.shape != normals.shape[:2]:
            raise BadSample(
                f"{mask_file} is {mask.shape[::-1]}, the normals {normals.shape[1::-1]}"
            )
        with np.errstate(invalid="ignore"):
            short = ~(np.linalg.norm(normals, axis=2) > MASK_LENGTH)
        normals[(mask == 0) | short] = np.nan
        return normals


class PngFiles:
    """`test/<scene>/rgb_NNNN.png` with `depth_NNNN.png` (raw) and `filled_NNNN.png` beside."""

    _PICTURE: ClassVar[re.Pattern[str]] = re.compile(r"rgb_(\d+)\.png")

    def __init__(self, release: Release, depth_field: str) -> None:
        self._release = release
        self._depth = "filled" if depth_field == "filled" else "depth"

    def index(self) -> Mapping[str, Mapping[str, str]]:
        """What the folder holds, by scene and number."""
        found = {
            f"{path.parent.name}/{match[1]}": {"scene": path.parent.name.rsplit("_", 1)[0]}
            for path in sorted((self._release.root / "test").glob("*/rgb_*.png"))
            if (match := self._PICTURE.fullmatch(path.name))
        }
        if not found:
            raise MissingData(
                f"{self._release.title}: {self._release.root / 'test'} holds no */rgb_NNNN.png"
            )
        return found

    def files(self, name: str) -> Sequence[str]:
        """The picture and its depth."""
        scene, number = name.split("/")
        return [f"test/{scene}/rgb_{number}.png", f"test/{scene}/{self._depth}_{number}.png"]

    def picture(self, name: str) -> NDArray[np.uint8]:
        """uint8 (H, W, 3)."""
        return self._release.picture(self.files(name)[0])

    def truth(self, name: str) -> NDArray[np.float32]:
        """Metres."""
        return self._release.decode(self.files(name)[1], read_depth_png, metres=MILLIMETRES)


class DsineFiles:
    """`NNNNNN_img.png` and `NNNNNN_normal.png`, 8 bits a component, or `NNNNNN_normal.npy`."""

    ROOT: ClassVar[str] = "dsine_eval/nyuv2/test"

    def __init__(self, release: Release) -> None:
        self._release = release

    def index(self) -> Mapping[str, Mapping[str, str]]:
        """What the folder holds, by number."""
        found = self._release.scan(self.ROOT, "*_img.png", told="NNNNNN_img.png")
        return {path.name.removesuffix("_img.png"): NO_TAGS for path in found}

    def files(self, name: str) -> Sequence[str]:
        """The picture and its normals."""
        array = f"{self.ROOT}/{name}_normal.npy"
        truth = array if self._release.has(array) else f"{self.ROOT}/{name}_normal.png"
        return [f"{self.ROOT}/{name}_img.png", truth]

    def picture(self, name: str) -> NDArray[np.uint8]:
        """uint8 (H, W, 3)."""
        return self._release.picture(self.files(name)[0])

    def truth(self, name: str) -> NDArray[np.float32]:
        """Components; 0 in all of them marks a pixel without."""
        return self._release.decode(self.files(name)[1], decode_normals)
