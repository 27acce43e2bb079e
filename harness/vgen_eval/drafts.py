"""What a reader makes of a folder of somebody's data: the words for `vgen-eval task new`.

A reader that has `draft(request: DraftRequest) -> Draft`, a class method, can be asked to turn a
folder into a task: it says which files belong together and how they are read; the protocols come
from a card of the family. The engine knows neither the family nor the layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval.errors import CardError, Problem

__all__ = ["Draft", "DraftRequest", "FaultyData"]


class FaultyData(CardError):
    """Every fault of the data by its file, and with them what could not be paired."""

    def __init__(self, problems: Sequence[Problem], left_out: Sequence[str]) -> None:
        super().__init__(problems)
        self.left_out = tuple(left_out)


class DraftRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a folder of data."""

    folder: Path
    family: str
    images: str | None = None
    """Sub-folder of the pictures; None: to be guessed."""
    targets: str | None = None
    """Sub-folder of the truths; None: to be guessed."""
    measures: str | None = None
    """What the protocols measure that the task is to have; None: they follow from the draft."""
    hints: Mapping[str, Any] = {}
    """What else was said, by the names of the command's options: depth_scale, query, ..."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A task's data, ready to be written."""

    options: Mapping[str, Any]
    """Of the reader, as the card's dataset.options."""
    lines: tuple[Mapping[str, Any], ...]
    """Of the file that the options name as `manifest`, one a sample."""
    like: str = ""
    """The task whose protocols fit; empty: the built-in samples of the family."""
    fields: tuple[str, ...] | None = None
    """What prompts may name: variants that name more are left out; None: nothing is left out."""
    replacements: Mapping[str, Any] = {}
    """Option -> value, put wherever a part of the protocols has an option of that name."""
    exchanges: Mapping[str, Mapping[Any, Any]] = {}
    """Option -> value -> another: put wherever a part has just that value, by its default too."""
    exchanged_title: str = ""
    """Title of the protocols in which something was exchanged, where theirs no longer fits."""
    additions: Mapping[str, Mapping[str, Any]] = {}
    """Answer form -> option -> value, for decoders that have the option and are not given it."""
    prompts: Mapping[str, Mapping[str, str]] = {}
    """Answer form -> variant -> text, where the other task's prompts speak of its own data."""
    colours: Mapping[str, tuple[int, int, int]] = {}
    """Class -> R, G, B, for pictures of the truth."""
    guessed: tuple[str, ...] = ()
    """What was not said and therefore guessed, a line each."""
    notes: tuple[str, ...] = ()
    """What follows from what was said, a line each."""
    doubts: tuple[str, ...] = ()
    """What looks wrong in the data and may be right, a line each."""
    left_out: tuple[str, ...] = ()
    """What could not be paired, a line each."""
