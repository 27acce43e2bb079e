"""What is within the open mappings of a result card, checked as the card is read.

Cards are files that people edit and disks damage: a field may be missing, but one that is there is
of the type that its readers take it for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from vgen_eval.store.record import MAX_ATTEMPTS

__all__ = ["check_parts"]

Json = Mapping[str, Any] | None
Text = str | None
Count = Annotated[int, msgspec.Meta(ge=0)] | None


class _Task(msgspec.Struct, frozen=True):
    distribution: Text = None
    version: int | str | None = None
    family: Text = None
    title: Text = None


class _Protocol(msgspec.Struct, frozen=True):
    prompt_text: Text = None
    choices: list[str] | None = None
    input: Json = None
    data: Json = None
    answer: Json = None
    calibration: Json = None
    decoder: Json = None
    encoder: Json = None
    judge: Json = None
    metrics: Mapping[str, Mapping[str, Any]] | None = None
    failure_value: str | Mapping[str, Any] | None = None
    seed_rule: Text = None
    sampling: Json = None
    score_digest: Text = None


class _Model(msgspec.Struct, frozen=True):
    distribution: Text = None
    role: Text = None
    adapter: Text = None
    options: Json = None
    generation: Json = None
    facts: Json = None
    exposure: list[Mapping[str, Any]] | None = None
    identity_digest: Text = None


class _Data(msgspec.Struct, frozen=True):
    reader: str | Mapping[str, Any] | None = None
    options: Json = None
    fingerprint: Text = None


class _Selection(msgspec.Struct, frozen=True):
    rule: str | Mapping[str, Any] | None = None
    samples: Count = None
    of: Count = None
    attempts: Annotated[int, msgspec.Meta(ge=1, le=MAX_ATTEMPTS)] | None = None


class _Volatile(msgspec.Struct, frozen=True):
    finished: Text = None
    failures: list[Mapping[str, Any]] | None = None


class _Parts(msgspec.Struct, frozen=True):
    task_info: _Task
    protocol_info: _Protocol
    model_info: _Model
    dataset_info: _Data
    selection: _Selection
    volatile: _Volatile


def check_parts(record: object) -> None:
    """ValueError with the path of the first field of a card that is of a wrong type."""
    msgspec.convert(record, _Parts)
