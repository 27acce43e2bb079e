"""What the views of dense families share: titles, and the colours of right and wrong."""

from __future__ import annotations

from typing import TypeVar

from vgen_eval.viewing import Colour, Seen

__all__ = [
    "AGREE",
    "EXTRA",
    "IGNORED",
    "MISSED",
    "WRONG",
    "metric_of",
    "percent",
    "predicted",
    "share",
]

M = TypeVar("M")

AGREE: Colour = (205, 205, 205)
MISSED: Colour = (45, 105, 200)
EXTRA: Colour = (240, 140, 30)
WRONG: Colour = (135, 60, 165)
IGNORED: Colour = (130, 130, 130)
"""Told apart without red and green; what is wrong has a pattern as well."""


def metric_of(seen: Seen, kind: type[M]) -> M | None:
    """The first of the protocol's metrics that is of this kind; None for none."""
    return next((metric for metric in seen.metrics.values() if isinstance(metric, kind)), None)


def predicted(seen: Seen) -> str:
    """The title of the prediction's pane."""
    return "Failure value, scored in place of an answer" if seen.substitute else "Prediction"


def share(number: float) -> str:
    """A number of 0 to 1 as scores are written: "0.710", "1.000"."""
    return f"{number:.3f}"


def percent(part: float, whole: float) -> str:
    """ "12.3 %" of a whole; "0 %" of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "0 %"
