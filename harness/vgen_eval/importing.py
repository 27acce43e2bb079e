"""Predictions in the formats of other programs: the contract of an importer.

An importer is a class that the hook `vgen_importers` names. It reads one file or folder and gives
answers; the harness scores them through the ordinary path, as a run with a result card. A file
that holds the truth beside the answers gives samples of its own: the data set is not needed then.

    class Tsv:
        version = 1
        Options = NoOptions

        def __init__(self, options): ...

        def read(self, path, scope):
            lines = path.read_text("utf-8").splitlines()
            pairs = (line.split("\\t") for line in lines)
            return Imported(
                form="text", answers=[Answer(sample=name, value=text) for name, text in pairs]
            )
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import msgspec

from vgen_eval.types import AnswerForm, Sample

__all__ = ["Answer", "Imported", "Importer", "Scope"]

NOTHING: Mapping[str, Any] = {}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was answered in one attempt at one sample."""

    sample: str
    value: Any
    """As `vgen_eval.types.Output.answer` has it, in a form that JSON holds; None: no answer."""
    attempt: int = 0
    seconds: float | None = None
    """How long it took, where the file says so."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """All that a file holds."""

    form: AnswerForm
    """text, choice or points: the form of every answer."""
    answers: Sequence[Answer]
    samples: tuple[Sample, ...] | None = None
    """The samples with their truths, in their order, where the file has them; they need no
    pictures. None: the samples are those of the task's data set."""
    role: Literal["model", "human"] = "model"
    """Who answered."""
    remarks: tuple[str, ...] = ()
    """What the user should know of the file, a line each."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers are for."""

    task: str
    """task@protocol."""
    family: str
    forms: tuple[AnswerForm, ...]
    """Forms that the protocol takes, best first."""
    choices: tuple[str, ...] = ()
    """The protocol's words, where it takes choices."""
    decoders: Mapping[AnswerForm, tuple[str, Mapping[str, Any]]] = {}
    """Form -> name and options of the decoder that reads its answers, as the protocol has them;
    empty where a file is read again that was taken before."""
    data: Mapping[str, Any] = NOTHING
    """Options of the task's data set, as its card has them."""
    known: Collection[str] | None = None
    """Ids of the task's samples; None where its data set is not there."""


class Importer(Protocol):
    """Reads predictions in a format. Built as `Importer(options)`."""

    version: ClassVar[int]
    Options: ClassVar[type[msgspec.Struct]]

    def __init__(self, options: Any) -> None: ...

    def read(self, path: Path, scope: Scope) -> Imported:
        """All answers in the file or folder.

        UsageError naming the place, with the cure, for what is not of the format.
        """
        ...
