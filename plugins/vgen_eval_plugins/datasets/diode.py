"""DIODE: laser-scanned depth and normals of indoor and of outdoor places, validation set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, Problem, Undecodable
from vgen_eval.imaging import Image, decode_depth, decode_image, decode_normals, load_array, squeeze
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release import Release
from vgen_eval_plugins.normals.frames import parse_frame, to_house

__all__ = ["Diode"]

FOLDERS: Mapping[str, tuple[str, ...]] = {
    "indoors": ("indoors", "val/indoors"),
    # `val/` is what the archive unpacks to, and `outdoors` what some copies call it
    "outdoor": ("outdoor", "outdoors", "val/outdoor"),
}

CAMERA = (886.81, 927.06, 512.0, 384.0)
"""Focal lengths and centre, in pixels of 1024 x 768 (the devkit's intrinsics.txt)."""


class Diode:
    """`{indoors,outdoor}/scene_*/scan_*/NAME.png`, with NAME_depth.npy and NAME_depth_mask.npy.

    Depth is metres, float32 (768, 1024, 1); where the mask is not 1 it may hold large numbers that
    are no depth. Normals lie in a release of their own, NAME_normal.npy beside; (0, 0, 0) is none.
    Their axes are as the code of Metric3D v2 (arXiv 2404.15506) reads them, which also turns
    about the vectors that point away from the camera: no surface that is seen does.
    """

    version: ClassVar[int] = 1

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

    def __init__(self, options: Options, *, root: Path | None, folder: Path) -> None:  # noqa: ARG002
        self.options = options
        self._release = Release(root, title="DIODE")

    def index(self) -> Sequence[Item]:
        """Every picture of the domain, by scene and scan; MissingData when there is none."""
        return list(self._items.values())

    def load(self, item: Item) -> Sample:
        """The picture and its truth; BadSample, naming the file, when one is faulty."""
        if item.id not in self._items:
            raise BadSample(f"{self._release.root}: no sample '{item.id}'")
        try:
            return self._load(item)
        except Undecodable as exc:
            raise BadSample(f"{self._release.root}: {exc.what}") from exc

    def look(self, items: Sequence[Item]) -> list[Problem]:
        """Files of these samples that are missing or empty."""
        return self._release.look({item.id: self._files(item) for item in items})

    def verify(self, items: Sequence[Item]) -> list[Problem]:
        """Every fault that loading these samples shows."""
        return self._release.verify(items, self.load)

    def fingerprint(self) -> str:
        """sha256 over the ids and what marks the truths."""
        truths = (name for item in self._items.values() for name in self._files(item)[1:])
        told = "\n".join([*self._items, self._release.fingerprint(truths)])
        return hashlib.sha256(told.encode()).hexdigest()

    @cached_property
    def _items(self) -> dict[str, Item]:
        places = FOLDERS[self.options.domain]
        place = next((name for name in places if self._release.has(name)), None)
        found = [] if place is None else sorted((self._release.root / place).glob("*/*/*.png"))
        if not found:
            raise MissingData(
                f"DIODE: {self._release.root / (place or places[0])} holds no scene_*/scan_*/*.png",
                cure="vgen-eval data list says where the files come from and how they lie",
            )
        return {
            path.stem: Item(
                id=path.stem,
                group=f"{path.parent.parent.name}/{path.parent.name}",
                tags={"scene": path.parent.parent.name},
            )
            for path in found
        }

    @cached_property
    def _place(self) -> str:
        places = FOLDERS[self.options.domain]
        return next(name for name in places if self._release.has(name))

    def _files(self, item: Item) -> list[str]:
        stem = f"{self._place}/{item.group}/{item.id}"
        if self.options.target == "normals":
            return [f"{stem}.png", f"{stem}_normal.npy"]
        return [f"{stem}.png", f"{stem}_depth.npy", f"{stem}_depth_mask.npy"]

    def _load(self, item: Item) -> Sample:
        names = self._files(item)
        data = [self._release.read(name) for name in names]
        picture = decode_image(data[0], what=names[0])
        if self.options.target == "normals":
            normals = decode_normals(data[1], what=names[1])
            truth = to_house(normals, self.options.frame)
            if self.options.face_camera:
                truth = _turn_to_camera(truth)
            valid = np.isfinite(truth[..., 0])
        else:
            truth = decode_depth(data[1], what=names[1])
            valid = _read_mask(data[2], what=names[2], shape=truth.shape)
            valid &= np.isfinite(truth) & (truth > 0)
            truth = np.where(valid, truth, np.float32(np.nan))
        if picture.shape[:2] != truth.shape[:2]:
            raise BadSample(
                f"{names[1]} is {truth.shape[1]}x{truth.shape[0]}, the picture "
                f"{picture.shape[1]}x{picture.shape[0]}"
            )
        return Sample(
            id=item.id,
            group=item.group,
            images=(Image(picture),),
            target=truth,
            valid=None if valid.all() else valid,
            tags=item.tags,
        )


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


def _read_mask(data: bytes, *, what: str, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    mask = squeeze(load_array(data, what=what))
    if mask.shape != shape:
        raise BadSample(f"{what} is {mask.shape}, the depth {shape}")
    return np.asarray(mask == 1)
