"""NYU Depth v2: the 654 labelled test pictures, in the official file or in two re-exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData
from vgen_eval.types import Item, Sample

from vgen_eval_plugins.datasets.release import WHERE
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, make_sample, size_of
from vgen_eval_plugins.normals.frames import to_house

__all__ = ["Layout", "NYUv2"]

SPECKS_M = 1e-3
"""Depth up to this is none: the sensor writes 0 where it saw nothing."""


class Layout(Protocol):
    """One way in which the data set lies on disk."""

    def index(self) -> Mapping[str, Mapping[str, str]]:
        """id -> tags, in the release's order; MissingData when what it hangs on is not there."""
        ...

    def files(self, name: str) -> Sequence[str]:
        """The files of a sample, below the root."""
        ...

    def picture(self, name: str) -> NDArray[np.uint8]:
        """uint8 (H, W, 3)."""
        ...

    def truth(self, name: str) -> NDArray[np.float32]:
        """Metres (H, W), or normals (H, W, 3) left, up, toward; NaN where there is none."""
        ...


def layouts_of(target: str, depth_field: str, ground_truth: str) -> Mapping[str, Sequence[str]]:
    """The layouts that hold such a truth, best first -> names, one of which marks a layout."""
    if target == "normals":
        if ground_truth == "dsine":
            return {"dsine": ("dsine_eval/nyuv2/test",)}
        return {"mat": ("normals_gt",), "flat": ("normals",)}
    filled = {"flat": ("depth", "depths")} if depth_field == "filled" else {}
    return {"mat": ("nyu_depth_v2_labeled.mat",), **filled, "png": ("test",)}


class NYUv2(ReleaseReader[Entry]):
    """Depth or normals of indoor scenes, 480 x 640.

    Layouts, recognised by what lies in the folder:

    - mat: `nyu_depth_v2_labeled.mat` with `splits.mat`, and for normals `normals_gt/nm_NNNNNN.mat`
      (Ladicky's, as MarrRevisited distributes them); official.
    - flat: `images/`, `depth/`, `normals/`, `normals_mask/`, files NNNN by place in the test split
      (arXiv 2605.04566's extraction).
    - png: `test/<scene>/{rgb,depth,filled}_NNNN.png`, 16 bits, millimetres (Marigold's re-export).
    - dsine: `dsine_eval/nyuv2/test/NNNNNN_{img,normal}.png` (or `_normal.npy`), normals alone,
      those of ground_truth dsine.

    Both kinds of normals point left, up and toward the camera.
    """

    title = "NYU Depth v2"

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
        """What is asked of the pictures."""

        target: Annotated[
            Literal["depth", "normals"], msgspec.Meta(description="What the truth is.")
        ] = "depth"
        depth_field: Annotated[
            Literal["filled", "raw"],
            msgspec.Meta(description="In-painted depth, or what the sensor measured."),
        ] = "filled"
        ground_truth: Annotated[
            Literal["ladicky", "dsine"],
            msgspec.Meta(
                description="Whose normals: Ladicky's, or GeoNet's as DSINE distributes them; "
                "numbers on one do not compare with those on the other."
            ),
        ] = "ladicky"
        layout: Annotated[
            Literal["auto", "mat", "flat", "png", "dsine"],
            msgspec.Meta(description="How the files lie; auto: as they are found."),
        ] = "auto"

        def __post_init__(self) -> None:
            held = layouts_of(self.target, self.depth_field, self.ground_truth)
            if self.ground_truth == "dsine" and self.target == "depth":
                raise ValueError("ground_truth is about normals, the target is depth")
            if self.layout != "auto" and self.layout not in held:
                what = f"{self.depth_field} depth"
                if self.target == "normals":
                    what = f"normals of ground_truth {self.ground_truth}"
                raise ValueError(f"layout {self.layout} holds no {what}; {', '.join(held)} may")

    options: Options

    @property
    def measures(self) -> str:
        """What the truth is, as the metrics name it."""
        return self.options.target

    def find_entries(self) -> Iterator[Entry]:
        """The test split; MissingData, with what was looked for, when no layout is found."""
        found = self._layout.index()
        return (Entry(Item(id=name, group=name, tags=tags)) for name, tags in found.items())

    def read_entry(self, entry: Entry) -> Sample:
        """The picture and its truth."""
        name = entry.item.id
        picture, truth = self._layout.picture(name), self._layout.truth(name)
        if picture.shape[:2] != truth.shape[:2]:
            raise BadSample(
                f"{name}: the picture is {size_of(picture)}, its {self.options.target} "
                f"{size_of(truth)}"
            )
        if self.options.target == "normals":
            truth = to_house(truth, "left up toward")
            valid = np.isfinite(truth[..., 0])
        else:
            truth = np.where(truth > SPECKS_M, truth, np.float32(np.nan))
            valid = np.isfinite(truth)
        return make_sample(entry.item, picture, truth, valid=valid)

    def files_of(self, entry: Entry) -> Sequence[str]:
        """As its layout has them."""
        return self._layout.files(entry.item.id)

    def mark_truth(self) -> str:
        """What marks all the files: one of them holds pictures and truths."""
        return self._release.fingerprint(
            file for entry in self._entries.values() for file in self.files_of(entry)
        )

    @cached_property
    def _layout(self) -> Layout:
        from vgen_eval_plugins.datasets.nyuv2_files import DsineFiles, FlatFiles, PngFiles
        from vgen_eval_plugins.datasets.nyuv2_mat import MatFiles

        options = self.options
        marks = layouts_of(options.target, options.depth_field, options.ground_truth)
        name: str = options.layout
        if name == "auto":
            name = self._found(marks)
        if name == "dsine":
            return DsineFiles(self._release)
        if name == "png":
            return PngFiles(self._release, options.depth_field)
        if name == "flat":
            return FlatFiles(self._release, options.target)
        return MatFiles(self._release, options.target, options.depth_field)

    def _found(self, marks: Mapping[str, Sequence[str]]) -> str:
        for name, places in marks.items():
            if any(self._release.has(place) for place in places):
                return name
        wanted = ", ".join(places[0] for places in marks.values())
        hint = ""
        if self.options.depth_field == "raw" and self._release.has("images"):
            hint = "; the flat layout, which lies there, holds filled depth alone"
        raise MissingData(
            f"{self._release.title}: {self._release.root} holds none of {wanted}{hint}",
            cure=WHERE,
        )
