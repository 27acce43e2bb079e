"""Sets results apart that do not belong together, and names what they differ in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval import jsonio

__all__ = ["name_apart", "varying"]

SHORT = 24
"""Letters that a value may have in a head: prompts and digests are told by their digest."""

Facts = Mapping[str, Any]


def varying(facts: Sequence[Facts], fields: Sequence[str]) -> list[str]:
    """Those of the fields in which not all agree."""
    return [
        field for field in fields if any(one.get(field) != facts[0].get(field) for one in facts[1:])
    ]


def name_apart(
    facts: Sequence[Facts], fields: Sequence[str]
) -> tuple[list[tuple[tuple[str, str], ...]], list[str]]:
    """Of each a few fields that together tell it from the others, with their values here.

    Short values that all of them have are taken first. The second list holds the fields that
    differ as well, which the first leave out.
    """
    differ = varying(facts, fields)

    def rank(field: str) -> tuple[bool, bool]:
        values = [one.get(field) for one in facts]
        return None in values, any(len(_text(value)) > SHORT for value in values)

    taken: list[str] = []
    told = [0] * len(facts)
    for field in sorted(differ, key=rank):
        values = [_text(one.get(field)) for one in facts]
        finer = _number(list(zip(told, values, strict=True)))
        if max(finer) > max(told):
            taken.append(field)
            told = finer
        if max(told) == len(facts) - 1:
            break
    taken.sort(key=differ.index)
    heads = [tuple((field, _shown(one.get(field))) for field in taken) for one in facts]
    return heads, [field for field in differ if field not in taken]


def _number(keys: Sequence[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else jsonio.dumps(value).decode()


def _shown(value: Any) -> str:
    text = _text(value)
    if len(text) <= SHORT:
        return text
    return f"#{hashlib.sha256(text.encode()).hexdigest()[:6]}"
