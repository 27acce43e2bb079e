"""What the colours of a map of classes mean: a row a class, the largest first."""

from __future__ import annotations

import msgspec

from vgen_eval.viewer.drawing.maps import HATCH, class_colour, hex_of
from vgen_eval.viewer.looking.records import Look, Shown
from vgen_eval.viewing import ClassMap, Colour

__all__ = ["LegendRow", "colours_of", "legend_of"]


class LegendRow(msgspec.Struct, frozen=True, kw_only=True):
    """A class that the pane shows."""

    place: int
    """Its id; -1: none."""
    name: str
    colour: Colour
    pixels: int
    share: float
    """Of the pane, 0..1."""
    note: str = ""
    patterned: bool = False

    @property
    def hex(self) -> str:
        """Its colour as a style sheet has it: #rrggbb."""
        return hex_of(self.colour)


def legend_of(shown: Shown, look: Look) -> tuple[LegendRow, ...]:
    """The classes that a pane shows, by area; what has none comes last. () for other panes."""
    import numpy as np

    body = shown.pane.body
    if not isinstance(body, ClassMap):
        return ()
    ids, counts = np.unique(body.ids, return_counts=True)
    colours = colours_of(shown, look)
    rows = [
        LegendRow(
            place=int(place),
            name=body.classes[place] if place >= 0 else body.none,
            colour=colours[place] if place >= 0 else HATCH[0],
            pixels=int(count),
            share=int(count) / body.ids.size,
            note=str(body.notes.get(body.classes[place], "")) if place >= 0 else "",
            patterned=place >= 0 and body.classes[place] in body.patterned,
        )
        for place, count in zip(ids.tolist(), counts.tolist(), strict=True)
        if place >= 0 or not body.clear
    ]
    return tuple(sorted(rows, key=lambda row: (row.place < 0, -row.pixels, row.place)))


def colours_of(shown: Shown, look: Look) -> tuple[Colour, ...]:
    """A colour a class: the pane's own, else by the place of its name in the sample's panes.

    So a class has one colour in all of them, whichever of its classes a pane names. () for panes
    without classes.
    """
    body = shown.pane.body
    if not isinstance(body, ClassMap):
        return ()
    if body.colours:
        return body.colours
    names = dict.fromkeys(
        name
        for other in look.panes
        if isinstance(other.pane.body, ClassMap) and not other.pane.body.colours
        for name in other.pane.body.classes
    )
    places = {name: at for at, name in enumerate(names)}
    return tuple(class_colour(places.get(name, at)) for at, name in enumerate(body.classes))
