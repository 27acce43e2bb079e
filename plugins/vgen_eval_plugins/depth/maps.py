"""What every answer about depth is read into, and the steps that maps of numbers share."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import NoValidTarget, Undecodable
from vgen_eval.imaging import resize

from vgen_eval_plugins.filling import nearest_known

__all__ = ["DepthMap", "Linear", "Space", "fill_unknown", "known_depth", "resize_map", "summarise"]

Space = Literal["relative", "depth", "disparity"]
Linear = Literal["depth", "disparity"]
Map = NDArray[np.float32]


class DepthMap(msgspec.Struct, frozen=True, eq=False):
    """A prediction of depth on the target's grid."""

    values: NDArray[Any]
    """float (H, W); NaN where the answer leaves the pixel open."""
    space: Space
    """depth: metres, or affine in them; disparity: 1 / metre, or affine in it; relative: a number
    of which only the order is known."""


def resize_map(values: Map, size: tuple[int, int]) -> Map:
    """float32 at (height, width) of a map of any size; open pixels (NaN) do not spread.

    Bilinear where all pixels that contribute are known; elsewhere the nearest pixel, known or not.
    """
    height, width = size
    smooth = resize(values, height=height, width=width, kind="map")
    spoilt = np.isnan(smooth)
    if not spoilt.any() or smooth is values:
        return smooth
    nearest = resize(values, height=height, width=width, kind="labels")
    return np.where(spoilt, nearest, smooth)


def known_depth(target: Any) -> NDArray[np.bool_]:
    """bool (H, W): where a target in metres is a depth at all, finite and above 0."""
    return np.asarray((target > 0) & (target < np.inf))


def fill_unknown(values: Map, known: NDArray[np.bool_]) -> Map:
    """The map with unknown pixels as the nearest known one; NoValidTarget when none is known."""
    if known.all():
        return values
    if not known.any():
        raise NoValidTarget("no pixel of the target has a depth")
    return np.asarray(values.reshape(-1)[nearest_known(known)])


def summarise(values: NDArray[Any], space: Space) -> dict[str, Any]:
    """Range and open part of a map, small, for the record; Undecodable when all of it is open."""
    some, low = values, float(values.min())  # NaN, if there is one
    if np.isnan(low):
        some = values[~np.isnan(values)]
        if not some.size:
            raise Undecodable("the map leaves every pixel open")
        low = float(some.min())
    return {
        "space": space,
        "low": round(low, 6),
        "high": round(float(some.max()), 6),
        "open_fraction": round(1 - some.size / values.size, 6),
    }
