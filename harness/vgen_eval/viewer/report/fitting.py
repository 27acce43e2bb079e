"""What fits into a report: pictures of every sample, then long texts, numbers, whole clips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.viewer.gathering import Gathered
from vgen_eval.viewer.report.media import Field
from vgen_eval.viewer.report.sections import Section, make_section
from vgen_eval.viewer.staging.stage import Card

if TYPE_CHECKING:
    from vgen_eval.viewer.report.texts import LongText

__all__ = ["Fitted", "Made", "fit", "least", "told"]

SIDES = (1280, 768, 512)
"""Pixels of a picture's long side: the largest at which all samples fit."""
PICTURES = 0.75
"""Part of the room that pictures may take while a smaller size could leave more for numbers."""
_WIDEST = "its text and pictures (1,000 MB) do not fit beside the others"
MARGIN = 2048
"""Bytes that are left free: what is said of the sizes takes some."""


class Left(msgspec.Struct, frozen=True):
    """A sample, and why it or a part of it is not in the page."""

    task: str
    sample: str
    reason: str = ""


class Fitted(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the page holds, and what it says of the rest."""

    sections: tuple[Section, ...]
    fields: tuple[Field, ...]
    side: int
    left_out: tuple[Left, ...]
    """Samples that are not in it, and why."""
    without_numbers: tuple[Left, ...]
    """Samples of which some pane's numbers are not in it."""
    without_clips: tuple[Left, ...]
    """Samples whose clip is not in it; the reason is its size."""
    texts: frozenset[str] = frozenset()
    """Long ones that stand in it whole."""
    without_texts: tuple[Left, ...] = ()
    """Samples of which a text is cut; the reason is the size of what is missing."""


class Made(msgspec.Struct, frozen=True, eq=False):
    """A page, and the long texts in it, whole or not, in their order."""

    page: str
    long: tuple[LongText, ...]


def fit(
    parts: Sequence[Gathered], most: int, render: Callable[[Fitted], Made]
) -> tuple[Fitted, str]:
    """The page, of at most `most` bytes, and what is in it.

    `render` makes the page of what was fitted. A sample whose pictures do not fit beside those
    before it is left out, and so says the page.
    """
    fitted = _pictures(parts, most)
    while True:
        bare = _bare(fitted)
        made = render(bare)
        if made.long:  # and once more, saying of each that it is cut
            made = render(_carry_texts(bare, made.long, frozenset()))
        over = len(made.page.encode("utf-8", "backslashreplace")) + MARGIN - most
        if over <= 0 or not fitted.sections:
            break
        last = fitted.sections[-1]
        fitted = _leave_out(fitted, last, f"its text and pictures ({_mb(last.size)}) do not fit")
    texts, room = _choose_texts(made.long, -over)
    fitted = _carry_texts(_fill(fitted, room), made.long, texts)
    return fitted, render(fitted).page


def least(parts: Sequence[Gathered], render: Callable[[Fitted], Made]) -> int:
    """Bytes with which the first sample fits, and no other."""
    first, *others = _samples(parts)
    section = make_section(*first, side=SIDES[-1], most_clip=0, known={})
    left = [
        Left(part.runs[0].task, part.selection.ids[at], _WIDEST) for part, at in others
    ]  # fmt: skip
    bare = _bare(
        Fitted(
            sections=(section,), fields=(), side=SIDES[-1], left_out=tuple(left),
            without_numbers=(), without_clips=(),
        )
    )  # fmt: skip
    made = render(bare)
    made = render(_carry_texts(bare, made.long, frozenset()))
    return len(made.page.encode("utf-8", "backslashreplace")) + MARGIN


def _pictures(parts: Sequence[Gathered], most: int) -> Fitted:
    """All samples at the largest size at which they fit, or at the least those that do."""
    known: dict[str, tuple[str, str]] = {}
    for side in SIDES:
        is_least = side == SIDES[-1]
        room = most if is_least else most * PICTURES
        sections: list[Section] = []
        left: list[Left] = []
        held = [0, 0]
        for gathered, at in _samples(parts):
            section = make_section(gathered, at, side=side, most_clip=most, known=known)
            if section.size <= room:
                room -= section.size
                sections.append(_light(section, held, most))
            else:
                reason = f"its pictures ({_mb(section.size)}) do not fit beside the others"
                left.append(Left(section.task, section.sample, reason))
                if not is_least:
                    break
            if is_least:
                known.clear()  # of no use any more
        if not left:
            break
    return Fitted(
        sections=tuple(sections), fields=(), side=side, left_out=tuple(left),
        without_numbers=(), without_clips=(),
    )  # fmt: skip


def _light(section: Section, held: list[int], most: int) -> Section:
    """Without numbers that cannot be carried, as those before them fill a page; `held` grows."""
    kept = {}
    for name, field in section.fields.items():
        if held[field.rank] <= most:
            held[field.rank] += field.size
            kept[name] = field
    return msgspec.structs.replace(section, fields=kept)


def _leave_out(fitted: Fitted, section: Section, reason: str) -> Fitted:
    return msgspec.structs.replace(
        fitted,
        sections=tuple(one for one in fitted.sections if one is not section),
        left_out=(*fitted.left_out, Left(section.task, section.sample, reason)),
    )


def _bare(fitted: Fitted) -> Fitted:
    """Pictures and words alone; what is said where everything else is left out."""
    sections = [_carry(section, frozenset(), {}) for section in fitted.sections]
    return msgspec.structs.replace(
        fitted,
        sections=tuple(sections),
        without_numbers=tuple(_without(s) for s in fitted.sections if _wanted(s)),
        without_clips=tuple(
            Left(s.task, s.sample, _mb(c.bytes)) for s in fitted.sections for c in s.clips
        ),
    )


def _fill(fitted: Fitted, room: int) -> Fitted:
    """Numbers of truth and predictions, then of the rest, then clips; in the samples' order."""
    chosen: list[Field] = []
    for rank in (0, 1):
        for field in (f for s in fitted.sections for f in s.fields.values() if f.rank == rank):
            if field.size <= room:
                room -= field.size
                chosen.append(field)
    names = frozenset(field.id for field in chosen)
    clips: dict[str, str] = {}
    for clip in (clip for section in fitted.sections for clip in section.clips):
        if clip.address and len(clip.address) + 200 <= room:
            room -= len(clip.address) + 200
            clips[clip.card] = clip.address
    return msgspec.structs.replace(
        fitted,
        sections=tuple(_carry(section, names, clips) for section in fitted.sections),
        fields=tuple(chosen),
        without_numbers=tuple(
            _without(s) for s in fitted.sections if any(name not in names for name in _wanted(s))
        ),
        without_clips=tuple(
            Left(s.task, s.sample, _mb(c.bytes))
            for s in fitted.sections
            for c in s.clips
            if c.card not in clips
        ),
    )


def _choose_texts(long: Sequence[LongText], room: int) -> tuple[frozenset[str], int]:
    """Those that fit in the order of the page, at all their places, and the room that is left."""
    sizes: dict[str, int] = {}
    for one in long:
        sizes[one.text] = sizes.get(one.text, 0) + one.more
    chosen = []
    for text, size in sizes.items():
        if size <= room:
            room -= size
            chosen.append(text)
    return frozenset(chosen), room


def _carry_texts(fitted: Fitted, long: Sequence[LongText], texts: frozenset[str]) -> Fitted:
    """With these texts whole, and what is said of the others."""
    missing: dict[tuple[str, str], dict[str, int]] = {}
    for one in long:
        if one.text not in texts:
            missing.setdefault((one.task, one.sample), {})[one.text] = one.more
    cut = tuple(Left(*place, _size(sum(more.values()))) for place, more in missing.items())
    return msgspec.structs.replace(fitted, texts=texts, without_texts=cut)


def _wanted(section: Section) -> list[str]:
    """Ids of the numbers that its panes have."""
    return [card.data["field"][1:] for card in section.stage.cards if "field" in card.data]


def _carry(section: Section, fields: frozenset[str], clips: dict[str, str]) -> Section:
    """The section with the addresses of what the page carries, and no others."""
    stage = section.stage
    cards = tuple(_with_field(card, fields) for card in stage.cards)
    others = tuple(
        msgspec.structs.replace(card, image=clips.get(f"{section.key} {card.key}", ""))
        if card.kind == "film"
        else card
        for card in stage.others
    )
    return section.with_stage(msgspec.structs.replace(stage, cards=cards, others=others))


def _with_field(card: Card, fields: frozenset[str]) -> Card:
    if "field" not in card.data or card.data["field"][1:] in fields:
        return card
    data = {name: value for name, value in card.data.items() if name != "field"}
    return msgspec.structs.replace(card, data=data, field="")


def _mb(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def _size(size: int) -> str:
    return _mb(size) if size >= 100_000 else f"{size / 1000:.1f} kB"


def told(fitted: Fitted) -> dict[str, Any]:
    """For the record of the page."""
    return {
        "side": fitted.side,
        "left_out": [msgspec.to_builtins(one) for one in fitted.left_out],
        "without_numbers": [msgspec.to_builtins(one) for one in fitted.without_numbers],
        "without_texts": [msgspec.to_builtins(one) for one in fitted.without_texts],
        "without_clips": [msgspec.to_builtins(one) for one in fitted.without_clips],
    }


def _samples(parts: Sequence[Gathered]) -> Iterator[tuple[Gathered, int]]:
    return ((part, at) for part in parts for at in range(len(part.selection.ids)))


def _without(section: Section) -> Left:
    return Left(section.task, section.sample)
