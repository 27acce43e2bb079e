"""Polygons and run lengths to masks, by COCO's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from vgen_eval.errors import MissingExtra

__all__ = ["draw_segments", "pack_mask", "unpack_mask"]

Size = tuple[int, int]
"""(height, width) in pixels."""


def _coco() -> Any:
    try:
        from pycocotools import mask
    except ImportError as exc:
        raise MissingExtra("data") from exc
    return mask


def draw_segments(segmentation: Any, size: Size) -> NDArray[np.bool_]:
    """bool (H, W): the union of a COCO annotation's parts; no part is an empty mask.

    Parts are polygons [x, y, ...], or run lengths {size, counts}, compressed or not, one or a list
    of them. ValueError for anything else, and for run lengths of another size.
    """
    parts = [segmentation] if isinstance(segmentation, Mapping) else segmentation
    if not isinstance(parts, Sequence) or isinstance(parts, str | bytes):
        raise ValueError(f"segmentation is {type(segmentation).__name__}, no list of parts")
    runs: list[Any] = []
    for part in parts:
        runs.extend(_polygon(part, size) if not isinstance(part, Mapping) else _runs(part, size))
    if not runs:
        return np.zeros(size, bool)
    # its own decoder is not kept up with NumPy 2, and warns of it at every call
    return unpack_mask(_coco().merge(runs)["counts"], size)


def _polygon(part: Any, size: Size) -> list[Any]:
    """Its run lengths; a polygon of under three corners has no pixels."""
    numbers = np.asarray(part, dtype=object)
    if numbers.ndim != 1 or numbers.size % 2 or not all(_is_number(n) for n in part):
        raise ValueError("a polygon is no list of x, y, x, y, ...")
    corners = numbers.astype(np.float64)
    if not np.isfinite(corners).all() or (np.abs(corners) > 1 << 20).any():
        raise ValueError("a polygon lies far outside of the picture")
    if corners.size < 6:
        return []
    runs: list[Any] = _coco().frPyObjects([corners.tolist()], *size)
    return runs


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _runs(part: Mapping[str, Any], size: Size) -> list[Any]:
    given, counts = part.get("size"), part.get("counts")
    if not isinstance(given, Sequence) or list(given) != list(size):
        raise ValueError(f"run lengths of the size {given}, the picture has {list(size)}")
    if isinstance(counts, str | bytes):
        data = counts.encode("ascii", "replace") if isinstance(counts, str) else counts
        unpack_mask(data, size)  # its sum is checked there
        return [{"size": list(size), "counts": data}]
    if not isinstance(counts, Sequence) or not all(
        isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts
    ):
        raise ValueError("run lengths are neither text nor a list of whole numbers")
    if sum(counts) != size[0] * size[1]:
        raise ValueError(f"run lengths add up to {sum(counts)} pixels, not {size[0] * size[1]}")
    return [_coco().frPyObjects({"size": list(size), "counts": list(counts)}, *size)]


def pack_mask(mask: NDArray[np.bool_]) -> str:
    """A mask (H, W) as COCO's compressed run lengths."""
    counts: bytes = _coco().encode(np.asfortranarray(mask.view(np.uint8)))["counts"]
    return counts.decode("ascii")


def unpack_mask(counts: str | bytes, size: Size) -> NDArray[np.bool_]:
    """bool (H, W) of COCO's compressed run lengths; ValueError unless they fill that size.

    Written here: the library trusts its input, and reads beyond the end of what is cut off.
    """
    data = counts.encode("ascii", "replace") if isinstance(counts, str) else counts
    lengths = _lengths(data)
    ends = np.cumsum(lengths)
    pixels = size[0] * size[1]
    if (
        (lengths < 0).any()
        or (ends > pixels).any()
        or (int(ends[-1]) if ends.size else 0) != pixels
    ):
        raise ValueError(f"run lengths do not fill {size[1]}x{size[0]} pixels")
    flat = np.repeat(np.arange(lengths.size) % 2 == 1, lengths)
    return np.ascontiguousarray(flat.reshape(size[1], size[0]).T)  # runs go down the columns


def _lengths(data: bytes) -> NDArray[np.int64]:
    """The run lengths: groups of 5 bits, the sixth says that more follow; from the third run on
    each is written as its difference to the one before last."""
    groups = np.frombuffer(data, np.uint8).astype(np.int64) - 48
    if groups.size and (groups.min() < 0 or groups.max() > 63):
        raise ValueError("run lengths hold a character that none is written with")
    ends = np.flatnonzero((groups & 32) == 0)
    if groups.size and (not ends.size or ends[-1] != groups.size - 1):
        raise ValueError("run lengths are cut off")
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64) if ends.size else ends
    place = np.arange(groups.size) - np.repeat(starts, ends - starts + 1)
    if place.size and place.max() > 6:
        raise ValueError("run lengths hold a number that no picture has")
    values = np.add.reduceat((groups & 31) << (5 * place), starts) if ends.size else groups
    is_negative = (groups[ends] & 16) != 0
    values = values - np.where(is_negative, np.int64(1) << (5 * (ends - starts + 1)), 0)
    if values.size > 2:  # every other run is its own sum, the first two and the second from there
        values[1::2] = np.cumsum(values[1::2])
        values[2::2] = np.cumsum(values[2::2])
    return values
