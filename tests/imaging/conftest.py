"""Files in parameters are named by their size and first bytes, not by all of them."""

from __future__ import annotations

from typing import Any


def pytest_make_parametrize_id(config: Any, val: Any, argname: str) -> str | None:
    if not isinstance(val, bytes):
        return None
    return f"{len(val)} bytes {val[:8]!r}".replace("\\x", "")
