"""The colours that a figure's panes are in: bars of numbers, frames of normals, classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval.viewer.drawing.maps import BY_KIND, class_colour
from vgen_eval.viewer.drawing.ranges import range_of
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.looking import Shown
from vgen_eval.viewing import ClassMap, Colour, Directions, ScalarMap

__all__ = ["Scale", "Seen", "list_colours", "tell_colours"]


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """Colours of numbers, as a bar shows them."""

    map: str
    """Name in the tables of colours."""
    low: float
    high: float
    unit: str
    reverse: bool
    of: str
    """What it colours, in a word: prediction or error."""


class Seen:
    """What the panes that were drawn are in."""

    def __init__(self) -> None:
        self.scales: dict[str, list[Scale]] = {}
        self.frames: dict[str, None] = {}
        self.classes: dict[str, Colour] = {}

    def scale(
        self, shown: Shown | None, of: str, style: Style, ranges: Mapping[str, tuple[float, float]]
    ) -> Scale | None:
        """The colours of a pane of numbers; the others are noted for the caption."""
        body = None if shown is None else shown.pane.body
        if isinstance(body, Directions):
            self.frames[body.frame] = None
        if isinstance(body, ClassMap):
            self._note_classes(body)
        if shown is None or not isinstance(body, ScalarMap):
            return None
        ends = range_of(shown, ranges)
        if ends is None:
            return None
        low, high = style.low if style.low is not None else ends[0], ends[1]
        high = style.high if style.high is not None else high
        name = style.map or BY_KIND[body.kind]
        found = Scale(
            map=name, low=low, high=high, unit=body.unit, reverse=body.reverse, of=of
        )  # fmt: skip
        self.scales.setdefault(of, []).append(found)
        return found

    def _note_classes(self, body: ClassMap) -> None:
        import numpy as np

        for place in np.unique(body.ids).tolist():
            if 0 <= place < len(body.classes):
                colour = body.colours[place] if body.colours else class_colour(place)
                self.classes.setdefault(body.classes[place], colour)


def list_colours(seen: Seen, style: Style) -> list[dict[str, Any]]:
    """Maps with their ends; an entry for all samples where they have one range."""
    found = []
    for of, scales in seen.scales.items():
        ends = {(one.low, one.high): None for one in scales}
        low, high = next(iter(ends)) if len(ends) == 1 else (None, None)
        found.append(
            {
                "of": of,
                "map": scales[0].map,
                "low": low,
                "high": high,
                "ranges": [list(pair) for pair in ends],
                "unit": scales[0].unit,
                "reverse": scales[0].reverse,
                "scale": style.scale if of != "error" else "linear",
            }
        )
    return found


def tell_colours(entry: Mapping[str, Any]) -> str:
    """ "map viridis, 0.7 to 4.2 m, low is bright"."""
    unit = f" {entry['unit']}" if entry["unit"] else ""
    if entry["low"] is not None:
        ends = f"{entry['low']:.3g} to {entry['high']:.3g}{unit}"
    else:
        ends = f"range of each sample beside it{f' in{unit}' if unit else ''}"
    bright = ", the low end bright" if entry["reverse"] else ""
    bright += ", clipped"
    scale = "" if entry["scale"] == "linear" else f", {entry['scale']}"
    what = "errors in" if entry["of"] == "error" else "map"
    return f"{what} {entry['map']}, {ends}{scale}{bright}"
