"""A new plugin, written: a complete package of one kind, which runs as it is."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["KINDS", "Kind"]

Kind = Literal["model", "task", "metric", "family"]
KINDS: tuple[Kind, ...] = get_args(Kind)
