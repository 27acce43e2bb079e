"""The two digests of a card: of everything in it, and of what can change an answer or a score.

Both leave out every field that equals its default, so that a new optional field does not change
the digests of old cards. The other side of that: the default of a field never changes; a field
with another default gets another name.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import msgspec
import msgspec.inspect as mi

from vgen_eval import jsonio
from vgen_eval.cards.walk import type_of

__all__ = ["card_digest", "identity", "identity_digest", "spelled"]


def identity(record: msgspec.Struct) -> dict[str, Any]:
    """What of a record can change an answer or a score, as plain data.

    Left out, at every depth: fields marked as provenance, and fields that equal their default.
    """
    return _reduce_record(record, provenance=False)


def identity_digest(record: msgspec.Struct) -> str:
    """sha256, in hex, of `identity`."""
    return jsonio.digest(identity(record))


def card_digest(record: msgspec.Struct) -> str:
    """sha256, in hex, of everything in a record."""
    return jsonio.digest(_reduce_record(record, provenance=True))


def spelled(record: msgspec.Struct) -> dict[str, Any]:
    """A record as a card would spell it: plain data, without fields that equal their default."""
    return _reduce_record(record, provenance=True)


def _reduce_record(record: msgspec.Struct, *, provenance: bool) -> dict[str, Any]:
    reduced = {}
    defaults = _reduced_defaults(type(record), provenance)
    for field in type_of(type(record)).fields:
        if not provenance and _is_provenance(field.type):
            continue
        value = _reduce(getattr(record, field.name), provenance=provenance)
        if field.required or jsonio.canonical(value) != defaults[field.name]:
            reduced[field.encode_name] = value
    return reduced


def _reduce(value: Any, *, provenance: bool) -> Any:
    if isinstance(value, msgspec.Struct):
        return _reduce_record(value, provenance=provenance)
    if isinstance(value, Mapping):
        return {key: _reduce(item, provenance=provenance) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_reduce(item, provenance=provenance) for item in value]
    return msgspec.to_builtins(value)


@functools.cache
def _reduced_defaults(cls: type[msgspec.Struct], provenance: bool) -> Mapping[str, bytes]:
    """Field -> canonical JSON of its reduced default, for the fields that have one."""
    defaults = {}
    for field in type_of(cls).fields:
        if not field.required:
            factory = field.default_factory
            value = field.default if factory is msgspec.NODEFAULT else factory()
            defaults[field.name] = jsonio.canonical(_reduce(value, provenance=provenance))
    return defaults


def _is_provenance(info: mi.Type) -> bool:
    return isinstance(info, mi.Metadata) and bool((info.extra or {}).get("provenance"))
