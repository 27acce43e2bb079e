"""Pickles as Python 2 wrote them: protocol 2, byte strings, memo entries for every string."""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["dumps"]


def dumps(value: Any) -> bytes:
    """Lists, dicts, ints and texts. ASCII text is Python 2's `str`, other text its `unicode`."""
    memo: dict[str, int] = {}
    return b"\x80\x02" + _emit(value, memo) + b"."


def _emit(value: Any, memo: dict[str, int]) -> bytes:
    if isinstance(value, str):
        return _emit_text(value, memo)
    if isinstance(value, int):
        if 0 <= value < 256:
            return b"K" + struct.pack("<B", value)
        if 0 <= value < 65536:
            return b"M" + struct.pack("<H", value)
        return b"J" + struct.pack("<i", value)
    if isinstance(value, list):
        return b"](" + b"".join(_emit(item, memo) for item in value) + b"e"
    if isinstance(value, dict):
        pairs = (_emit(key, memo) + _emit(item, memo) for key, item in value.items())
        return b"}(" + b"".join(pairs) + b"u"
    raise TypeError(f"{type(value).__name__} is not written here")


def _emit_text(text: str, memo: dict[str, int]) -> bytes:
    if text in memo:  # the second time it is fetched from the memo, as for interned strings
        return b"j" + struct.pack("<I", memo[text])
    data = text.encode()
    if not text.isascii():
        head = b"X" + struct.pack("<I", len(data))
    elif len(data) < 256:
        head = b"U" + struct.pack("<B", len(data))
    else:
        head = b"T" + struct.pack("<i", len(data))
    memo[text] = len(memo)
    return head + data + b"r" + struct.pack("<I", memo[text])
