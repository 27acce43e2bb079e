"""What a measure came to: a finite number, or none and the reason."""

from __future__ import annotations

import msgspec

__all__ = ["Measured"]


class Measured(msgspec.Struct, frozen=True):
    """A finite value, or None with a reason; never NaN and never infinite."""

    value: float | None
    reason: str = ""
    """Why there is none."""
