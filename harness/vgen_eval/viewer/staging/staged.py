"""Panes as `_panes.html` gets them: cards with their addresses, and the stage they stand on."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewer.staging.scale_bars import Tick, in_short
from vgen_eval.viewer.strips import Strip

__all__ = ["Card", "Class", "Stage", "StripCard"]


class Class(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the legend."""

    place: int
    """Of its id."""
    name: str
    colour: str
    area: str
    note: str = ""
    dotted: bool = False
    is_off: bool = False
    href: str = ""
    """Shows or hides it."""
    shape: str = ""
    """Of a mark; or `hatch`."""


class StripCard(msgspec.Struct, frozen=True, kw_only=True):
    """A frame of a strip with its address."""

    index: int
    time_s: float
    middle: float
    """Of the time that it is on: where a player stops at it for sure."""
    looked_at: bool
    address: str
    height: int


class Card(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One pane of the viewport with its addresses, or of what stands below it."""

    shown: Shown
    look: Look
    key: str
    """Unique on the page: the pane's name, with the look's number where there are several."""
    title: str
    kind: str
    """picture, scalar, directions, classes, marks; words, bars, film."""
    image: str = ""
    field: str = ""
    values: str = ""
    alt: str = ""
    whole: str = ""
    """Where all of its words are."""
    data: Mapping[str, str] = {}
    """Attributes for the scripts: data-NAME."""
    steps: tuple[str, ...] = ()
    """Colours of the scale bar, low to high."""
    low: str = ""
    high: str = ""
    has_below: bool = True
    """Can a number lie below the bar's low end?"""
    map: str = ""
    ticks: tuple[Tick, ...] = ()
    strip: Strip | None = None
    frames: tuple[StripCard, ...] = ()
    begins: bool = False
    """Is it the first of its attempt, where there are several?"""
    meanings: tuple[Class, ...] = ()
    """What its marks and its own colours mean."""


class Stage(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What `_panes.html` lays out."""

    cards: tuple[Card, ...]
    """On the viewport, in the order of reading."""
    others: tuple[Card, ...]
    """Words, bars, clips."""
    width: int = 0
    """Pixels of the original."""
    height: int = 0
    legend: tuple[Class, ...] = ()
    none: str = ""
    """What the hatch means, in a word; "" where nothing is hatched."""
    style: Style
    main: Card | None = None
    """The first map whose colours and range the reader may change."""
    ends: tuple[float, float] = (0.0, 1.0)
    """Of it, as shared."""
    limits: tuple[float, float] = (0.0, 1.0)
    """Of the sliders."""
    scales: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    fixed: str = ""
    """Colours beside the maps, JSON."""
    below: str = ""
    above: str = ""
    """Of numbers beyond the ends, #rrggbb."""
    ball: tuple[tuple[float, float, float, str], ...] = ()
    """Cells of the ball that explains colours of directions: x, y, size, colour."""

    def short(self, value: float) -> str:
        """As the range's fields have it."""
        return in_short(value)
