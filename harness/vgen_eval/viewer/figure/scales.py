"""The colours that a figure's panes are in: bars of numbers, frames of normals, classes, marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from vgen_eval.viewer.drawing.legend import legend_of
from vgen_eval.viewer.drawing.maps import BY_KIND, HATCH, MARKS
from vgen_eval.viewer.drawing.ranges import range_of
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewing import ClassMap, Colour, Directions, Marks, ScalarMap

__all__ = ["Key", "Scale", "Seen", "list_colours", "tell_colours"]


Shape = Literal["plain", "dotted", "hatch", "ring", "square", "cross", "dot"]


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


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the legend: a class, a mark, or what the hatch means."""

    name: str
    colour: Colour
    shape: Shape = "plain"


class Seen:
    """What the panes that were drawn are in."""

    def __init__(self) -> None:
        self.scales: dict[str, list[Scale]] = {}
        self.beyond: dict[str, set[str]] = {}
        """What is coloured -> `low`, `high`: ends of its colours that some number lies beyond."""
        self.frames: dict[str, None] = {}
        self.keys: dict[Key, None] = {}
        self.has_clips = False

    def note(
        self, shown: Shown, look: Look, of: str, style: Style,
        ranges: Mapping[str, tuple[float, float]],
    ) -> Scale | None:  # fmt: skip
        """The colours of a pane of numbers; the others are noted for legend and caption."""
        body = shown.pane.body
        if isinstance(body, Directions | ScalarMap):
            self._note_gaps(body)
        if isinstance(body, Directions):
            self.frames[body.frame] = None
        elif isinstance(body, ClassMap):
            self._note_classes(shown, look, body)
        elif isinstance(body, Marks):
            for mark in body.marks:
                key = Key(name=mark.meaning, colour=MARKS[mark.shape], shape=mark.shape)
                self.keys[key] = None
        elif isinstance(body, ScalarMap):
            return self._note_numbers(shown, body, of, style, ranges)
        return None

    def _note_numbers(
        self, shown: Shown, body: ScalarMap, of: str, style: Style,
        ranges: Mapping[str, tuple[float, float]],
    ) -> Scale | None:  # fmt: skip
        import numpy as np

        ends = range_of(shown, ranges)
        if ends is None:
            return None
        low = ends[0] if style.low is None else style.low
        high = ends[1] if style.high is None else style.high
        name = style.map or BY_KIND[body.kind]
        found = Scale(
            map=name, low=low, high=high, unit=body.unit, reverse=body.reverse, of=of
        )  # fmt: skip
        self.scales.setdefault(of, []).append(found)
        values = body.values.astype(np.float64)
        beyond = self.beyond.setdefault(of, set())
        beyond |= {"low"} if (values < low).any() else set()
        beyond |= {"high"} if (values > high).any() else set()
        return found

    def _note_gaps(self, body: Directions | ScalarMap) -> None:
        import numpy as np

        if not np.isfinite(body.values).all():
            self.keys[Key(name="no number", colour=HATCH[0], shape="hatch")] = None

    def _note_classes(self, shown: Shown, look: Look, body: ClassMap) -> None:
        for row in sorted(legend_of(shown, look), key=lambda row: row.place):
            if row.place < 0:
                key = Key(name=body.none, colour=row.colour, shape="hatch")
            else:
                shape: Literal["dotted", "plain"] = "dotted" if row.patterned else "plain"
                key = Key(name=row.name, colour=row.colour, shape=shape)
            self.keys[key] = None

    def legend(self) -> list[Key]:
        """Its rows: classes and marks as they were seen, the hatch last; one for all names that
        look alike."""
        names: dict[tuple[bool, Colour, Shape], list[str]] = {}
        for key in self.keys:
            names.setdefault((key.shape == "hatch", key.colour, key.shape), []).append(key.name)
        return [
            Key(name=", ".join(names[alike]), colour=alike[1], shape=alike[2])
            for alike in sorted(names, key=lambda alike: alike[0])
        ]


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
                "clipped": sorted(seen.beyond[of]),
                "unit": scales[0].unit,
                "reverse": scales[0].reverse,
                "scale": style.scale if of != "error" else "linear",
            }
        )
    return found


def tell_colours(entry: Mapping[str, Any]) -> str:
    """ "map viridis, 0.7 to 4.2 m, the low end bright, clipped"."""
    unit = f" {entry['unit']}" if entry["unit"] else ""
    if entry["low"] is not None:
        ends = f"{entry['low']:.3g} to {entry['high']:.3g}{unit}"
    else:
        ends = f"range of each sample beside it{f' in{unit}' if unit else ''}"
    bright = ", the low end bright" if entry["reverse"] else ""
    scale = "" if entry["scale"] == "linear" else f", {entry['scale']}"
    what = "errors in" if entry["of"] == "error" else "map"
    return f"{what} {entry['map']}, {ends}{scale}{bright}{_tell_clipped(entry['clipped'])}"


def _tell_clipped(ends: list[str]) -> str:
    """Where numbers lie beyond the ends of their colours: an unsigned error never lies below 0."""
    if not ends:
        return ""
    return ", clipped" if len(ends) == 2 else f", clipped {'below' if ends == ['low'] else 'above'}"
