"""Vectors of length 1 on a grid, some of them unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from vgen_eval.types import Scene

from vgen_eval_plugins.filling import nearest_known

__all__ = [
    "FACING",
    "FACING_AWAY",
    "Normals",
    "away_fraction",
    "normalise",
    "restore_normals",
    "seen_normals",
]

Normals = NDArray[np.float32]
"""(H, W, 3) of length 1, NaN where unknown."""

FACING = (0.0, 0.0, 1.0)
"""Toward the camera, in the house's frame."""

FACING_AWAY = "facing_away"
"""Flag of an answer most of whose vectors point away from the camera, as nothing visible does."""

FLOOR = 1e-8
"""A vector shorter than this has no direction."""

BLOCK = 1 << 15
"""Pixels at a time: few enough that all planes of a block stay in the cache."""

CANCELLED = 1e-3
"""A mean of unit vectors shorter than this is one of opposite ones, and has none either."""


def normalise(vectors: NDArray[Any], *, floor: float = FLOOR) -> Normals:
    """(H, W, 3) of length 1; NaN where a vector is shorter than `floor` or not finite."""
    given = np.asarray(vectors)
    out = np.empty(given.shape, np.float32)
    rows = max(1, BLOCK // max(1, given.shape[1]))
    for top in range(0, len(given), rows):
        _normalise_rows(given[top : top + rows], out[top : top + rows], floor)
    return out


def _normalise_rows(vectors: NDArray[Any], out: Normals, floor: float) -> None:
    planes = [vectors[..., axis].astype(np.float64) for axis in range(3)]
    with np.errstate(all="ignore"):  # NaN is unknown; what is too large is told apart below
        length = planes[0] * planes[0]
        for plane in planes[1:]:
            length += plane * plane
    if np.isinf(np.fmax.reduce(length, axis=None, initial=0.0)):  # NaN is passed over
        out[:] = _normalise_large(vectors, floor)
        return
    np.sqrt(length, out=length)
    length[~(length >= floor)] = np.nan
    for axis, plane in enumerate(planes):
        np.divide(plane, length, out=out[..., axis], casting="same_kind")


def _normalise_large(vectors: NDArray[Any], floor: float) -> Normals:
    """The same for any numbers: by the largest component first, whose square may be no number."""
    exact = np.asarray(vectors, np.float64)
    known = np.isfinite(exact).all(axis=2, keepdims=True)
    largest = np.abs(exact).max(axis=2, keepdims=True, initial=0.0, where=known)
    known &= largest > 0
    scaled = np.divide(exact, largest, out=np.full_like(exact, np.nan), where=known)
    length = np.sqrt((scaled * scaled).sum(axis=2, keepdims=True))
    length[~(length * largest >= floor)] = np.nan
    return np.asarray(scaled / length, np.float32)


def away_fraction(normals: NDArray[Any]) -> float:
    """Which part of the known vectors (H, W, 3) points away from the camera; 0 of none."""
    toward = normals[..., 2]
    known = int(np.count_nonzero(np.isfinite(toward)))
    return int(np.count_nonzero(toward < 0)) / max(known, 1)


def restore_normals(vectors: Normals, scene: Scene) -> Normals:
    """An answer's unit vectors on the original's grid; unknown pixels spread to no other.

    Where less than half of a pixel's weight is of known ones it is unknown itself.
    """
    geometry = scene.geometry
    known = np.isfinite(vectors[..., 0])
    if known.all():
        found = geometry.restore(vectors, "map")
        return vectors if found is vectors else normalise(found, floor=CANCELLED)
    shares = known.astype(np.float32)
    weights = geometry.restore(shares, "map")
    if weights is shares:
        return vectors
    found = geometry.restore(np.where(known[..., None], vectors, np.float32(0)), "map")
    found = normalise(found, floor=CANCELLED)
    found[weights < 0.5] = np.nan
    return found


def seen_normals(target: Normals, scene: Scene) -> Normals:
    """The truth on the grid of the picture that the model saw, of length 1 everywhere.

    Unknown pixels take the nearest known vector: they carry no truth, and must not bleed into
    their neighbours when the map is resized.
    """
    whole = normalise(target)
    known = np.isfinite(whole[..., 0])
    if not known.any():
        whole = np.broadcast_to(np.array(FACING, np.float32), whole.shape)
    elif not known.all():
        whole = whole.reshape(-1, 3)[nearest_known(known)]
    shown = scene.geometry.project(whole, "map", fill=FACING)
    # a mean of opposite vectors has no direction
    shown = normalise(shown, floor=CANCELLED)
    shown[np.isnan(shown[..., 0])] = FACING
    return shown
