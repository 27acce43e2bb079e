"""Comparing what plugins give: equality to the last bit, closeness, and how far from the best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from vgen_eval.imaging import Image
from vgen_eval.types import Value

__all__ = ["best_of", "close", "enlarge", "leaves", "on_grid", "same", "shortfall", "worse"]

_TOLERANCE = 1e-9
"""Relative: sums of floats in another order differ in their last digits."""


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, NaN with NaN; arrays by type and shape as well."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _same_arrays(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, Image):
        return bool(a.sha256 == b.sha256)
    if isinstance(a, msgspec.Struct):
        return all(same(getattr(a, f), getattr(b, f)) for f in a.__struct_fields__)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def _same_arrays(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def close(a: Any, b: Any) -> bool:
    """Equal but for the rounding of sums."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(close(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=1e-12)
    return same(a, b)


def leaves(statistics: Any) -> int:
    """How many numbers and texts it holds."""
    if isinstance(statistics, Mapping):
        return sum(map(leaves, statistics.values()))
    if isinstance(statistics, (list, tuple)):
        return sum(map(leaves, statistics))
    return int(statistics.size) if isinstance(statistics, np.ndarray) else 1


def best_of(value: Value) -> float | None:
    """The best that the value declares; None where it has no such bound."""
    return value.high if value.higher_is_better else value.low


def worse(value: Value, a: float, b: float) -> bool:
    """Is `a` worse than `b`?"""
    return a < b if value.higher_is_better else a > b


def shortfall(value: Value, got: float, *, floor: float | None) -> float | None:
    """How far from the best, as a part of its range, or of the floor's distance where it has none.

    None when neither is known.
    """
    best = best_of(value)
    if best is None:
        return None
    gap = abs(got - best)
    if gap <= _TOLERANCE:
        return 0.0
    if value.low is not None and value.high is not None:
        scale = value.high - value.low
    elif floor is not None:
        scale = abs(floor - best)
    else:
        return None
    return gap / scale if scale else math.inf


def on_grid(value: Any, size: tuple[int, int]) -> bool:
    """Do the maps of a prediction, if it has any, lie on the grid (height, width)?"""
    return all(array.shape[:2] == size for array in _maps(value))


def _maps(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Arrays of (H, W, ...) in a prediction: itself, or a record's."""
    parts = [value]
    if isinstance(value, msgspec.Struct):
        parts = [getattr(value, name) for name in value.__struct_fields__]
    for part in parts:
        # (N, 2) are points: a map has two sides
        if isinstance(part, np.ndarray) and part.ndim >= 2 and part.shape != (len(part), 2):
            yield part


def enlarge(thing: Any, size: tuple[int, int]) -> Any:
    """The thing with its maps of that size (height, width) twice as large on both sides."""
    if isinstance(thing, np.ndarray):
        if thing.ndim < 2 or thing.shape[:2] != size:
            return thing
        return np.ascontiguousarray(thing.repeat(2, axis=0).repeat(2, axis=1))
    if isinstance(thing, msgspec.Struct) and not isinstance(thing, type):
        changed = {name: enlarge(getattr(thing, name), size) for name in thing.__struct_fields__}
        return msgspec.structs.replace(thing, **changed)
    return thing
