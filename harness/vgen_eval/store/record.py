"""What run.json must say, checked as it is read: whoever reads a run may trust the types of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

__all__ = ["AGAIN", "MAX_ATTEMPTS", "RUN_SCHEMA", "fault_of", "gaps_of"]

RUN_SCHEMA = 1
"""Of run.json; a record that names none is of the first."""

MAX_ATTEMPTS = 10_000
"""Repeats of a sample at most: a damaged number must not fill the memory."""

AGAIN = "the command that made the run writes it anew and goes on"
"""The cure for a damaged run.json, of which nothing else can be made."""

Json = Mapping[str, Any] | UnsetType
Text = str | UnsetType


class _Prompt(msgspec.Struct, frozen=True):
    variant: str | UnsetType | None = UNSET
    text: str | UnsetType | None = UNSET


class _Task(msgspec.Struct, frozen=True):
    task: Text = UNSET
    data: Text = UNSET


class _Identity(msgspec.Struct, frozen=True):
    task: _Task | UnsetType = UNSET


class _Model(msgspec.Struct, frozen=True):
    adapter: Text = UNSET
    adapter_version: str | int | UnsetType = UNSET
    card: Json = UNSET
    facts: Json = UNSET


class _Cards(msgspec.Struct, frozen=True):
    task: Json = UNSET
    task_folder: str | UnsetType | None = UNSET
    model: Json = UNSET


class _Settings(msgspec.Struct, frozen=True):
    set: Json = UNSET
    model_args: Json = UNSET
    data_root: str | UnsetType | None = UNSET


class _Record(msgspec.Struct, frozen=True):
    run: Text = UNSET
    task: Text = UNSET
    model: Text = UNSET
    answer: Text = UNSET
    prompt: _Prompt | UnsetType = UNSET
    selection: Json = UNSET
    attempts: Annotated[int, msgspec.Meta(ge=1, le=MAX_ATTEMPTS)] | UnsetType = UNSET
    samples: list[str] | UnsetType = UNSET
    identity: _Identity | UnsetType = UNSET
    model_identity: _Model | UnsetType = UNSET
    score_digest: Text = UNSET
    cards: _Cards | UnsetType = UNSET
    settings: _Settings | UnsetType = UNSET


_NEEDED = (
    "run", "task", "model", "answer", "prompt.variant", "prompt.text", "selection", "attempts",
    "samples", "identity.task.task", "identity.task.data", "model_identity.adapter",
    "model_identity.adapter_version", "model_identity.card", "cards.task", "cards.model",
    "settings.set", "settings.data_root",
)  # fmt: skip


def fault_of(record: Mapping[str, Any]) -> str | None:
    """What is of a wrong type in the fields that are there, or None; of this schema alone."""
    if record.get("schema", RUN_SCHEMA) != RUN_SCHEMA:
        return None
    try:
        read = msgspec.convert(record, _Record)
    except msgspec.ValidationError as exc:
        return str(exc)
    if not isinstance(read.samples, UnsetType) and len(set(read.samples)) < len(read.samples):
        return "a sample is there twice - at `$.samples`"
    return None


def gaps_of(record: Mapping[str, Any]) -> str | None:
    """The first field, dotted, that a run is not understood without and that is missing."""
    return next((field for field in _NEEDED if not _has(record, field)), None)


def _has(record: Any, field: str) -> bool:
    for key in field.split("."):
        if not isinstance(record, Mapping) or key not in record:
            return False
        record = record[key]
    return True
