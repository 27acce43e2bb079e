"""Settings given outside a card: `key=value` texts, and their typed place in a record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import msgspec.inspect as mi

from vgen_eval.cards.problems import Problems, did_you_mean, join, join_index, show
from vgen_eval.cards.scalars import resolve_plain
from vgen_eval.cards.walk import convert, plain_of, type_of
from vgen_eval.cards.yaml_nodes import compose
from vgen_eval.errors import CardError, UsageError
from vgen_eval.wording import plural

__all__ = ["override", "parse_setting"]

S = TypeVar("S", bound=msgspec.Struct)
Key = str | int

_ANY = mi.AnyType()
_NAME = re.compile(r'[^.\[\]"]+')
_STEP = re.compile(r'\.([^.\[\]"]+)|\[(\d{1,6})\]|\["([^"]*)"\]')


def parse_setting(text: str) -> tuple[str, Any]:
    """The key and value of `key=value`, the value read as a card's; UsageError when malformed.

    1e-3 is a number and `no` is text, as in a card; [..], {..} and quotes are read as YAML.
    """
    key, equals, raw = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageError(f"{text!r} is no setting", cure="write key=value")
    _split(key)
    if raw and not raw.strip():
        raise UsageError(
            f"the value of {key} is only blanks", cure=f"""quote it: '{key}="{raw}"'"""
        )
    raw = raw.strip()
    try:
        if raw[:1] in ("[", "{", '"', "'") and raw:
            return key, _read_flow(raw, key)
        return key, resolve_plain(raw)
    except ValueError as exc:
        raise UsageError(f"{key}: {exc}") from exc


def _read_flow(raw: str, key: str) -> Any:
    problems = Problems(key)
    try:
        node, _ = compose(raw, problems)
        problems.check()
    except CardError as exc:
        raise UsageError(
            f"{key}: {exc.problems[0].message} in {raw[:60]!r}", cure="quote the whole value"
        ) from exc
    return plain_of(node)


def override(record: S, settings: Mapping[str, Any]) -> S:
    """The record with the values at these dotted paths set; UsageError with the nearest key.

    Keys: `generation.seed`, `answers[0].options.threshold` or `answers.0.options.threshold`.
    In free mappings (options, generation) any key may be set, and the levels above it are made.
    """
    data = _mutable(msgspec.to_builtins(record))
    for key, value in settings.items():
        _set(data, type_of(type(record)), _split(key), value)
    try:
        return convert(type(record), data, file="setting")
    except CardError as exc:
        problem = exc.problems[0]
        more = f" (and {len(exc.problems) - 1} more)" if len(exc.problems) > 1 else ""
        raise UsageError(f"{problem.path}: {problem.message}{more}") from exc


def _mutable(value: Any) -> Any:
    """The same plain data with lists for tuples, which `to_builtins` leaves as they are."""
    if isinstance(value, dict):
        return {key: _mutable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mutable(item) for item in value]
    return value


def _split(key: str) -> list[Key]:
    """The steps of a dotted path: names, and numbers for [n]; UsageError when it is none."""
    first = _NAME.match(key)
    steps: list[Key] = [first.group()] if first else []
    at = first.end() if first else 0
    while steps and at < len(key):
        match = _STEP.match(key, at)
        if match is None:
            break
        word, index, quoted = match.groups()
        steps.append(int(index) if index is not None else quoted if word is None else word)
        at = match.end()
    if not steps or at < len(key):
        raise UsageError(f"{key!r} is no key", cure="write a.b or a[0].b")
    return steps


def _set(data: Any, info: mi.Type, steps: list[Key], value: Any, path: str = "") -> None:
    """Put `value` at `steps` below `data`, whose type is `info`."""
    slot: Any
    if isinstance(data, list):
        slot = _index_in(data, steps[0], path)
        path = join_index(path, slot)
        info = _bare(getattr(info, "item_type", _ANY))
    else:
        slot = steps[0]
        path, info = _entry_of(info, slot, path)
    if len(steps) == 1:
        data[slot] = value
        return
    below = data[slot] if isinstance(data, list) else data.get(slot)
    if below is None and isinstance(info, (mi.StructType, mi.DictType, mi.AnyType)):
        below = data[slot] = {}
    if not isinstance(below, (dict, list)):
        raise UsageError(f"{path} is {show(below)}; nothing can be set below it")
    _set(below, info, steps[1:], value, path)


def _entry_of(info: mi.Type, key: Key, path: str) -> tuple[str, mi.Type]:
    """Path and type of a mapping's entry; UsageError for a key that it cannot have."""
    if not isinstance(key, str):
        raise UsageError(f"{path} is a mapping and has no entry {key}", cure="write a.b")
    below = join(path, key)
    if isinstance(info, mi.StructType):
        fields = {field.encode_name: field.type for field in info.fields}
        if key not in fields:
            raise UsageError(
                f"{below}: unknown key{did_you_mean(key, fields)}",
                cure=f"known here: {', '.join(fields)}",
            )
        return below, _bare(fields[key])
    return below, _bare(info.value_type) if isinstance(info, mi.DictType) else _ANY


def _index_in(data: list[Any], step: Key, path: str) -> int:
    """A step as an index of a list; UsageError when it is none or out of range."""
    if isinstance(step, str) and not (step.isascii() and step.isdigit()):
        raise UsageError(f"{path} is a list: {step!r} is no index", cure=f"write {path}[0]")
    if int(step) >= len(data):
        raise UsageError(
            f"{path}[{step}]: the list has {plural(len(data), 'entry', 'entries')}, counted from 0"
        )
    return int(step)


def _bare(info: mi.Type) -> mi.Type:
    """The type without its notes and without the null beside it."""
    if isinstance(info, mi.Metadata):
        return _bare(info.type)
    if isinstance(info, mi.UnionType):
        rest = [option for option in info.types if not isinstance(option, mi.NoneType)]
        return _bare(rest[0]) if len(rest) == 1 else _ANY
    return info
