"""Legends: the classes that the reader switches, and what a pane's own colours and marks mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from vgen_eval.viewer.drawing.legend import legend_of
from vgen_eval.viewer.drawing.maps import MARKS, hex_of
from vgen_eval.viewer.drawing.render import Style
from vgen_eval.viewer.staging.staged import Card, Class
from vgen_eval.viewing import ClassMap, Marks

__all__ = ["Address", "list_classes", "with_classes"]

Address = Callable[..., str]
"""Changes of the query -> the page with them; "" where there is no page."""


def _classes_of(card: Card) -> tuple[str, ...] | None:
    body = card.shown.pane.body
    return body.classes if isinstance(body, ClassMap) else None


def list_classes(
    cards: Sequence[Card], main: tuple[str, ...], style: Style, address: Address
) -> Iterator[Class]:
    """Classes of the panes that share the truth's, the largest there first.

    Notes come from whichever of the panes has one.
    """
    found: dict[int, Class] = {}
    own = [card for card in cards if _classes_of(card) == main]
    for card in sorted(own, key=lambda card: card.shown.pane.role != "target"):
        for row in legend_of(card.shown, card.look):
            if row.place < 0:
                continue
            note = row.note or (found[row.place].note if row.place in found else "")
            if row.place in found:
                found[row.place] = msgspec.structs.replace(found[row.place], note=note)
                continue
            of_truth = card.shown.pane.role == "target"
            found[row.place] = Class(
                place=row.place,
                name=row.name,
                colour=row.hex,
                area=_share(row.share) if of_truth else "not in the truth",
                note=note,
                dotted=row.patterned,
                is_off=row.place in style.off,
                href=address(off=_toggled(style.off, row.place)),
            )
    if not any(card.shown.pane.role == "target" for card in own):
        found = {at: msgspec.structs.replace(one, area="") for at, one in found.items()}
    yield from found.values()


def _share(part: float) -> str:
    return f"{100 * part:.1f} %" if part >= 0.001 else "< 0.1 %"


def _toggled(off: Sequence[int], place: int) -> str:
    left = set(off) ^ {place}
    return ".".join(map(str, sorted(left)))


def _meanings(card: Card, main: tuple[str, ...] | None) -> tuple[Class, ...]:
    """A small legend of a pane's own: its marks, or classes that are not those of the truth."""
    body = card.shown.pane.body
    if isinstance(body, Marks):
        count = Counter((mark.shape, mark.meaning) for mark in body.marks)
        return tuple(
            Class(place=-1, name=f"{meaning} {number:,}", colour=hex_of(MARKS[shape]), area="",
                  shape=shape)
            for (shape, meaning), number in count.items()
        )  # fmt: skip
    if isinstance(body, ClassMap) and body.classes != main:
        return tuple(
            Class(place=row.place, name=row.name, colour=row.hex, area=_share(row.share),
                  note=row.note, dotted=row.patterned, shape="" if row.place >= 0 else "hatch")
            for row in legend_of(card.shown, card.look)
        )  # fmt: skip
    return ()


def with_classes(card: Card, main: tuple[str, ...] | None) -> Card:
    """The card with what its colours mean, and whether the legend switches its classes."""
    data = dict(card.data)
    if main is not None and _classes_of(card) == main:
        data["switched"] = ""
    return msgspec.structs.replace(card, data=data, meanings=_meanings(card, main))
