"""Results in other formats: the contract between an exporter and the runs that it is given.

An exporter is a class that the hook `vgen_exporters` names. It reads finished runs and yields
files; it writes none itself: the harness does, below the folder that the user named and nowhere
else.

    class Names:
        version = 1
        Options = NoOptions

        def __init__(self, options): ...

        def export(self, runs):
            yield File("names.txt", [f"{run.card.run}\\n".encode() for run in runs])
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec

from vgen_eval.types import Item, Value

if TYPE_CHECKING:
    from vgen_eval.results.card import ResultCard

__all__ = ["NOT_RUN", "Attempt", "Exporter", "File", "KeptRun", "LeftOut", "csv_text"]

NOT_RUN = "not_run"
"""Status of an attempt that has no line yet."""


_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What spreadsheets begin a formula with, in either width."""
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # part of how some scripts and emoji are written


def csv_text(text: str) -> str:
    """A text as it may stand in a cell of CSV: on one line, and never a formula.

    What a terminal or a spreadsheet may obey stands as its number (``\\u001b``), and a text that
    would be read as a formula has an apostrophe before it. Numbers are not for here.
    """
    shown = text
    if not (text.isascii() and text.isprintable()):
        shown = "".join(map(_visible, text))
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _visible(char: str) -> str:
    if char in _JOINERS or unicodedata.category(char) not in _HIDDEN:
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What a run holds of one attempt at one sample."""

    item: Item
    """Id, group and tags of the sample."""
    attempt: int
    """Counted from 0."""
    status: str
    """A `vgen_eval.types.Status`, or `not_run`."""
    reason: str | None = None
    """Why it is not `ok`."""
    flags: tuple[str, ...] = ()
    values: Mapping[str, float | None] = {}
    """Key of a metric's values (`Value.of`) -> number; None where it is undefined, {} unscored."""
    substitute: bool = False
    """Were the values made of the failure value, in place of an answer?"""
    prediction: Mapping[str, Any] = {}
    """What the decoder wrote down of the measurement."""
    answer: Mapping[str, Any] | None = None
    """sha256, and the value itself or the name of its file; None: the model gave nothing."""
    kept: str | None = None
    """That file below the results folder; None when there is none, or it is gone."""
    seen: tuple[str, ...] = ()
    """sha256 of the pictures as the model saw them."""
    took: Mapping[str, Any] = {}
    """The prediction line's `volatile`: seconds, tries, tokens, thinking."""


class KeptRun(Protocol):
    """A finished run, as an exporter sees it."""

    @property
    def card(self) -> ResultCard:
        """Its result card; `card.run` names it below its results folder."""
        ...

    @property
    def values(self) -> tuple[Value, ...]:
        """What its metrics report: names, keys, units, directions, bounds."""
        ...

    @property
    def items(self) -> tuple[Item, ...]:
        """Its samples, in the data's order."""
        ...

    def attempts(self) -> Iterator[Attempt]:
        """Every attempt that was asked for, in the data's order; one is held at a time."""
        ...


class File(msgspec.Struct, frozen=True):
    """A file to be written."""

    path: str
    """Below the target, with forward slashes; what leads out, or comes twice, is an error."""
    parts: Iterable[bytes]
    """Its bytes, read before the next file is asked for: a digest of them is known by then."""


class LeftOut(msgspec.Struct, frozen=True):
    """A run that the format cannot hold, and why; the others are exported all the same."""

    run: KeptRun
    reason: str
    cure: str | None = None


class Exporter(Protocol):
    """Writes runs in a format. Built as `Exporter(options)`."""

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]

    def __init__(self, options: Any) -> None: ...

    def export(self, runs: Sequence[KeptRun]) -> Iterator[File | LeftOut]:
        """The files that these runs come to, one at a time.

        UsageError, with the cure, for an option that is missing; before the first file, then.
        MissingExtra for a library.
        """
        ...
