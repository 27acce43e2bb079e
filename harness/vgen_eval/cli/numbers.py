"""Numbers as people read them: three figures, intervals, durations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgen_eval.statistics import Interval

__all__ = ["duration", "interval", "number", "size"]


def number(value: float | None) -> str:
    """Three significant figures, all of them of a large number; "-" for none."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def interval(found: Interval) -> str:
    """[low, high], or nothing when there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"[{number(found.low)}, {number(found.high)}]"


def duration(seconds: float) -> str:
    """6 s, 3 min 20 s, 3 h 10 min."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(count: float) -> str:
    """512 B, 1.2 MB, 34 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
