"""The one JSON encoder: strict, canonical, and without NaN or infinity."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Mapping
from typing import Any

import orjson

__all__ = ["canonical", "digest", "dumps", "finite", "loads", "plain", "pretty"]


def finite(value: Any) -> Any:
    """The same JSON value; ValueError with the path of the first NaN or infinity.

    orjson and msgspec would write null in silence, which reads back as "no value".
    """
    _refuse_non_finite([value], "$")
    return value


def _refuse_non_finite(value: Any, path: str) -> None:
    """Walks containers alone: most entries are text and numbers, and lines are many."""
    items = value.items() if type(value) is dict else enumerate(value)
    for key, item in items:
        kind = type(item)
        if kind is str or kind is int:
            continue
        if kind is dict or kind is list or kind is tuple:
            _refuse_non_finite(item, f"{path}.{key}")
        elif isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"{path}.{key} is {item}: JSON holds null and a reason instead")


def plain(value: Any, path: str = "$") -> Any:
    """The value as JSON's own types: NumPy's numbers and arrays, which plugins give, converted.

    ValueError with the path of what JSON cannot hold.
    """
    kind = type(value)
    if kind is int or (kind is float and math.isfinite(value)):
        return value  # nearly all of them
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {_key(key, path): plain(entry, f"{path}.{key}") for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, f"{path}.{at}") for at, entry in enumerate(value)]
    if isinstance(value, numbers.Real):
        return _number(value, path)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    raise ValueError(f"{path} is {type(value).__name__}, which JSON does not hold")


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{path} has the key {key!r}, which is no text")
    return str(key)


def _number(value: numbers.Real, path: str) -> int | float:
    if isinstance(value, numbers.Integral):
        return int(value)
    if not math.isfinite(value):
        raise ValueError(f"{path} is {float(value)}: JSON holds null and a reason instead")
    return float(value)


def dumps(value: Any) -> bytes:
    """One line of strict JSON, keys in the order given."""
    return orjson.dumps(finite(value))


def canonical(value: Any, *, is_read: bool = False) -> bytes:
    """Strict JSON with sorted keys: equal values give equal bytes.

    `is_read`: it came out of `loads`, which lets no NaN or infinity in, so that none is looked for.
    """
    return orjson.dumps(value if is_read else finite(value), option=orjson.OPT_SORT_KEYS)


def pretty(value: Any) -> str:
    """Strict JSON for people: two spaces, a final newline."""
    return orjson.dumps(
        finite(value), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    ).decode()


def loads(data: bytes | str) -> Any:
    """The value of strict JSON; ValueError for anything else, NaN and Infinity included."""
    return orjson.loads(data)


def digest(value: Any) -> str:
    """sha256, in hex, of the canonical form."""
    return hashlib.sha256(canonical(value)).hexdigest()
