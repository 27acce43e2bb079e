"""NYU Depth v2 as its makers publish it: one HDF5 file, the split and Ladicky's normals beside."""

from __future__ import annotations

import io
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import BadSample, MissingData, MissingExtra

from vgen_eval_plugins.datasets.release import Release

__all__ = ["FILE", "MatFiles"]

FILE = "nyu_depth_v2_labeled.mat"
SPLITS = "splits.mat"
AXES = {"images": 3, "depths": 2, "rawDepths": 2}
"""Of one sample's array."""
SMALL = 1 << 26
"""Bytes that a MATLAB 5 file of the release may have."""


def read_matlab(data: bytes, *names: str, what: str) -> list[NDArray[Any]]:
    """Arrays of a MATLAB 5 file; ValueError, naming the file, when it holds them not."""
    import scipy.io

    try:
        found = scipy.io.loadmat(io.BytesIO(data), variable_names=names)
    except Exception as exc:  # its reader has errors of many kinds
        raise ValueError(f"{what} is no MATLAB 5 file: {exc}") from exc
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"{what} holds no '{missing[0]}'")
    return [np.asarray(found[name]) for name in names]


class MatFiles:
    """`nyu_depth_v2_labeled.mat`; arrays lie transposed in it, as MATLAB writes them."""

    def __init__(self, release: Release, target: str, depth_field: str) -> None:
        self._release = release
        self._target = target
        self._field = "depths" if depth_field == "filled" else "rawDepths"
        self._lock = threading.Lock()

    def index(self) -> Mapping[str, Mapping[str, str]]:
        """Places in the test split; MissingData when the split or the pictures cannot be had."""
        numbers = self._numbers
        fields = ("images",) if self._target == "normals" else ("images", self._field)
        for field in fields:
            count = self._count(field)
            if max(numbers) > count:
                raise MissingData(
                    f"{FILE} holds {count} {field}, {SPLITS} names number {max(numbers)}"
                )
        types = self._scene_types(numbers)
        return {f"{place:04d}": tags for place, tags in enumerate(types)}

    def _count(self, field: str) -> int:
        """Entries of a field; MissingData when it is no array of pictures or maps."""
        array = self._open(field)
        axes, kinds = (4, "u") if field == "images" else (3, "f")
        kind = getattr(getattr(array, "dtype", None), "kind", "")
        if kind not in kinds or len(getattr(array, "shape", ())) != axes:
            raise MissingData(
                f"{self._release.root / FILE}: '{field}' is not the array of {axes} axes wanted",
                cure="the labelled data set is a MATLAB 7.3 file of 2.8 GB: fetch it again",
            )
        return int(array.shape[0])

    def files(self, name: str) -> Sequence[str]:
        """The one file, the split, which says what an id means, and a sample's normals."""
        if self._target == "depth":
            return [FILE, SPLITS]
        return [FILE, SPLITS, f"normals_gt/nm_{self._numbers[int(name)]:06d}.mat"]

    def picture(self, name: str) -> NDArray[np.uint8]:
        """uint8 (H, W, 3)."""
        return self._read("images", name).astype(np.uint8, copy=False)

    def truth(self, name: str) -> NDArray[np.float32]:
        """Metres, or normals where `depthValid` says so."""
        if self._target == "depth":
            return self._read(self._field, name).astype(np.float32, copy=False)
        file = self.files(name)[-1]
        try:
            x, y, z, known = read_matlab(
                self._release.read(file, limit=SMALL), "nx", "ny", "nz", "depthValid", what=file
            )
        except ValueError as exc:
            raise BadSample(str(exc)) from exc
        if len({part.shape for part in (x, y, z, known)}) > 1 or x.ndim != 2:
            raise BadSample(f"{file}: nx, ny, nz and depthValid are no maps of one size")
        normals = np.stack([x, y, z], axis=-1).astype(np.float32)
        normals[known == 0] = np.nan
        return normals

    @cached_property
    def _numbers(self) -> list[int]:
        """Of each test sample: its number among all pictures, from 1."""
        data = self._release.read_index(
            SPLITS, cure="splits.mat lies beside the labelled data set on its page", limit=SMALL
        )
        try:
            (numbers,) = read_matlab(data, "testNdxs", what=SPLITS)
        except ValueError as exc:
            raise MissingData(f"{self._release.title}: {exc}") from exc
        whole = numbers.dtype.kind in "iu" or (
            numbers.dtype.kind == "f" and bool((numbers % 1 == 0).all())
        )
        if not whole:
            raise MissingData(f"{self._release.title}: {SPLITS}: testNdxs holds no whole numbers")
        flat = [int(number) for number in numbers.reshape(-1)]
        if len(set(flat)) < len(flat):
            raise MissingData(f"{self._release.title}: {SPLITS}: testNdxs names a picture twice")
        if not flat or min(flat) < 1:
            raise MissingData(
                f"{self._release.title}: {SPLITS}: testNdxs counts from 1: {flat[:3]}"
            )
        return flat

    @cached_property
    def _file(self) -> Any:
        try:
            import h5py
        except ImportError as exc:
            raise MissingExtra("data") from exc
        path = self._release.root / FILE
        try:
            return h5py.File(path, "r")
        except OSError as exc:
            raise MissingData(
                f"{path} is no whole HDF5 file: {exc}",
                cure="the labelled data set is a MATLAB 7.3 file of 2.8 GB: fetch it again",
            ) from exc

    def _scene_types(self, numbers: Sequence[int]) -> list[dict[str, str]]:
        """Tags of the pictures; empty where the file says nothing of their scenes."""
        with self._lock:
            cells = self._file.get("sceneTypes")
            kind = getattr(getattr(cells, "dtype", None), "kind", "")
            if kind != "O" or cells.size < max(numbers):
                return [{} for _ in numbers]
            flat = cells[()].reshape(-1)  # a cell array: references to columns of UTF-16
            texts = (self._file[flat[number - 1]][()] for number in numbers)
            return [{"scene": "".join(map(chr, text.reshape(-1)))} for text in texts]

    def _open(self, name: str) -> Any:
        with self._lock:  # the library is not made for several threads
            if name not in self._file:
                raise MissingData(f"{FILE} holds no '{name}': is it the labelled data set?")
            try:
                return self._file[name]
            except (KeyError, OSError) as exc:  # a link that leads nowhere
                raise MissingData(f"{FILE}: '{name}' cannot be opened: {exc}") from exc

    def _read(self, field: str, name: str) -> NDArray[Any]:
        """A sample's array, its axes the right way round."""
        array = self._open(field)
        with self._lock:
            try:
                part = np.asarray(array[self._numbers[int(name)] - 1])
            except (OSError, ValueError) as exc:
                raise BadSample(f"{FILE}: {field} of {name} cannot be read: {exc}") from exc
        if part.ndim != AXES[field] or part.dtype.kind not in "iuf":
            raise BadSample(f"{FILE}: {field} of {name} is {part.dtype} {part.shape}, no picture")
        return np.ascontiguousarray(part.T)
