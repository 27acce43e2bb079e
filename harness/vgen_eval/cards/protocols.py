"""One complete protocol of a task card."""

from __future__ import annotations

import msgspec

from vgen_eval.cards.records import ProtocolCard, TaskCard
from vgen_eval.errors import UsageError, nearest

__all__ = ["missing_parts", "protocol"]


def protocol(task: TaskCard, name: str) -> ProtocolCard:
    """The named protocol, complete; UsageError with the nearest name, or with what it lacks.

    Cards from files have their `extends` resolved when they are loaded. In a record made in
    Python a key holds the parent's value where it equals the default.
    """
    found = _named(task, name)
    if found.extends is not None:
        parent = _named(task, found.extends)
        if parent.extends is not None:
            raise UsageError(
                f"protocol {name!r} of {task.task} extends {found.extends!r}, which itself extends"
                f" {parent.extends!r}",
                cure="extend a complete protocol",
            )
        found = _merge(found, parent)
    lacks = missing_parts(found)
    if lacks:
        raise UsageError(
            f"protocol {name!r} of {task.task} is not complete: {', '.join(lacks)} not given"
        )
    return found


def missing_parts(card: ProtocolCard) -> list[str]:
    """The keys that a protocol needs before it can be run and does not have."""
    return [
        key for key in ("answers", "metrics", "primary", "failure_value") if not getattr(card, key)
    ]


def _named(task: TaskCard, name: str) -> ProtocolCard:
    if name not in task.protocols:
        raise UsageError(
            f"task {task.task} has no protocol {name!r}.{nearest(name, task.protocols)}",
            cure=f"it has: {', '.join(task.protocols)}",
        )
    return task.protocols[name]


def _merge(child: ProtocolCard, parent: ProtocolCard) -> ProtocolCard:
    silent = ProtocolCard()
    said = {
        key: value
        for key in ProtocolCard.__struct_fields__
        if (value := getattr(child, key)) != getattr(silent, key)
    }
    return msgspec.structs.replace(parent, **{**said, "extends": None})
