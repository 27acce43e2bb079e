"""PyAV, the optional library that reads and writes videos."""

from __future__ import annotations

import importlib
from typing import Any

from vgen_eval.errors import MissingExtra

__all__ = ["load_av"]


def load_av() -> Any:
    """The module `av`; MissingExtra when it is not installed."""
    try:
        return importlib.import_module("av")
    except ImportError as exc:
        raise MissingExtra("video") from exc
