"""DIODE: laser-scanned depth and normals of indoor and of outdoor places, validation set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample
from vgen_eval.imaging import decode_depth, decode_normals, load_array, squeeze
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, check_size, make_sample
from vgen_eval_plugins.normals.frames import parse_frame, to_house

__all__ = ["Diode"]

FOLDERS: Mapping[str, tuple[str, ...]] = {
    "indoors": ("indoors", "val/indoors"),
    # `val/` is what the archive unpacks to, and `outdoors` what some copies call it
    "outdoor": ("outdoor", "outdoors", "val/outdoor"),
}

CAMERA = (886.81, 927.06, 512.0, 384.0)
"""Focal lengths and centre, in pixels of 1024 x 768 (the devkit's intrinsics.txt)."""


class Diode(ReleaseReader[Entry]):
    """`{indoors,outdoor}/scene_*/scan_*/NAME.png`, with NAME_depth.npy and NAME_depth_mask.npy.

    Depth is metres, float32 (768, 1024, 1); where the mask is not 1 it may hold large numbers that
    are no depth. Normals lie in a release of their own, NAME_normal.npy beside; (0, 0, 0) is none.
    Their axes are as the code of Metric3D v2 (arXiv 2404.15506) reads them, which also turns
    about the vectors that point away from the camera: no surface that is seen does.
    """

    title = "DIODE"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """Which half, and what is asked of it."""

        domain: Annotated[
            Literal["indoors", "outdoor"],
            msgspec.Meta(description="The two differ too much to be averaged."),
        ]
        target: Annotated[
            Literal["depth", "normals"], msgspec.Meta(description="What the truth is.")
        ] = "depth"
        frame: Annotated[
            str,
            msgspec.Meta(description="Where the three components of the normals point."),
        ] = "right up toward"
        face_camera: Annotated[
            bool,
            msgspec.Meta(description="Turn normals about that point away from the camera?"),
        ] = True

        def __post_init__(self) -> None:
            parse_frame(self.frame)

    options: Options

    @property
    def measures(self) -> str:
        """What the truth is, as the metrics name it."""
        return self.options.target

    def find_entries(self) -> Iterator[Entry]:
        """Every picture of the domain, by scene and scan; MissingData when there is none."""
        place = self._release.first(FOLDERS[self.options.domain])
        truths = ["depth", "depth_mask"] if self.options.target == "depth" else ["normal"]
        for path in self._release.scan(place, "*/*/*.png", told="scene_*/scan_*/*.png"):
            scene, scan, name = path.parent.parent.name, path.parent.name, path.stem
            stem = f"{place}/{scene}/{scan}/{name}"
            yield Entry(
                Item(id=name, group=f"{scene}/{scan}", tags={"scene": scene}),
                (f"{stem}.png", *(f"{stem}_{truth}.npy" for truth in truths)),
            )

    def read_entry(self, entry: Entry) -> Sample:
        """The picture and its truth."""
        picture = self._release.picture(entry.files[0])
        file = entry.files[1]
        if self.options.target == "normals":
            normals = self._release.decode(file, decode_normals)
            truth = to_house(normals, self.options.frame)
            if self.options.face_camera:
                truth = _turn_to_camera(truth)
            valid = np.isfinite(truth[..., 0])
        else:
            truth = self._release.decode(file, decode_depth)
            valid = self._mask(entry.files[2], truth.shape)
            valid &= np.isfinite(truth) & (truth > 0)
            truth = np.where(valid, truth, np.float32(np.nan))
        check_size(truth, picture, what=file)
        return make_sample(entry.item, picture, truth, valid=valid)

    def _mask(self, name: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        mask = squeeze(self._release.decode(name, load_array))
        if mask.shape != shape:
            raise BadSample(f"{name} is {mask.shape}, the depth {shape}")
        return np.asarray(mask == 1)


def _turn_to_camera(normals: NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W, 3) right, up, toward: those that point along the ray of their pixel, turned about."""
    height, width = normals.shape[:2]
    focal_x, focal_y, centre_x, centre_y = CAMERA
    right = (np.arange(width) * (1024 / width) - centre_x) / focal_x
    down = (np.arange(height) * (768 / height) - centre_y) / focal_y
    x, y, z = np.moveaxis(normals, 2, 0)
    with np.errstate(invalid="ignore"):
        away = x * right - y * down[:, None] - z > 0
    # 0 - n and not -n: a zero keeps its sign
    return np.where(away[..., None], 0 - normals, normals)
