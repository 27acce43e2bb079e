"""Quantiles of seconds, as result cards and efficiency records give them."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["quantile"]


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two closest ranks of ascending values (Hyndman and Fan, type 7)."""
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
