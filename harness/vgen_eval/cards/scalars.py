"""Plain scalars by the YAML 1.2 core schema (YAML 1.2.2, section 10.3): null, bool, int, float.

PyYAML follows YAML 1.1, where `no` is false, 16:9 is 969, 1_000 is 1000 and 1e-3 is text.
"""

from __future__ import annotations

import math
import re

__all__ = ["CORE_TAGS", "PREFIX", "Scalar", "resolve_plain", "resolve_tagged"]

Scalar = str | int | float | bool | None

PREFIX = "tag:yaml.org,2002:"
CORE_TAGS = frozenset(
    PREFIX + kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")
)

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STARTS_A_NUMBER = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_INT_DIGITS = 80  # far beyond 64 bits in any base, far below Python's own limit on digits


def resolve_plain(text: str) -> Scalar:
    """The value that an unquoted scalar stands for; text when it is no word or number.

    ValueError for infinity, NaN, and numbers that 64 bits do not hold: neither JSON nor a digest
    has them.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _STARTS_A_NUMBER:
        return text
    if _INT.fullmatch(text):
        return _read_int(text)
    if _FLOAT.fullmatch(text):
        return _read_float(text)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is no finite number; quote it if text is meant")
    return text


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit core tag; ValueError when it does not fit the tag."""
    kind = tag.removeprefix(PREFIX)
    if kind == "str":
        return text
    value = resolve_plain(text)
    if kind == "float" and type(value) is int:
        return float(value)
    wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}.get(kind)
    if wanted is None or type(value) is not wanted:
        raise ValueError(f"{text[:60]!r} is no !!{kind}")
    return value


def _read_int(text: str) -> int:
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    value = int(text, base) if len(text) <= _INT_DIGITS else 2**64
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{text[:40]} does not fit 64 bits; quote it if text is meant")
    return value


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large for a 64-bit float")
    return value
