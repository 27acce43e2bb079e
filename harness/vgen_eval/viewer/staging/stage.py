"""Panes of attempts as a page lays them out: maps on one viewport, the rest below them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.viewer.drawing.fields import has_field
from vgen_eval.viewer.drawing.legend import colours_of
from vgen_eval.viewer.drawing.maps import ABOVE, BELOW, BY_KIND, TABLES, hex_of
from vgen_eval.viewer.drawing.ranges import range_of, shared_ranges
from vgen_eval.viewer.drawing.render import SCALES, Style
from vgen_eval.viewer.looking import Look, Shown
from vgen_eval.viewer.staging.addresses import Media, Telling
from vgen_eval.viewer.staging.links import query_string
from vgen_eval.viewer.staging.meanings import list_classes, with_classes
from vgen_eval.viewer.staging.scale_bars import ball, fixed_colours, in_short, steps, ticks
from vgen_eval.viewer.staging.staged import Card, Stage, StripCard
from vgen_eval.viewer.strips import strip_of
from vgen_eval.viewing import (
    Bars,
    ClassMap,
    Directions,
    Film,
    Marks,
    Picture,
    ScalarMap,
    Words,
)

__all__ = ["Card", "Stage", "build_stage", "in_short"]

READING = ("input", "answer", "prediction", "target", "error", "detail")
"""Roles, from what went in to what it came to."""
OTHERS = ("words", "bars", "film")
"""Kinds that stand below the viewport."""
OF_SAMPLE = ("input", "target")
"""Roles that are the same for every model."""
CHOSEN = ("viridis", "cividis", "gray", "turbo")
"""Maps that a reader is offered for a quantity."""


def build_stage(
    looks: Sequence[Look],
    media: Media,
    *,
    style: Style | None = None,
    labels: Sequence[str] = (),
    here: str = "",
    pairs: Sequence[tuple[str, object]] = (),
) -> Stage:
    """The panes of one attempt; of several attempts at one sample input and target stand once.

    `labels`: what each attempt is called in titles: its model. `here`, `pairs`: path and query of
    the page, for links that change how it looks; no path: no links.
    """
    style = style or Style()
    ranges = shared_ranges(looks)
    builder = _Builder(looks, media, style, ranges, labels)
    cards = tuple(builder.cards())
    maps = tuple(card for card in cards if card.kind not in OTHERS)
    classes = builder.classes
    maps = tuple(with_classes(card, classes) for card in maps)

    def address(**changes: str) -> str:
        if not here:
            return ""
        kept = [(name, value) for name, value in pairs if name not in changes]
        return here + query_string([*kept, *((n, v) for n, v in changes.items() if v)])

    main = next((card for card in maps if "main" in card.data), None)
    whole = next((card for card in maps if card.shown.pane.role == "target"), None)
    whole = whole or next((card for card in maps if card.shown.frame), None)
    width, height = (0, 0) if whole is None else _original(whole.shown)
    ends = (range_of(main.shown, ranges) if main else None) or (0.0, 1.0)
    return Stage(
        cards=maps,
        others=tuple(_each_once(card for card in cards if card.kind in OTHERS)),
        width=width,
        height=height,
        legend=tuple(list_classes(maps, classes, style, address)) if classes else (),
        none=_hatch(maps),
        style=style,
        main=main,
        ends=ends,
        limits=_limits([c for c in maps if "main" in c.data], ends),
        scales=SCALES if ends[0] > 0 else (),
        maps=tuple(name for name in CHOSEN if name in TABLES),
        fixed=fixed_colours(),
        below=hex_of(BELOW),
        above=hex_of(ABOVE),
        ball=ball() if any(card.kind == "directions" for card in maps) else (),
    )


def _each_once(cards: Iterable[Card]) -> Iterator[Card]:
    """The cards without a raw answer that a view shows again, with what it has to say of it."""
    found = list(cards)
    told = {(id(card.look), _content(card)) for card in found if not _is_raw(card)}
    for card in found:
        content = _content(card)
        if not (_is_raw(card) and content and (id(card.look), content) in told):
            yield card


def _is_raw(card: Card) -> bool:
    return card.shown.pane.role == "answer"


def _content(card: Card) -> str:
    """What tells a clip or a text from others; "" of what is neither."""
    body = card.shown.pane.body
    if isinstance(body, Film):
        return body.clip.sha256
    return body.text.strip() if isinstance(body, Words) else ""


def _original(shown: Shown) -> tuple[int, int]:
    _, _, across, down = shown.frame or (0.0, 0.0, 1.0, 1.0)
    return max(1, round(shown.width * across)), max(1, round(shown.height * down))


def _limits(cards: Sequence[Card], ends: tuple[float, float]) -> tuple[float, float]:
    """How far the sliders reach: a little beyond the numbers that are shown."""
    low, high = ends
    for card in cards:
        spread = card.shown.spread or ends
        low, high = min(low, spread[0]), max(high, spread[1])
    room = 0.25 * (high - low)
    return (max(0.0, low - room) if low >= 0 else low - room), high + room


def _hatch(cards: Sequence[Card]) -> str:
    for card in cards:
        body = card.shown.pane.body
        if isinstance(body, ClassMap) and not body.clear and bool((body.ids < 0).any()):
            return body.none
        if isinstance(body, ScalarMap) and _has_gaps(body.values):
            return "no value"
        if isinstance(body, Directions) and _has_gaps(body.values):
            return "no direction"
    return ""


def _has_gaps(values: Any) -> bool:
    import numpy as np

    return not bool(np.isfinite(values).all())


class _Builder:
    def __init__(
        self, looks: Sequence[Look], media: Media, style: Style,
        ranges: Mapping[str, tuple[float, float]], labels: Sequence[str],
    ) -> None:  # fmt: skip
        self._looks = looks
        self._media = media
        self._style = style
        self._ranges = ranges
        self._labels = labels
        self._alone = [dict(shared_ranges([look])) for look in looks]
        self._kind = self._first_kind()
        self.classes = self._first_classes()

    def _first_kind(self) -> str:
        """The shared range that the reader's range is of: that of the first quantity."""
        for look in self._looks:
            for shown in look.panes:
                body = shown.pane.body
                if isinstance(body, ScalarMap) and body.kind == "sequential":
                    return shown.pane.shares or shown.pane.role
        return ""

    def _first_classes(self) -> tuple[str, ...] | None:
        """Those that the legend switches: of the truth, else of the first map of classes."""
        panes = [shown for look in self._looks for shown in look.panes]
        for shown in sorted(panes, key=lambda shown: shown.pane.role != "target"):
            if isinstance(shown.pane.body, ClassMap):
                return shown.pane.body.classes
        return None

    def cards(self) -> Iterator[Card]:
        """Inputs and targets, of several attempts once; then the others of each attempt."""
        if len(self._looks) < 2:
            for look in self._looks:
                for shown in sorted(look.panes, key=_in_reading_order):
                    yield self._card(0, look, shown, shown.name)
            return
        once: dict[str, Card] = {}
        for at, look in enumerate(self._looks):
            for shown in look.panes:
                if shown.pane.role in OF_SAMPLE and shown.name not in once:
                    once[shown.name] = self._card(at, look, shown, shown.name)
        yield from sorted(once.values(), key=lambda card: card.shown.pane.role != "input")
        for at, look in enumerate(self._looks):
            own = [shown for shown in look.panes if shown.pane.role not in OF_SAMPLE]
            own.sort(key=_in_reading_order)
            for place, shown in enumerate(own):
                card = self._card(at, look, shown, f"{shown.name}.{at + 1}")
                yield msgspec.structs.replace(card, begins=place == 0)

    def _card(self, at: int, look: Look, shown: Shown, key: str) -> Card:
        body, pane = shown.pane.body, shown.pane
        label = self._labels[at] if at < len(self._labels) else ""
        of_sample = pane.role in OF_SAMPLE
        title = pane.title if of_sample or not label or len(self._looks) < 2 else (
            f"{label}: {pane.title}"
        )  # fmt: skip
        if isinstance(body, Words | Bars):
            kind = "words" if isinstance(body, Words) else "bars"
            media = self._media
            whole = media.words(look, shown.name) if isinstance(media, Telling) else ""
            return Card(shown=shown, look=look, key=key, title=title, kind=kind, whole=whole)
        if isinstance(body, Film):
            return self._film(look, shown, body, key, title)
        more = self._map_facts(at, shown) if isinstance(body, ScalarMap) else {}
        style = more.pop("style", None) or self._own_style(shown)
        data = {
            "key": key, "name": shown.name, "role": pane.role, "title": title,
            "kind": _kind(body), "width": str(shown.width), "height": str(shown.height),
            "frame": ",".join(f"{part:.9g}" for part in shown.frame) if shown.frame else "",
            **more.pop("data", {}), **self._class_facts(look, shown),
        }  # fmt: skip
        if isinstance(body, ClassMap | Marks):
            over = look.picture
            if over is not None:
                data["over"] = over.name  # its key: an input stands once, without a number
        field = self._media.field(look, shown) if has_field(shown) else ""
        values = self._media.values(look)
        if field:
            data["field"] = field
        if values and shown.frame:
            data["values"] = values
        return Card(
            shown=shown, look=look, key=key, title=title, kind=_kind(body),
            image=self._media.image(look, shown, style), field=field, values=values,
            alt=f"{title}{': ' + pane.note if pane.note else ''}", data=data, **more,
        )  # fmt: skip

    def _film(self, look: Look, shown: Shown, body: Film, key: str, title: str) -> Card:
        strip, clip = strip_of(body), body.clip
        ends = (*clip.times[1:], clip.duration)
        width, height = clip.size
        frames = tuple(
            StripCard(
                index=frame.index,
                time_s=frame.time_s,
                middle=(frame.time_s + ends[frame.index]) / 2,
                looked_at=frame.looked_at,
                address=self._media.frame(look, shown, frame.index),
                height=max(1, round(160 * height / width)),
            )
            for frame in strip.frames
        )
        kept = (look.line or {}).get("answer", {})
        is_kept = "file" in kept and kept.get("sha256") == clip.sha256
        return Card(
            shown=shown, look=look, key=key, title=title, kind="film", strip=strip, frames=frames,
            image=self._media.file(look, clip.sha256) if is_kept else "",
        )  # fmt: skip

    def _own_style(self, shown: Shown) -> Style:
        """Of the reader's wishes those that concern this pane, so that its address stays short."""
        if isinstance(shown.pane.body, ClassMap):
            is_main = shown.pane.body.classes == self.classes
            off = self._style.off if is_main else ()
            return Style(off=off, opacity=self._style.opacity)
        return Style()

    def _map_facts(self, at: int, shown: Shown) -> dict[str, Any]:
        body = shown.pane.body
        assert isinstance(body, ScalarMap)
        is_main = body.kind == "sequential" and (
            (shown.pane.shares or shown.pane.role) == self._kind
        )
        low, high = range_of(shown, self._ranges) or (0.0, 1.0)
        name = BY_KIND[body.kind]
        data = {
            "map": name, "low": repr(low), "high": repr(high), "unit": body.unit,
            "low-text": in_short(low), "high-text": f"{in_short(high)} {body.unit}".rstrip(),
        }  # fmt: skip
        if body.reverse:
            data["reverse"] = ""
        style = Style()
        if (low, high) != range_of(shown, self._alone[at]):
            style = Style(low=low, high=high)
        if is_main:
            data["main"] = ""
            wish = self._style
            style = Style(
                map=wish.map, scale=wish.scale,
                low=style.low if wish.low is None else wish.low,
                high=style.high if wish.high is None else wish.high,
            )  # fmt: skip
            name = wish.map or name
            low = low if wish.low is None else wish.low
            high = high if wish.high is None else wish.high
        scale = style.scale
        return {
            "style": style,
            "data": data,
            "steps": steps(name, reverse=body.reverse),
            "low": in_short(low),
            "high": f"{in_short(high)} {body.unit}".rstrip(),
            "has_below": body.kind != "error" or low > 0,  # errors have no sign
            "map": name if scale == "linear" else f"{name}, {scale}",
            "ticks": tuple(ticks(body, low, high)) if scale == "linear" else (),
        }

    def _class_facts(self, look: Look, shown: Shown) -> dict[str, str]:
        body = shown.pane.body
        if not isinstance(body, ClassMap):
            return {}
        colours = colours_of(shown, look)
        dotted = [str(at) for at, name in enumerate(body.classes) if name in body.patterned]
        data = {
            "classes": jsonio.dumps(list(body.classes)).decode(),
            "colours": " ".join("".join(f"{part:02x}" for part in c) for c in colours),
            "opacity": f"{body.opacity:g}",
            "none": body.none,
        }
        if dotted:
            data["patterned"] = " ".join(dotted)
        return data | ({"clear": ""} if body.clear else {})


def _in_reading_order(shown: Shown) -> int:
    return READING.index(shown.pane.role)


def _kind(body: object) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (Picture, "picture"), (ScalarMap, "scalar"), (Directions, "directions"),
        (ClassMap, "classes"), (Marks, "marks"),
    )  # fmt: skip
    return next(name for kind, name in kinds if isinstance(body, kind))
