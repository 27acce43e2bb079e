"""JSON in a reply: the one value it holds, bare, fenced, or among words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from vgen_eval.errors import Undecodable

from vgen_eval_plugins.parsing.texts import SHOWN, fenced_blocks, spoken_part

__all__ = ["find_value", "read_object"]

_INLINE = re.compile(r"\{[^{}]*\}")

MOST_DEPTH = 32
"""Levels of JSON in JSON: no answer needs more, and who follows them never runs out of stack."""


def find_value(text: str) -> tuple[Any, str] | None:
    """(value, its text) of the JSON object or list that a text is, fences or holds; else None.

    Among words, only an object without objects inside is looked for, and only where it is the
    only one. Undecodable when an object names a key twice, or holds others too deep.
    """
    blocks = fenced_blocks(text)
    inline = _INLINE.findall(text)
    candidates = [
        text,
        *(blocks if len(blocks) == 1 else []),
        *(inline if len(inline) == 1 else []),
    ]
    for candidate in candidates:
        try:
            value = _bounded(json.loads, candidate, object_pairs_hook=_refuse_twins)
        except ValueError:
            continue
        if isinstance(value, (dict, list)):
            return value, candidate.strip()[:SHOWN]
    return None


def read_object(text: str, *, is_plain: bool = False) -> dict[str, Any]:
    """The one JSON object of a reply: the reply, its fenced block, or what stands among its words.

    A list that holds one object is that object. Undecodable when there is none, when there are
    several, when a key stands twice or the nesting is deeper than any answer's, and for NaN and
    infinity, which are no JSON. `is_plain`: as Python's reader has it, of a key that stands twice
    the last, and NaN and infinity are numbers.
    """
    load = _load_plain if is_plain else _load
    spoken = spoken_part(text)
    if not spoken:
        raise Undecodable("the reply is empty")
    blocks = fenced_blocks(spoken)
    for candidate in (spoken, *(blocks if len(blocks) == 1 else ())):
        found = load(candidate)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, dict):
            return found
    objects = [
        found for span in _outer_braces(spoken) if isinstance(found := load(span), dict) and found
    ]
    if len(objects) != 1:
        raise Undecodable(
            f"the reply holds {len(objects)} JSON objects" if objects else "no JSON object in it"
        )
    return objects[0]


def _load(text: str) -> Any:
    """The value, or None where the text is no JSON."""
    try:
        return _bounded(
            json.loads, text, object_pairs_hook=_refuse_twins, parse_constant=_refuse_constant
        )
    except ValueError:
        return None


def _load_plain(text: str) -> Any:
    try:
        return _bounded(json.loads, text)
    except ValueError:
        return None


def _bounded(load: Callable[..., Any], text: str, **options: Any) -> Any:
    """What `load` makes of the text; Undecodable where that is nested too deep to be followed."""
    too_deep = f"its JSON is nested more than {MOST_DEPTH} deep"
    try:
        value = load(text, **options)
    except RecursionError:
        raise Undecodable(too_deep) from None
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return value
    if any(isinstance(each, (dict, list)) for each in level):
        raise Undecodable(too_deep)
    return value


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise Undecodable("the JSON names a key twice")
    return dict(pairs)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_SIGNIFICANT = re.compile(r'[{}"]|\\.', re.DOTALL)


def _outer_braces(text: str) -> list[str]:
    """Pieces from a brace to its own closing one, those inside others left out; in one pass."""
    pairs: list[tuple[int, int]] = []
    stack: list[int] = []
    quoted = False
    for mark in _SIGNIFICANT.finditer(text):
        sign = mark.group()
        if sign == '"':
            quoted = bool(stack) and not quoted
        elif quoted:
            continue
        elif sign == "{":
            stack.append(mark.start())
        elif sign == "}" and stack:
            pairs.append((stack.pop(), mark.end()))
    outer: list[tuple[int, int]] = []
    for start, end in sorted(pairs):
        if not outer or start >= outer[-1][1]:
            outer.append((start, end))
    return [text[start:end] for start, end in outer]
