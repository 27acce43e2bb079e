"""Reads the one number of a rating off a reply, on whatever scale; what may be another is refused.

In order; the first rule that applies decides, and decides against the reply when its numbers
differ:

1. thinking traces are dropped
2. the whole reply is a number, as programs write them
3. the whole reply, its one fenced block or its one inline object is JSON
4. \\boxed{...}, <rating>...</rating>, <score>...</score>, <answer>...</answer>, [[4.5]]
5. "final rating ... 4.5"
6. "rating: 4.5", "I give it 4.5"
7. refusals end here
8. "4/5", "4 out of 5"
9. the one number of the text, where it stands alone or is said of the picture ("about 72 %")

A scale that the reply names ("out of 10", "(1 = worst, 10 = best)") is told beside the number.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
from vgen_eval.errors import Undecodable

from vgen_eval_plugins.parsing.faults import NotRead, heard
from vgen_eval_plugins.parsing.objects import find_value
from vgen_eval_plugins.parsing.scales import scale_of_object, set_scales_aside
from vgen_eval_plugins.parsing.scores import (
    FINAL_SCORE,
    NAMED_SCORE,
    SCORE_KEYS,
    named_numbers,
    only_number,
)
from vgen_eval_plugins.parsing.texts import (
    SHOWN,
    double_bracketed,
    is_refusal,
    marked_answers,
    plain_words,
)

__all__ = ["ParsedRating", "parse_rating"]

LARGEST = 1e100
"""Beyond it no number rates anything, and sums would overflow."""


class ParsedRating(msgspec.Struct, frozen=True):
    """A rating as it stands, the rule that gave it, and the words it was read from."""

    rating: float
    rule: str
    extracted: str
    out_of: float | None = None
    """The end of the scale, where the reply names one: 5 of "4/5"; 100 of per cent."""


def parse_rating(text: str) -> ParsedRating:
    """The rating that a reply states; Undecodable, saying why, for none and for several."""
    spoken = heard(text, "reply")
    if _PLAIN.fullmatch(spoken):
        return ParsedRating(_finite(spoken), "number", spoken[:SHOWN])
    found = find_value(spoken)
    if found is not None and isinstance(found[0], dict):
        return _read_object(found[0], found[1])
    return _read_marked(spoken) or _read_prose(spoken)


_PLAIN = re.compile(
    r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:e[+-]?[0-9]++)?|[+-]?(?:nan|inf(?:inity)?)",
    re.IGNORECASE,
)


def _finite(number: str | float) -> float:
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not abs(value) <= LARGEST:  # NaN fails too
        raise Undecodable(f"'{number!s:.{SHOWN}}' is no rating")
    return value


def _read_object(value: dict[str, Any], shown: str) -> ParsedRating:
    keyed = {str(key).casefold().strip().replace(" ", "_"): each for key, each in value.items()}
    named = [each for key, each in keyed.items() if key in SCORE_KEYS or key == "quality"]
    found = {_read_member(each) for each in named or only_number(value)}
    if len(found) != 1:
        raise Undecodable("the JSON holds no rating" if not found else "several JSON ratings")
    rating, out_of = found.pop()
    scale = scale_of_object(keyed)
    if out_of is None and scale is not None:
        out_of = scale.high
    return ParsedRating(rating, "json", shown, out_of)


def _read_member(value: Any) -> tuple[float, float | None]:
    if isinstance(value, str):
        read = _read_marked(value) or _read_prose(value)
        return read.rating, read.out_of
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Undecodable(f"the JSON rating is {type(value).__name__}")
    return _finite(value), None


def _read_marked(text: str) -> ParsedRating | None:
    found: dict[tuple[float, float | None], str] = {}
    marks = [*marked_answers(text, "rating", "score", "answer"), *double_bracketed(text)]
    for inner, shown in marks:
        read = _read_prose(inner)
        found.setdefault((read.rating, read.out_of), shown)
    if len(found) > 1:
        raise Undecodable("several marked ratings: " + _listed(found))
    return next(
        (ParsedRating(rating, "marked", shown, end) for (rating, end), shown in found.items()), None
    )


_NUMBER = re.compile(
    r"(?P<range>\b(?:between|from)\s+)?"
    r"(?<![\w.,/^:-])(?P<sign>[+-]\s?)?(?P<value>[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})"
    r"(?![\w^]|[.,:][0-9])"
    r"(?:\s*(?:/|\bout\s+of\b|\bof\b)\s*(?P<of>[0-9]{1,6}(?:\.[0-9]{1,6})?)(?![\w/]|\.[0-9]))?"
    r"(?P<percent>\s*(?:%|percent\b|per cent\b))?"
    r"(?P<more>\s*(?:-|\bto\b|\bor\b|\band\b|/|[;|&+±])\s*[0-9]|\s*\+|,? [0-9])?"
)
_UNIT = re.compile(
    r"\s*(?:(?:points?|marks?|stars?)\b)?\s*(?:[.,;:!)\]\n-]|because\b|as\b|since\b|$)", re.I
)
_CUE = re.compile(
    r"(?:^|[:;,.!=(\n]|\b(?:is|be|it|this|image|picture|quality|say|rate|with|about|around|roughly"
    r"|approximately|a|an|at|of|as)\b)\s*$",
    re.IGNORECASE,
)
_BOUND = re.compile(r"\b(?:least|most|than|over|under|above|below|up to|nearly|almost)\b|[<>≤≥]")


def _read_prose(text: str) -> ParsedRating:
    plain, end = _without_scale(plain_words(text))
    if _PLAIN.fullmatch(plain.strip()):
        return ParsedRating(_finite(plain), "number", plain.strip()[:SHOWN], end)
    numbers = list(_NUMBER.finditer(plain))
    for rule, pattern in (("final rating", FINAL_SCORE), ("rating", NAMED_SCORE)):
        chosen = named_numbers(pattern, plain, numbers)
        if chosen:
            _refuse_bounds(plain, chosen)
            return _agree(rule, chosen, end)
    if is_refusal(plain):
        raise NotRead("refusal", "the reply declines or doubts")
    chosen = [number for number in numbers if number["of"]]
    if chosen:
        _refuse_bounds(plain, chosen)
        return _agree("out of", chosen, end)
    if len(numbers) > 1:
        raise Undecodable(f"{len(numbers)} numbers, and which is the rating is not said")
    if numbers and _is_said_of_all(plain, numbers[0]):
        return _agree("one number", numbers, end)
    raise Undecodable("the reply states no rating")


def _refuse_bounds(plain: str, numbers: list[re.Match[str]]) -> None:
    for number in numbers:
        near = plain[max(0, number.start() - 12) : number.start()]
        if _BOUND.search(near):
            raise Undecodable(f"'{number.group().strip()[:SHOWN]}' is a bound, not a rating")


def _is_said_of_all(plain: str, number: re.Match[str]) -> bool:
    """Does the number rate, rather than count or bound something?"""
    before = plain[max(0, number.start() - 40) : number.start()]
    return (
        _CUE.search(before) is not None
        and _BOUND.search(before) is None
        and _UNIT.match(plain, number.end()) is not None
        and re.search(r"[0-9]", plain[: number.start()] + plain[number.end() :]) is None
    )


def _without_scale(text: str) -> tuple[str, float | None]:
    """The text without mentions of a scale, and where that ends; Undecodable for two of them."""
    rest, scales = set_scales_aside(text)
    ends = {scale.high for scale in scales}
    if len(ends) > 1:
        raise Undecodable("several scales are named")
    return rest, ends.pop() if ends else None


def _agree(rule: str, chosen: list[re.Match[str]], end: float | None) -> ParsedRating:
    found = {_value_of(number): number.group().strip()[:SHOWN] for number in chosen}
    if len(found) > 1:
        raise Undecodable(f"several ratings: {_listed(found)}")
    (rating, out_of), shown = found.popitem()
    return ParsedRating(rating, rule, shown, end if out_of is None else out_of)


def _listed(found: dict[tuple[float, float | None], str]) -> str:
    return ", ".join(f"{rating:g}" for rating, _ in sorted(found, key=lambda each: each[0]))


def _value_of(number: re.Match[str]) -> tuple[float, float | None]:
    shown = number.group().strip()[:SHOWN]
    if number["more"] or number["range"] or (number["of"] and number["percent"]):
        raise Undecodable(f"'{shown}' is no one number")
    value = _finite(number["value"])
    if (number["sign"] or "").strip() == "-":
        value = -value
    if number["of"]:
        return value, float(number["of"])
    return value, 100.0 if number["percent"] else None
