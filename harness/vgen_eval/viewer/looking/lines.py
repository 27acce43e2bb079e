"""The lines of an attempt as they may be trusted: what is of another type is dropped, and told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from vgen_eval.answers import clean
from vgen_eval.engine.usage import AMOUNTS
from vgen_eval.types import FORMS, STATUS_GROUP

__all__ = ["mended_prediction", "mended_reply", "mended_score"]

DEEPEST = 40
"""Lists and mappings in one another, at most: what goes through a line does so by itself."""

Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_geometry(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    lists = (value.get(name, []) for name in ("original", "seen", "boxes"))
    if not all(isinstance(each, list) and all(isinstance(e, list) for e in each) for each in lists):
        return False
    return _are_texts(value.get("sha256", []))


def _is_file(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    name, size = value.get("file", ""), value.get("bytes", 0)
    return isinstance(name, str) and _is_count(size) and isinstance(value.get("sha256", ""), str)


def _are_files(value: Any) -> bool:
    return isinstance(value, list) and all(_is_file(each) for each in value)


def _is_status(value: Any) -> bool:
    return isinstance(value, str) and value in STATUS_GROUP


def _is_form(value: Any) -> bool:
    return isinstance(value, str) and value in FORMS


_PREDICTION: Mapping[str, Check] = {
    "status": _is_status, "form": _is_form, "request": _is_text, "seed": _is_count,
    "geometry": _is_geometry, "answer": _is_file, "reason": _is_text, "text": _is_text,
    "kind": _is_text, "source": _is_text, "flags": _are_texts, "volatile": _is_map,
}  # fmt: skip
_VOLATILE: Mapping[str, Check] = {
    "thinking": _is_text, "text": _is_text, "reason": _is_text, "cached": _is_text,
    "pictures": _are_files, "cost_usd": _is_number, "seconds": _is_number, "tries": _is_count,
    "finished": _is_number, "answer_s": _is_number, "request_id": _is_text,
    "reported_model": _is_text, "reported_date": _is_text,
    **dict.fromkeys(AMOUNTS, _is_number),
}  # fmt: skip
_SCORE: Mapping[str, Check] = {
    "status": _is_status, "of": _is_text, "sha256": _is_text, "values": _is_map,
    "prediction": _is_map, "statistics": _is_map, "flags": _are_texts, "fault": _is_text,
    "reason": _is_text, "substitute": lambda value: isinstance(value, bool),
}  # fmt: skip
_REPLY: Mapping[str, Check] = {
    "digest": _is_text, "question": _is_text, "reason": _is_text, "round": _is_count,
}  # fmt: skip
_NULLABLE = frozenset({"seed", "reason", "text", "fault", "thinking", "cost_usd"})


def mended_prediction(line: Mapping[str, Any] | None, notices: list[str]) -> dict[str, Any] | None:
    """The line of predictions.jsonl; None where it is of no use."""
    what = "its line of predictions.jsonl"
    found = _mend(line, _PREDICTION, what, notices)
    if found is None or not _has_status(found, what, notices):
        return None
    volatile = _mend(found.get("volatile"), _VOLATILE, f"{what}, 'volatile'", notices)
    if volatile is not None:
        found["volatile"] = volatile
    answer = found.get("answer")
    if isinstance(answer, dict) and "value" in answer and "file" not in answer:
        fault = _fault_of_value(found.get("form"), answer["value"])
        if fault:
            notices.append(f"damaged: {what} holds an answer {fault}, which is left out")
            found["answer"] = {k: v for k, v in answer.items() if k != "value"}
    return found


def mended_score(line: Mapping[str, Any] | None, notices: list[str]) -> dict[str, Any] | None:
    """The line of scores/<digest>.jsonl; None where it is of no use."""
    what = "its score line"
    found = _mend(line, _SCORE, what, notices)
    if found is None or not _has_status(found, what, notices):
        return None
    values = found.get("values")
    if isinstance(values, dict):
        found["values"] = _only(values, _is_number_or_none, f"{what}, 'values'", notices)
    return found


def mended_reply(line: Mapping[str, Any], notices: list[str]) -> dict[str, Any] | None:
    """A line of judgements.jsonl; None where it is of no use."""
    return _mend(line, _REPLY, "a reply of the judge", notices)


def _has_status(found: Mapping[str, Any], what: str, notices: list[str]) -> bool:
    if "status" in found:
        return True
    notices.append(f"damaged: {what} has no status, so that it counts as missing")
    return False


def _mend(
    line: Mapping[str, Any] | None, checks: Mapping[str, Check], what: str, notices: list[str]
) -> dict[str, Any] | None:
    if line is None:
        return None
    found: dict[str, Any] = {}
    wrong: list[str] = []
    for name, value in line.items():
        check = checks.get(name)
        is_good = check is None or check(value) or (value is None and name in _NULLABLE)
        if is_good and not _is_deep(value):
            found[name] = value
        else:
            wrong.append(name)
    _tell(what, wrong, notices)
    return found


def _only(
    given: Mapping[str, Any], check: Check, what: str, notices: list[str]
) -> dict[str, Any]:  # fmt: skip
    found = {name: value for name, value in given.items() if check(value)}
    _tell(what, [name for name in given if name not in found], notices)
    return found


def _tell(what: str, wrong: list[str], notices: list[str]) -> None:
    if wrong:
        named = ", ".join(f"'{clean(name[:40])}'" for name in wrong[:5])
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        notices.append(f"damaged: {what} has {named}{more} of a wrong type: left out")


def _is_deep(value: Any) -> bool:
    """Level by level: what is nested in itself a thousand times is no matter for a call."""
    if not isinstance(value, dict | list):
        return False
    level = [value]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for each in level:
            entries = each.values() if isinstance(each, dict) else each
            below += [entry for entry in entries if isinstance(entry, dict | list)]
        if not below:
            return False
        level = below
    return True


def _fault_of_value(form: Any, value: Any) -> str:
    """What is wrong with an answer that stands in the line ("")."""
    if form == "text" and not isinstance(value, str):
        return "that is no text"
    if form == "choice":
        is_good = isinstance(value, dict) and all(map(_is_number_or_none, value.values()))
        return "" if is_good else "that is no log-probability of each word"
    if form == "points":
        is_good = isinstance(value, list) and all(
            isinstance(each, list) and len(each) == 2 and all(map(_is_number, each))
            for each in value
        )
        return "" if is_good else "that is no list of points"
    return ""
