"""Ends of colours: one range for all panes that share it, taken from the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from vgen_eval.viewer.looking.records import Look, Shown
from vgen_eval.viewing import ScalarMap

__all__ = ["NO_RANGES", "Range", "apart", "range_of", "shared_ranges"]

Range = tuple[float, float]
NO_RANGES: Mapping[str, Range] = {}


def shared_ranges(looks: Iterable[Look]) -> Mapping[str, Range]:
    """`shares` word -> (low, high), over all panes of these attempts that have it.

    Of the target where one has the word, else of all of them together: the widest ends of their
    spreads. Words without a finite number are left out.
    """
    targets: dict[str, list[Range]] = {}
    others: dict[str, list[Range]] = {}
    for look in looks:
        for shown in look.panes:
            word, spread = shown.pane.shares, shown.spread
            if not word or spread is None:
                continue
            (targets if shown.pane.role == "target" else others).setdefault(word, []).append(spread)
    return {word: _widest(found) for word, found in {**others, **targets}.items()}


def _widest(spreads: Iterable[Range]) -> Range:
    lows, highs = zip(*spreads, strict=True)
    return min(lows), max(highs)


def range_of(shown: Shown, ranges: Mapping[str, Range] = NO_RANGES) -> Range | None:
    """(low, high) of a map of numbers: its own ends, the shared ones, its own spread.

    None for other panes. Always finite and low < high; a diverging map's own ends are symmetric.
    """
    body = shown.pane.body
    if not isinstance(body, ScalarMap):
        return None
    found = ranges.get(shown.pane.shares) if shown.pane.shares else None
    low, high = found or shown.spread or (0.0, 1.0)
    if body.kind == "diverging" and body.low is None and body.high is None:
        high = max(abs(low), abs(high))
        low = -high
    if body.low is not None:
        low = float(body.low)
    if body.high is not None:
        high = float(body.high)
    return apart(low, high)


def apart(low: float, high: float) -> Range:
    """The ends, widened where there is nothing between them."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if low < high:
        return low, high
    step = max(abs(low), 1e-6) * 0.05
    return low - step, low + step
