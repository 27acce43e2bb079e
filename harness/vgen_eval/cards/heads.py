"""Kind, name, family and title of a card: what lists show, read without the rest of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from vgen_eval.cards.names import NAME
from vgen_eval.cards.problems import Problems, clip
from vgen_eval.cards.scalars import resolve_plain
from vgen_eval.cards.yaml_nodes import (
    MAX_DEPTH,
    CardLoader,
    property_fault,
    read_text,
    refuse_syntax,
)

__all__ = ["CardHead", "read_head"]

_KINDS = ("task", "model", "suite")
_NAME = re.compile(NAME)
_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


class CardHead(msgspec.Struct, frozen=True):
    """What a list shows of a card."""

    kind: Literal["task", "model", "suite"]
    name: str
    family: str | None
    """None for models and suites."""
    title: str
    path: Path


def read_head(path: Path) -> CardHead:
    """The head of a card; CardError when the file is no card.

    The file is read only as far as the head goes: a fault further down is `load_card`'s to tell.
    """
    problems = Problems(str(path))
    source = CardLoader(read_text(path))
    found: dict[str, str] = {}
    try:
        for key, value, line in _top_level_texts(source.get_event, problems):
            if key in found:
                raise problems.fatal("key stands twice", line=line, path=key)
            if key in _KINDS and _kind_in(found):
                raise problems.fatal("one file holds one card", line=line, path=key)
            if key in _KINDS and not _NAME.fullmatch(value):
                raise problems.fatal(f"{clip(value)} is no name", line=line, path=key)
            found[key] = value
            if _is_complete(found):
                break
    except yaml.YAMLError as exc:
        refuse_syntax(problems, exc)
    kind = _kind_in(found)
    if kind is None:
        raise problems.fatal("no card: none of the keys task, model, suite names it", line=1)
    if kind == "task" and "family" not in found:
        raise problems.fatal("required key is missing", line=1, path="family")
    family = found["family"] if kind == "task" else None
    return CardHead(kind, found[kind], family, found.get("title", ""), path)


def _kind_in(found: dict[str, str]) -> Any:
    return next((kind for kind in _KINDS if kind in found), None)


def _is_complete(found: dict[str, str]) -> bool:
    kind = _kind_in(found)
    return kind is not None and "title" in found and (kind != "task" or "family" in found)


def _top_level_texts(next_event: Any, problems: Problems) -> Iterator[tuple[str, str, int]]:
    """Key, value and line of the head's keys in the order of the file, the rest skipped."""
    next_event()  # start of the stream
    if type(next_event()) is yaml.StreamEndEvent:
        raise problems.fatal("the file is empty")
    root = next_event()
    _check_properties(root, problems, "")
    if type(root) is not yaml.MappingStartEvent:
        raise problems.fatal("a card is a mapping: task: ..., model: ... or suite: ...", line=1)
    while type(event := next_event()) is not yaml.MappingEndEvent:
        line = event.start_mark.line + 1
        key = event.value if type(event) is yaml.ScalarEvent else ""
        _check_properties(event, problems, key)
        if not key:
            _skip(event, next_event, problems, "")
        value = next_event()
        _check_properties(value, problems, key)
        if key not in (*_KINDS, "family", "title"):
            _skip(value, next_event, problems, key)
        elif type(value) is not yaml.ScalarEvent or not _is_text(value):
            raise problems.fatal("wanted text", line=line, path=key)
        else:
            yield key, value.value, line


def _is_text(event: Any) -> bool:
    try:
        return not event.implicit[0] or isinstance(resolve_plain(event.value), str)
    except ValueError:
        return False


def _skip(event: Any, next_event: Any, problems: Problems, key: str) -> None:
    """Read over what `event` starts."""
    depth = 0
    while True:
        if type(event) in _OPENING:
            depth += 1
            if depth > MAX_DEPTH:
                raise problems.fatal(f"nested deeper than {MAX_DEPTH} levels", path=key)
        elif type(event) in _CLOSING:
            depth -= 1
        if depth == 0:
            return
        event = next_event()
        if type(event) not in _CLOSING:
            _check_properties(event, problems, key)


def _check_properties(event: Any, problems: Problems, key: str) -> None:
    fault = property_fault(event)
    if fault:
        raise problems.fatal(fault, line=event.start_mark.line + 1, path=key)
