"""What an importer gave, held to its contract: anyone's code made it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from vgen_eval.errors import BrokenPlugin
from vgen_eval.importing import Answer, Imported
from vgen_eval.types import Sample

__all__ = ["check_imported"]

SHOWN = 40
LONGEST_S = 1e7


def check_imported(held: Any, *, what: str) -> Imported:
    """The same, checked; BrokenPlugin naming the importer and the first thing that is wrong.

    Of answers, their values apart: those are judged one by one, as any model's.
    """
    fault = next(_faults(held), None)
    if fault is not None:
        raise BrokenPlugin(f"{what} gives {fault}", cure="what it is to give: vgen_eval.importing")
    found: Imported = held
    return found


def _faults(held: Any) -> Iterator[str]:
    if not isinstance(held, Imported):
        yield f"{type(held).__name__}, not Imported"
        return
    for name, value in (("answers", held.answers), ("remarks", held.remarks)):
        if not isinstance(value, (list, tuple)):
            yield f"{name} that are {type(value).__name__}, no list"
            return
    if held.role not in ("model", "human"):
        yield f"role {_shown(held.role)}"
    yield from (f"the remark {_shown(each)}" for each in held.remarks if not _is_text(each))
    for number, answer in enumerate(held.answers):
        yield from (f"answer {number}: {fault}" for fault in _answer_faults(answer))
    yield from _sample_faults(held.samples)


def _answer_faults(answer: Any) -> Iterator[str]:
    if not isinstance(answer, Answer):
        yield f"{_shown(answer)}, no Answer"
        return
    if not _is_text(answer.sample):
        yield f"the sample's id {_shown(answer.sample)}, which is no text"
    attempt, seconds = answer.attempt, answer.seconds
    if isinstance(attempt, bool) or not isinstance(attempt, int) or attempt < 0:
        yield f"attempt {_shown(attempt)}, no number from 0"
    if seconds is not None and not _is_time(seconds):
        yield f"seconds {_shown(seconds)}, no length of time"


def _sample_faults(samples: Any) -> Iterator[str]:
    if samples is None:
        return
    if not isinstance(samples, tuple):
        yield f"samples that are {type(samples).__name__}, no tuple"
        return
    seen: set[str] = set()
    for number, sample in enumerate(samples):
        where = f"sample {number}"
        if not isinstance(sample, Sample):
            yield f"{where}: {_shown(sample)}, no Sample"
            return
        if not _is_text(sample.id) or not _is_text(sample.group):
            yield f"{where}: the id {_shown(sample.id)} of group {_shown(sample.group)}, no texts"
            return
        if sample.id in seen:
            yield f"{where}: the id {_shown(sample.id)} of another one"
        seen.add(sample.id)
        tags = sample.tags
        if not isinstance(tags, Mapping) or not all(
            _is_text(part) for pair in tags.items() for part in pair
        ):
            yield f"{where}: tags {_shown(tags)}, which are no texts"


def _is_text(value: Any) -> bool:
    """Text that UTF-8 can hold: no half of a character, as JSON may spell it."""
    if not isinstance(value, str):
        return False
    return value.isascii() or value.encode("utf-8", "replace").decode() == value


def _is_time(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and 0 <= value <= LONGEST_S


def _shown(value: Any) -> str:
    """In few characters that can be printed; of what is no scalar its type."""
    if isinstance(value, (str, float, bool, type(None))) or (
        isinstance(value, int) and abs(value) < 10**SHOWN
    ):
        return f"{value!a:.{SHOWN}}"
    return type(value).__name__
