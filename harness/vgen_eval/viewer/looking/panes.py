"""Panes under names: checked, measured, and with a key of what they show."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from vgen_eval.imaging import MAX_PIXELS, Image
from vgen_eval.imaging.image import buffer_of
from vgen_eval.viewer.looking.records import Frame, Shown
from vgen_eval.viewing import (
    Bar,
    Bars,
    ClassMap,
    Directions,
    Film,
    Mark,
    Marks,
    Pane,
    Picture,
    Role,
    ScalarMap,
    Words,
)
from vgen_eval.wording import plural

__all__ = ["DRAWING_VERSION", "Placed", "bytes_of", "fault_of", "show_panes"]

DRAWING_VERSION = 4
"""Changes whenever an equal pane is drawn otherwise: pictures that were kept are then not used."""

MOST_MARKS = 20_000
MOST_RANKED = 4_000_000
"""Numbers whose percentiles are exact; of up to twice as many, and of every n-th of more."""
ROLES: tuple[Role, ...] = ("input", "answer", "prediction", "target", "error", "detail")
WHOLE: Frame = (0.0, 0.0, 1.0, 1.0)


class Placed(msgspec.Struct, frozen=True, eq=False):
    """A pane and where the original lies in it."""

    pane: Pane
    frame: Frame | None


def fault_of(pane: Any) -> str | None:
    """What keeps a pane from being drawn; None: nothing. Views are anyone's code."""
    if not isinstance(pane, Pane) or pane.role not in ROLES:
        return "no pane of a known role"
    if not all(isinstance(words, str) for words in (pane.title, pane.note, pane.shares)):
        return "its title, its note or its range is no text"
    body = pane.body
    if not isinstance(body, ScalarMap | Directions | ClassMap) and not _is_typed(body):
        return f"a {type(body).__name__} with fields of other types than its own"
    if isinstance(body, ScalarMap):
        fault = _fault_of_map(body.values, 2, "f")
        if fault is None and body.filled is not None:
            fault = _fault_of_map(body.filled, 2, "b")
            if fault is None and body.filled.shape != body.values.shape:
                return f"{body.filled.shape} that are filled of {body.values.shape}"
        return fault
    if isinstance(body, Directions):
        return _fault_of_map(body.values, 3, "f")
    if isinstance(body, ClassMap):
        fault = _fault_of_map(body.ids, 2, "iu")
        if fault is None and body.colours and len(body.colours) != len(body.classes):
            classes = plural(len(body.classes), "class", "classes")
            return f"{plural(len(body.colours), 'colour')} for {classes}"
        return fault or _fault_of_ids(body)
    if isinstance(body, Marks) and len(body.marks) > MOST_MARKS:
        return f"{len(body.marks):,} marks, over the limit of {MOST_MARKS:,}"
    if not isinstance(body, Picture | Marks | Bars | Words | Film):
        return f"a {type(body).__name__} cannot be drawn"
    return None


def _is_typed(body: Any) -> bool:
    """Are the plain records of a body of the types that they are declared with?"""
    if isinstance(body, Words):
        facts = body.facts
        return isinstance(body.text, str) and _are_rows(facts, (str, str))
    if isinstance(body, Bars):
        ends = isinstance(body.low, int | float) and isinstance(body.high, int | float)
        return ends and isinstance(body.bars, list | tuple) and all(map(_is_bar, body.bars))
    if isinstance(body, Marks):
        return isinstance(body.marks, list | tuple) and all(map(_is_mark, body.marks))
    if isinstance(body, Picture):
        return isinstance(body.image, Image)
    if isinstance(body, Film):
        return hasattr(body.clip, "times") and _are_rows(body.curve, (int | float, int | float))
    return True


def _are_rows(rows: Any, kinds: tuple[Any, Any]) -> bool:
    return isinstance(rows, list | tuple) and all(
        isinstance(row, list | tuple) and len(row) == 2 and all(map(isinstance, row, kinds))
        for row in rows
    )


def _is_bar(bar: Any) -> bool:
    is_number = bar.value is None or isinstance(bar.value, int | float)
    return isinstance(bar, Bar) and isinstance(bar.label, str) and is_number


def _is_mark(mark: Any) -> bool:
    return (
        isinstance(mark, Mark)
        and isinstance(mark.x, int | float)
        and isinstance(mark.y, int | float)
        and isinstance(mark.meaning, str)
    )


def _fault_of_map(values: Any, axes: int, kinds: str) -> str | None:
    shape, dtype = getattr(values, "shape", None), getattr(values, "dtype", None)
    if shape is None or dtype is None or dtype.kind not in kinds:
        return f"numbers of another kind than its map's: {dtype or type(values).__name__}"
    if len(shape) != axes or shape[2:] not in ((), (3,)) or 0 in shape:
        return f"an array of {shape}"
    if shape[0] * shape[1] > MAX_PIXELS:
        return f"{shape[1]}x{shape[0]} pixels, over the limit of {MAX_PIXELS}"
    return None


def _fault_of_ids(body: ClassMap) -> str | None:
    low, high = int(body.ids.min()), int(body.ids.max())
    if low < -1 or high >= len(body.classes):
        return f"ids from {low} to {high} for {plural(len(body.classes), 'class', 'classes')}"
    return None


def show_panes(placed: Iterable[Placed], *, size: tuple[int, int] | None) -> tuple[Shown, ...]:
    """The panes under their names, input first. `size`: (height, width) of the original."""
    ordered = sorted(placed, key=lambda each: min(ROLES.index(each.pane.role), 2))
    under = _picture_of(ordered)
    ends = _ends([each.pane for each in ordered])
    count: Counter[str] = Counter()
    shown = []
    for each in ordered:
        role = each.pane.role
        count[role] += 1
        width, height = _size_of(each.pane, size)
        shown.append(
            Shown(
                name=role if count[role] == 1 else f"{role}-{count[role]}",
                pane=each.pane,
                key=_key(each, under, ends.get(each.pane.shares) if each.pane.shares else None),
                width=width,
                height=height,
                frame=each.frame,
                spread=spread_of(each.pane.body),
            )
        )
    return tuple(shown)


def _picture_of(placed: Sequence[Placed]) -> Image | None:
    for each in placed:
        if each.pane.role == "input" and isinstance(each.pane.body, Picture):
            return each.pane.body.image
    return None


def _size_of(pane: Pane, size: tuple[int, int] | None) -> tuple[int, int]:
    """(width, height) of a pane's own grid."""
    body = pane.body
    if isinstance(body, Picture):
        return body.image.width, body.image.height
    if isinstance(body, ScalarMap | Directions):
        return int(body.values.shape[1]), int(body.values.shape[0])
    if isinstance(body, ClassMap):
        return int(body.ids.shape[1]), int(body.ids.shape[0])
    if isinstance(body, Film):
        return body.clip.size
    if isinstance(body, Marks) and size is not None:
        return size[1], size[0]
    return 0, 0


def spread_of(body: Any) -> tuple[float, float] | None:
    """2nd and 98th percentile of what is finite, as `Shown.spread` says."""
    import numpy as np

    if not isinstance(body, ScalarMap):
        return None
    flat = body.values.reshape(-1)
    flat = flat[:: max(1, flat.size // MOST_RANKED)]
    values = flat[np.isfinite(flat)]
    if not values.size:
        return None
    if body.kind == "sequential":
        low, high = np.percentile(values, (2, 98))
        return float(low), float(high)
    end = float(np.percentile(np.abs(values), 98))
    return (-end, end) if body.kind == "diverging" else (0.0, end)


def _ends(panes: Sequence[Pane]) -> Mapping[str, str]:
    """`shares` word -> what tells whether its range has changed: the truth's numbers."""
    found: dict[str, hashlib._Hash] = {}
    for pane in panes:
        if pane.shares and isinstance(pane.body, ScalarMap):
            has_target = any(p.role == "target" and p.shares == pane.shares for p in panes)
            if pane.role == "target" or not has_target:
                digest = found.setdefault(pane.shares, hashlib.sha256())
                digest.update(buffer_of(pane.body.values))
    return {word: digest.hexdigest() for word, digest in found.items()}


def _key(each: Placed, under: Image | None, ends: str | None) -> str:
    digest = hashlib.sha256(f"{DRAWING_VERSION} {each.pane.role} {each.frame} {ends}\n".encode())
    _feed(digest, each.pane.body)
    body = each.pane.body
    lies_on = isinstance(body, Marks) or (
        isinstance(body, ClassMap) and (body.opacity < 1 or body.clear)
    )
    if lies_on and under is not None:
        digest.update(under.sha256.encode())
    return digest.hexdigest()


def _feed(digest: Any, thing: Any) -> None:
    """Everything that a record holds, arrays by their numbers."""
    if isinstance(thing, Image):
        digest.update(thing.sha256.encode())
    elif hasattr(thing, "dtype") and hasattr(thing, "shape"):
        digest.update(f"{thing.dtype.str} {thing.shape}\n".encode())
        digest.update(buffer_of(thing))
    elif isinstance(thing, msgspec.Struct):
        digest.update(type(thing).__name__.encode())
        for name in thing.__struct_fields__:
            digest.update(f"\n{name}:".encode())
            _feed(digest, getattr(thing, name))
    elif isinstance(thing, str):  # long ones: without a copy with quotes
        digest.update(f"'{len(thing)}:".encode())
        digest.update(thing.encode("utf-8", "surrogatepass"))
    elif isinstance(thing, list | tuple):
        digest.update(f"[{len(thing)}".encode())
        for entry in thing:
            digest.update(b",")
            _feed(digest, entry)
    elif isinstance(thing, Mapping):
        _feed(digest, list(thing.items()))
    elif hasattr(thing, "sha256"):  # a clip
        digest.update(thing.sha256.encode())
    else:
        digest.update(repr(thing).encode("utf-8", "surrogatepass"))


def bytes_of(shown: Shown) -> int:
    """What a pane holds in memory, about."""
    body = shown.pane.body
    if isinstance(body, Picture):
        return int(body.image.array.nbytes)
    if isinstance(body, ScalarMap | Directions):
        return int(body.values.nbytes)
    if isinstance(body, ClassMap):
        return int(body.ids.nbytes)
    if isinstance(body, Film):
        return len(body.clip.data)
    if isinstance(body, Words):
        return len(body.text) * 2
    return 1024
