"""What several views tell in words: numbers, why there is no answer, what a judge replied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.viewing import Seen

__all__ = [
    "Fact",
    "last_replies",
    "number",
    "outcome",
    "reply_facts",
    "summary_of",
    "tell_reply",
    "value_facts",
    "whole_words",
]

Fact = tuple[str, str]


def summary_of(seen: Seen) -> Mapping[str, Any]:
    """What the score line says of the prediction; {} where nothing was scored."""
    told = seen.score.get("prediction")
    return told if isinstance(told, Mapping) else {}


def number(value: Any) -> str:
    """A number in six digits, a truth value in a word, "none" for None; text as it is."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def outcome(seen: Seen, *, counted_as: str) -> list[Fact]:
    """Status and reason of an attempt that did not end well; [] for one that did.

    `counted_as`: what the failure value is, in words.
    """
    status = str(seen.score.get("status", ""))
    facts: list[Fact] = []
    if status and status != "ok":
        facts.append(("status", status))
    if seen.score.get("reason"):
        facts.append(("reason", str(seen.score["reason"])))
    if seen.substitute:
        facts.append(("counted as", counted_as))
    return facts


def value_facts(seen: Seen, *keys: str) -> list[Fact]:
    """These values of the score line, those that it has."""
    values = seen.score.get("values") or {}
    return [(key.replace("_", " "), number(values[key])) for key in keys if key in values]


def last_replies(judgements: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Question -> the line that counts: of one asked again, or anew, the last.

    `grade/0?1` is `grade/0` put again because its reply could not be read.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for line in judgements:
        found[str(line.get("question", "")).partition("?")[0]] = line
    return found


def reply_facts(judgements: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Fact]:
    """What the judge replied to these questions, or why there is no reply."""
    lines = last_replies(judgements)
    facts = []
    for name in names:
        line = lines.get(name)
        if line is not None:
            facts.append((f"judge, {name}", tell_reply(line)))
    return facts


def tell_reply(line: Mapping[str, Any]) -> str:
    """A judge's reply, or why there is none."""
    reply = line.get("reply")
    return f"no reply: {line.get('reason', '')}" if reply is None else str(reply)


def whole_words(seen: Seen, summary: Mapping[str, Any]) -> str:
    """The words that were read: all of them where they are at hand, else as the summary cut them.

    `summary`: with `words`; "" where it has none.
    """
    words = summary.get("words")
    if not isinstance(words, str):
        return ""
    value = None if seen.prediction is None else seen.prediction.value
    return value if isinstance(value, str) and value.startswith(words) else words
