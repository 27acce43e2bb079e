"""What the contract's tests share: how a toy plugin is asked for."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Make"]


class Make(Protocol):
    """Installs the toy plugin with `old` replaced by `new` in one file; gives its distribution."""

    def __call__(self, file: str = "", old: str = "", new: str = "") -> str: ...
