"""VGI-Bench's rubric files: which entry is an instance's, and what its goal and checklist are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval_plugins.manifest.lines import keys_twice

__all__ = ["Rubric", "find_rubric", "parse_rubrics"]

_PREFIX = "overall task:"


class Rubric(msgspec.Struct, frozen=True):
    """One entry."""

    goal: str
    """Its first line, without `Overall task:`."""
    checklist: tuple[str, ...]
    """The others; where there is one line alone, that."""
    answer: str = ""


def parse_rubrics(data: bytes) -> Mapping[str, Any]:
    """Entries by their keys, as they stand; ValueError when it is no such file.

    The file is a list of {id, rubric, answer} or a mapping; lines alone are one entry. An entry
    without a key of its own has an empty one.
    """
    found = msgspec.json.decode(data)
    twice = keys_twice(data)
    if twice:
        raise ValueError(f"'{twice[0]:.80}' stands twice in one object")
    if isinstance(found, dict):
        if isinstance(found.get("rubric"), (list, str)):  # the file is an entry, too
            return {**found, "rubric": {"rubric": found["rubric"], "answer": found.get("answer")}}
        return found
    if not isinstance(found, list):
        raise ValueError(f"a list or a mapping of rubrics was wanted, {type(found).__name__} seen")
    if all(isinstance(entry, str) for entry in found):
        return {"": found}
    entries: dict[str, Any] = {}
    for entry in found:
        if not isinstance(entry, dict):
            raise ValueError("an entry of the list is no mapping")
        key = str(entry.get("id", ""))
        if key in entries and entries[key] != entry:
            raise ValueError(f"two entries of id '{key}', and they differ")
        entries[key] = entry
    return entries


def find_rubric(entries: Mapping[str, Any], *, task: str, level: str, number: str) -> Rubric:
    """The instance's entry: its own, the task's, the default; an only one serves all.

    LookupError, with the keys that were looked for, when there is none; ValueError when the entry
    has no lines.
    """
    keys = (
        f"{task}_{level}_{number}", f"{task}_{number}", f"{task}_default", "default", task,
        "rubric",
    )  # fmt: skip
    key = next((key for key in keys if key in entries), None)
    if key is None:
        if len(entries) != 1:
            raise LookupError(f"none of its {len(entries)} entries is {', '.join(keys)}")
        (key,) = entries
    return _read_entry(entries[key])


def _read_entry(entry: Any) -> Rubric:
    lines = entry.get("rubric") if isinstance(entry, dict) else entry
    lines = [lines] if isinstance(lines, str) else lines
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ValueError("an entry's rubric is no list of lines")
    kept = [line.strip() for line in lines if line.strip()]
    if not kept:
        raise ValueError("an entry's rubric is empty")
    goal = kept[0]
    if goal.lower().startswith(_PREFIX):
        goal = goal[len(_PREFIX) :].strip()
    answer = entry.get("answer") if isinstance(entry, dict) else None
    return Rubric(goal, tuple(kept[1:]) or (goal,), _as_words(answer))


def _as_words(answer: Any) -> str:
    if answer is None:
        return ""
    return answer.strip() if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
