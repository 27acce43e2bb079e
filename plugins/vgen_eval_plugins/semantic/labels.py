"""Label maps whose classes have names, made of file values or colours by a table of classes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.colours import AnyColour, as_code, as_hex, as_rgb, pack

__all__ = [
    "OPEN",
    "PRESENT",
    "LabelClass",
    "LabelMap",
    "Value",
    "from_colours",
    "present_classes",
    "present_fields",
    "to_labels",
]

OPEN = -1
"""The label of a pixel that a truth ignores or an answer leaves open."""

PRESENT = "present"
"""Field of a sample: the names of the classes in its truth, one a line, in the data set's order."""

_SPAN = 1 << 16
_NAMED = 8


class LabelMap(msgspec.Struct, frozen=True, eq=False):
    """A class for every pixel. Maps are compared by the classes' names, never by their numbers."""

    labels: NDArray[np.int32]
    """(H, W): an index into `classes`; -1 is ignored in a truth, open in a prediction."""
    classes: tuple[str, ...] = ()
    """Names in the order of the labels. () in a prediction: the truth's own."""
    colours: tuple[tuple[int, int, int], ...] = ()
    """RGB of each class, for looking only: what they were painted in; () where they were not."""


Value = Annotated[int, msgspec.Meta(ge=-(1 << 40), le=1 << 40)]
"""More than files hold, so that an offset may be added to it."""


class LabelClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A class of a data set, and how its files write it."""

    name: str
    value: Value | tuple[Value, ...] | None = None
    """Its number in the files, or several; None: its position in the list of classes."""
    colour: AnyColour | None = None
    """Its exact colour, "#rrggbb" or [r, g, b], where the files are painted."""

    def __post_init__(self) -> None:
        odd = [c for c in self.name if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
        if odd:
            raise ValueError(f"the class name {self.name!a} holds a control character")


def to_labels(
    raw: NDArray[Any],
    classes: Sequence[LabelClass],
    *,
    offset: int = 0,
    ignore: Collection[int] = (),
) -> LabelMap:
    """Whole numbers (H, W) of a file as a LabelMap: `value + offset` is looked up in `classes`.

    Values in `ignore`, which are the file's own, become -1. ValueError for any other value that
    the classes do not hold, with each and its number of pixels, and for a table that names a
    value twice. The reader knows the file and names it.
    """
    if raw.ndim != 2 or raw.dtype.kind not in "iu":
        raise ValueError(f"whole numbers (H, W) wanted, {raw.dtype} {raw.shape} seen")
    names = _names(classes)
    table: dict[int, int] = {}
    for position, entry in enumerate(classes):
        for value in _values(entry, position):
            _enter(table, value - offset, names.index(entry.name), names, f"value {value}")
    table.update(dict.fromkeys(ignore, OPEN))
    return LabelMap(_look_up(raw, table, str), names, _colours(classes, names))


def present_classes(target: LabelMap) -> str:
    """The names of the classes in a truth, in the data set's order, one a line."""
    seen = np.bincount(target.labels.ravel() + 1, minlength=len(target.classes) + 1)[1:]
    return "\n".join(name for name, count in zip(target.classes, seen, strict=True) if count)


def present_fields(target: Any) -> dict[str, str]:
    """The field `present` of a sample whose truth is a label map; of any other, nothing."""
    return {PRESENT: present_classes(target)} if isinstance(target, LabelMap) else {}


def from_colours(
    rgb: NDArray[np.uint8], classes: Sequence[LabelClass], *, ignore: Collection[AnyColour] = ()
) -> LabelMap:
    """A truth painted in the exact colours of `classes`, uint8 (H, W, 3), as a LabelMap.

    Colours in `ignore` become -1. ValueError for any other colour that no class has, with each and
    its number of pixels: a resized or compressed truth is refused, not guessed at.
    """
    if rgb.ndim != 3 or rgb.shape[2] != 3 or rgb.dtype != np.uint8:
        raise ValueError(f"uint8 (H, W, 3) wanted, {rgb.dtype} {rgb.shape} seen")
    names = _names(classes)
    table: dict[int, int] = {}
    for entry in classes:
        if entry.colour is None:
            raise ValueError(f"class '{entry.name}' has no colour")
        code = as_code(entry.colour)
        _enter(table, code, names.index(entry.name), names, f"colour {as_hex(code)}")
    table.update(dict.fromkeys((as_code(colour) for colour in ignore), OPEN))
    return LabelMap(_look_up(pack(rgb), table, as_hex), names, _colours(classes, names))


def _names(classes: Sequence[LabelClass]) -> tuple[str, ...]:
    if not classes:
        raise ValueError("no class is named")
    return tuple(dict.fromkeys(entry.name for entry in classes))


def _colours(
    classes: Sequence[LabelClass], names: Sequence[str]
) -> tuple[tuple[int, int, int], ...]:
    """The first colour of each name; () where one has none."""
    known: dict[str, tuple[int, int, int]] = {}
    for entry in classes:
        if entry.colour is not None:
            known.setdefault(entry.name, as_rgb(entry.colour))
    return tuple(known[name] for name in names) if len(known) == len(names) else ()


def _values(entry: LabelClass, position: int) -> tuple[int, ...]:
    if entry.value is None:
        return (position,)
    return (entry.value,) if isinstance(entry.value, int) else entry.value


def _enter(table: dict[int, int], key: int, label: int, names: tuple[str, ...], what: str) -> None:
    if table.setdefault(key, label) != label:
        raise ValueError(f"{what} is '{names[table[key]]}' and '{names[label]}'")


def _look_up(
    raw: NDArray[Any], table: dict[int, int], spell: Callable[[int], str]
) -> NDArray[np.int32]:
    """int32 (H, W) by a table of values; a dense one where the values lie close together."""
    if not raw.size:
        return np.zeros(raw.shape, np.int32)
    low, high = int(raw.min()), int(raw.max())
    missing = OPEN - 1
    if high - low < _SPAN:
        dense = np.full(high - low + 1, missing, np.int32)
        for value, label in table.items():
            if low <= value <= high:
                dense[value - low] = label
        labels = dense[raw if low == 0 else raw.astype(np.int64) - low]
    else:
        keys = np.array(sorted(table), np.int64)
        place = np.searchsorted(keys, raw).clip(max=len(keys) - 1)
        known = np.array([table[int(key)] for key in keys], np.int32)
        labels = np.where(keys[place] == raw, known[place], np.int32(missing))
    lost = labels == missing
    if lost.any():
        values, counts = np.unique(raw[lost], return_counts=True)
        seen = [
            f"{spell(int(value))} ({count} px)"
            for value, count in zip(values[:_NAMED], counts, strict=False)
        ]
        more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
        raise ValueError(f"outside the table of classes: {', '.join(seen)}{more}")
    return labels
