"""Reads a count off free text by stated rules; what is ambiguous is refused, never guessed.

In order; the first rule that applies decides, and decides against the answer when its numbers
differ or are no count (a range, a bound, a fraction, a negative number):

1. thinking traces are dropped (`<think>...</think>`, an unclosed one to the end)
2. the whole answer, or its one fenced block, is JSON
3. \\boxed{...}, <answer>...</answer>, <count>...</count>
4. "final answer ..."
5. "answer: N", "the number of cars is N", "total: N"
6. refusals and doubts end here: "I can't ...", "no idea", "not sure"
7. "a total of N", "N in total", "altogether N", "... = N"
8. the one number of the text; "no cars", "none" and "not any" are 0
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from vgen_eval.errors import Undecodable

from vgen_eval_plugins.parsing.numerals import LARGEST, Numeral, find_numerals, tidy
from vgen_eval_plugins.parsing.objects import find_value
from vgen_eval_plugins.parsing.texts import SHOWN, marked_answers, spoken_part

__all__ = ["ParsedCount", "parse_count"]


class ParsedCount(msgspec.Struct, frozen=True):
    """A count, the rule that gave it, and the words it was read from."""

    count: int
    rule: str
    extracted: str


_COUNT_KEYS = frozenset(
    ("count", "answer", "final_answer", "total", "total_count", "number", "num", "result", "value")
)
_SIDE_KEYS = frozenset(("confidence", "score", "probability"))

_FILL = (
    r"(?:[\s:=~≈\"'(-]|\b(?:is|are|was|be|would|there|to|exactly|just|only|about|approximately"
    r"|around|roughly|a|total|of|therefore|thus)\b)*$"
)
_FINAL = re.compile(rf"\bfinal (?:answer|count|total|tally)\b{_FILL}")
_ANSWER = re.compile(
    rf"\banswer\b{_FILL}"
    r"|(?:\b|_)(?:answer|count|total|result|tally|number)\b[a-z\s'\"_]{0,60}?"
    rf"(?:\bis\b|\bare\b|\bequals\b|[:=]|\s-\s){_FILL}"
)
_TOTAL_BEFORE = re.compile(
    rf"\btotal(?:s|ing|ling|ed|led)?\b{_FILL}"
    r"|\b(?:in total|in all|altogether|all together|overall)\b[,:]?\s+(?:[a-z']+\s+){0,4}$"
    r"|(?:\b(?:add(?:s|ing)? up to|sums? (?:up )?to|equals)\b|=)\s*$"
)
_TOTAL_AFTER = re.compile(
    r"(?:\s+[a-z'-]+){0,4}?\s+(?:in total|in all|altogether|all together|overall|total|combined)\b"
)
_CONJOINED = re.compile(
    r"(?:\s+[a-z'-]+){0,5}?\s*,?\s*(?:\band\b|\bplus\b|\+|&)\s*(?:[a-z']+\s+){0,2}"
)
_LISTED = re.compile(r"(?:\s+[a-z'-]+){0,5}?\s*[,;\n]\s*(?:[a-z'-]+\s*){0,5}:?\s*")

_NOT = (
    r"(?:can(?:no|')t|can not|could ?n(?:o|')t|could not|unable to|not able to|won't|impossible to)"
)
# wider than texts.is_refusal: of a count, "unclear" and "cannot be seen" are doubts
_DECLINES = re.compile(
    rf"\b{_NOT}\s+(?!(?:see|find|spot|detect|identify) any\b)"
    r"|\bas an ai\b|\blanguage model\b|\b(?:don't|do not) know\b|\bno idea\b"
    r"|\b(?:not|un)[ -]?(?:sure|certain|clear)\b|\bhard to (?:say|tell)\b"
)
_NO_THINGS = (
    r"(?:image|picture|photo|photograph|attachment|file|idea|way|clue|answer|information|count"
    r"|number|doubt|problem|matter|longer|more|fewer|less|need|comment|response|certainty|question"
    r"|reason|access|clear|telling|point|data|result|output|context|input|content|upload)"
)
_ZERO = re.compile(
    rf"\bno (?!(?:[a-z'-]+ ){{0,2}}{_NO_THINGS}s?\b)[a-z]"
    r"|(?:\bnot|n't) a single\b|\bnone\b(?! of (?:the|your|these)\b)|\bnobody\b|\bno one\b"
    rf"|\b(?:not|[a-z]+n't|cannot) (?:(?:see|find|spot|detect|identify|have|contain|show) )?any "
    rf"(?!(?:[a-z'-]+ ){{0,1}}{_NO_THINGS}s?\b)[a-z]"
    r"|\b(?:aren't|isn't|are not|is not) any\b(?=\W*$)"
)


_SCIENTIFIC = re.compile(r"(?<![\w.,])\d+(?:\.\d+)?[eE][+-]?\d{1,4}(?![\w.]*\w)")
"""A number as programs write it: 2.4e+01."""


def parse_count(text: str) -> ParsedCount:
    """The count that a text states; Undecodable, saying why, when it states none or several."""
    return _parse(text, _read_json, _read_marked)


def _parse(text: str, *rules: Callable[[str], ParsedCount | None]) -> ParsedCount:
    answer = spoken_part(text)
    if not answer:
        raise Undecodable("the answer is empty" if not text.strip() else "only a thinking trace")
    answer = _SCIENTIFIC.sub(_write_out, answer)
    for read in rules:
        parsed = read(answer)
        if parsed is not None:
            return parsed
    return _read_prose(tidy(answer))


def _write_out(number: re.Match[str]) -> str:
    """2.4e+01 as 24; Undecodable for what is no whole number, or too large for a count."""
    value = Decimal(number[0])
    if value > LARGEST or value != value.to_integral_value():
        raise Undecodable(f"'{number[0]}' is no count")
    return str(int(value))


# JSON


def _read_json(text: str) -> ParsedCount | None:
    found = find_value(text)
    if found is None:
        return None
    value, shown = found
    return ParsedCount(_json_count(value), "json", shown)


def _json_count(value: Any) -> int:
    if isinstance(value, dict):
        named = [v for k, v in value.items() if k.casefold() in _COUNT_KEYS]
        numbers = [
            v
            for k, v in value.items()
            if isinstance(v, (int, float))
            and not isinstance(v, bool)
            and k.casefold() not in _SIDE_KEYS
        ]
        counts = {_json_count(v) for v in (named or numbers)}
        if len(counts) != 1:
            raise Undecodable("the JSON holds no count" if not counts else "several JSON counts")
        return counts.pop()
    if isinstance(value, list) and len(value) == 1:
        return _json_count(value[0])
    if isinstance(value, str):
        return _parse(value).count
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Undecodable(f"the JSON count is {str(value)[:SHOWN]}")
    if not 0 <= value <= LARGEST or value != int(value):  # NaN and infinity fail the first test
        raise Undecodable(f"the JSON count is {value}")
    return int(value)


# prose


def _read_marked(text: str) -> ParsedCount | None:
    counts: dict[int, str] = {}
    for inner, shown in marked_answers(text, "answer", "count"):
        counts.setdefault(_parse(inner, _read_json).count, shown)
    if len(counts) > 1:
        raise Undecodable(f"several marked answers: {_listed(counts)}")
    return next((ParsedCount(n, "marked", shown) for n, shown in counts.items()), None)


def _read_prose(text: str) -> ParsedCount:
    numbers = find_numerals(text)
    joined = _conjoined(numbers, text)

    def decide(rule: str, applies: Callable[[int], bool]) -> ParsedCount | None:
        chosen = [at for at in range(len(numbers)) if applies(at)]
        return _agree(rule, chosen, numbers, joined, text) if chosen else None

    def before(at: int, pattern: re.Pattern[str]) -> bool:
        floor = max(numbers[at].start - 100, numbers[at - 1].end if at else 0)
        return pattern.search(text, floor, numbers[at].start) is not None

    def is_total(at: int) -> bool:
        stop = numbers[at + 1].start if at + 1 < len(numbers) else len(text)
        after = _TOTAL_AFTER.match(text, numbers[at].end, stop)
        return after is not None or before(at, _TOTAL_BEFORE)

    for rule, pattern in (("final answer", _FINAL), ("answer", _ANSWER)):
        parsed = decide(rule, lambda at, cue=pattern: before(at, cue))  # type: ignore[misc]
        if parsed is not None:
            return parsed
    if _DECLINES.search(text):
        raise Undecodable("the text declines or doubts")
    parsed = decide("total", is_total)
    if parsed is not None:
        return parsed
    return _read_only_number(text, numbers, joined)


def _read_only_number(text: str, numbers: Sequence[Numeral], joined: set[int]) -> ParsedCount:
    nothing = _ZERO.search(text)
    if not numbers:
        if nothing:
            return ParsedCount(0, "none", text[nothing.start() : nothing.start() + SHOWN])
        raise Undecodable("the text states no number")
    parsed = _agree("only number", range(len(numbers)), numbers, joined, text)
    if nothing and parsed.count != 0:
        raise Undecodable(f"the text states none and {parsed.count}")
    if len(numbers) == 1 and not re.search(
        r"\w", text[: numbers[0].start] + text[numbers[0].end :]
    ):
        return msgspec.structs.replace(parsed, rule="bare number")
    return parsed


def _conjoined(numbers: Sequence[Numeral], text: str) -> set[int]:
    """Positions of numbers that are parts of one another's phrase: `3 red and 4 blue`."""
    parts: set[int] = set()
    for at in range(len(numbers) - 1):
        if _CONJOINED.fullmatch(text, numbers[at].end, numbers[at + 1].start):
            parts |= {at, at + 1}
    return parts


def _agree(
    rule: str, chosen: Sequence[int], numbers: Sequence[Numeral], joined: set[int], text: str
) -> ParsedCount:
    values: dict[int, str] = {}
    for at in chosen:
        number = numbers[at]
        shown = text[number.start : number.end][:SHOWN]
        if number.value is None:
            raise Undecodable(f"'{shown}' is {number.why}")
        values.setdefault(number.value, shown)
    if len(values) > 1 or any(at in joined for at in chosen):
        stated = {numbers[at].value for at in chosen} | {numbers[at].value for at in joined}
        raise Undecodable(f"several numbers: {_listed(stated)}")
    for at in chosen:
        following = at + 1 in chosen
        if following and _LISTED.fullmatch(text, numbers[at].end, numbers[at + 1].start):
            raise Undecodable("a list of numbers, which may add up")
    value, shown = values.popitem()
    return ParsedCount(value, rule, shown)


def _listed(values: Any) -> str:
    return ", ".join(str(value) for value in sorted(values, key=str))[:SHOWN]
