"""Reads a whole-number score on a stated scale off a reply; a score on another scale is refused.

In order; the first rule that applies decides, and decides against the reply when its scores
differ, are no whole number, or lie outside the scale:

1. thinking traces are dropped
2. the whole reply, its one fenced block or its one inline object is JSON
3. \\boxed{...}, <score>...</score>, <answer>...</answer>, [[4]]
4. "final score / verdict / rating ... 4"
5. "score: 4", "rating of 4", "I give it 4"
6. refusals end here
7. "4/5", "4 out of 5", where 5 is the scale's end
8. a number alone

Wherever a reply names its scale, in words or beside the score in JSON, it has to be the one stated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from vgen_eval.errors import Undecodable

from vgen_eval_plugins.parsing.faults import NotRead, heard
from vgen_eval_plugins.parsing.objects import find_value
from vgen_eval_plugins.parsing.scales import (
    NUMBER_WORDS,
    Scale,
    scale_of_object,
    set_scales_aside,
)
from vgen_eval_plugins.parsing.texts import (
    SHOWN,
    double_bracketed,
    is_refusal,
    marked_answers,
    plain_words,
    spoken_part,
)

__all__ = [
    "FINAL_SCORE",
    "NAMED_SCORE",
    "SCORE_KEYS",
    "ParsedScore",
    "named_numbers",
    "only_number",
    "parse_score",
]


class ParsedScore(msgspec.Struct, frozen=True):
    """A score, the rule that gave it, and the words it was read from."""

    score: int
    rule: str
    extracted: str


def parse_score(text: str, low: int, high: int) -> ParsedScore:
    """The score in low..high that a reply states; Undecodable, saying why, for anything else."""
    spoken = heard(text, "reply")
    found = find_value(spoken)
    if found is not None and isinstance(found[0], dict):
        return ParsedScore(_json_score(found[0], low, high), "json", found[1])
    return _read_marked(spoken, low, high) or _read_prose(spoken, low, high)


SCORE_KEYS = frozenset(
    (
        *("score", "rating", "verdict", "final_score", "final_verdict", "final_rating", "answer"),
        *("final_answer", "value", "result", "grade", "tier", "level"),
    )
)


def _json_score(value: Any, low: int, high: int) -> int:
    if isinstance(value, dict):
        keyed = {str(key).casefold().strip().replace(" ", "_"): v for key, v in value.items()}
        named = [v for key, v in keyed.items() if key in SCORE_KEYS]
        _refuse_other(scale_of_object(keyed), low, high)
        scores = {_json_score(v, low, high) for v in named or only_number(value)}
        if len(scores) != 1:
            raise Undecodable("the JSON holds no score" if not scores else "several JSON scores")
        return scores.pop()
    if isinstance(value, str):
        spoken = spoken_part(value)
        if not spoken:
            raise Undecodable("the JSON score is empty")
        return (_read_marked(spoken, low, high) or _read_prose(spoken, low, high)).score
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Undecodable(f"the JSON score is {str(value)[:SHOWN]}")
    if not low <= value <= high:  # NaN fails too
        raise Undecodable(f"{_shown(value)} is outside {low} to {high}")
    if value != int(value):
        raise Undecodable(f"{value} is no whole number")
    return int(value)


def only_number(value: dict[str, Any]) -> list[Any]:
    """The one number among an object's values; [] where there is none, or several."""
    numbers = [v for v in value.values() if isinstance(v, (int, float)) and not isinstance(v, bool)]
    return numbers if len(numbers) == 1 else []


def _shown(value: float) -> str:
    """The value in few characters; integers of thousands of digits cannot even be printed."""
    return str(value) if abs(value) < 10**12 else "a huge number"


def _read_marked(text: str, low: int, high: int) -> ParsedScore | None:
    scores: dict[int, str] = {}
    marks = [*marked_answers(text, "score", "rating", "verdict", "answer"), *double_bracketed(text)]
    for inner, shown in marks:
        scores.setdefault(_read_prose(inner, low, high).score, shown)
    if len(scores) > 1:
        raise Undecodable(f"several marked scores: {sorted(scores)}")
    return next((ParsedScore(score, "marked", shown) for score, shown in scores.items()), None)


# words

_REACH = 90
"""Characters between a word for a score and its number, at most."""

_NUMBER = re.compile(
    r"(?P<range>\b(?:between|from)\s+)?"
    r"(?<![^\W\u3040-\u9fff\uac00-\ud7a3])(?<![.,/^-])(?<!\d:)(?P<sign>[+-]\s?)?"
    rf"(?P<value>\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(NUMBER_WORDS)})\b)(?![\w^]|[.,]\d)"
    r"(?:\s*(?:/|\bout\s+of\b|\bof\b|\bvon\b|\bsur\b|\bde\b|\bsu\b|\bиз\b|\bin\b(?=\s*\d+\s*$))\s*"
    r"(?P<of>\d{1,6}(?:\.\d+)?)(?![\w/]|\.\d))?"
    r"(?P<percent>\s*(?:%|percent\b|per cent\b))?"
    r"(?P<more>\s*(?:-|\bto\b|\bor\b|/)\s*\d|(?<!,) \d"
    r"|(?:(?<=,)| ?[;|&+]) ?(?:\d{1,9}(?:\.\d)?, ?){0,9}\d{1,9}(?:\.\d)?(?= ?(?:\n|$)))?",
    re.IGNORECASE,
)
_TO = (
    r"(?:\s*[:=>]{1,2}\s*|\s+(?:is|was|would be|should be|will be|must be|of|as|ist|est|es|è|é)\b)?"
)
_AT = (
    rf"{_TO}(?:\s*[:\"'(\[]{{0,4}}\s*)(?:(?:a|an|the|only|just|therefore|thus|clearly)\s+){{0,3}}$"
)
_NOUN = (
    r"(?:scores?|ratings?|verdict|grade|mark|tier|note|bewertung|puntuación|punteggio|nota"
    r"|оценка|评分|得分|分数|スコア|評価|点数|점수)"
)
FINAL_SCORE = re.compile(
    rf"\b(?:final|overall|total)\s+(?:{_NOUN}|answer|judg(?:e?ment)){_AT}", re.IGNORECASE
)
NAMED_SCORE = re.compile(
    rf"(?:\b|_)(?:{_NOUN}|answer)(?:は|是|为|는|은)?"
    rf"(?:\s+(?:for|of|to|given)\s+(?:(?:this|the|a|an)\s+)?\w{{1,20}}(?:\s\w{{1,20}})?)?{_AT}"
    r"|\b(?:give|gives|gave|rate|rated|score|scored|assign|award|deserves?|gets?|earns?|receives?)"
    r"(?:\s+(?:it|this|the|that|video|image|answer|description|response|output|\w{1,12})){0,3}"
    rf"{_AT}",
    re.IGNORECASE,
)


def _read_prose(text: str, low: int, high: int) -> ParsedScore:
    plain = _without_scale(plain_words(text), low, high)
    numbers = list(_NUMBER.finditer(plain))
    for rule, pattern in (("final score", FINAL_SCORE), ("score", NAMED_SCORE)):
        chosen = named_numbers(pattern, plain, numbers)
        if chosen:
            return _agree(rule, chosen, low, high)
    if is_refusal(plain):
        raise NotRead("refusal", "the reply declines or doubts")
    chosen = [number for number in numbers if number["of"]]
    if chosen:
        return _agree("out of", chosen, low, high)
    if len(numbers) == 1 and not re.search(
        r"\w", plain[: numbers[0].start()] + plain[numbers[0].end() :]
    ):
        return _agree("bare number", numbers, low, high)
    raise Undecodable("the reply states no score")


def named_numbers(
    pattern: re.Pattern[str], text: str, numbers: Sequence[re.Match[str]]
) -> list[re.Match[str]]:
    """Those of the numbers that follow the words of a pattern, with no other number between."""
    ends = [0, *(number.end() for number in numbers)]
    return [
        number
        for number, before in zip(numbers, ends, strict=False)
        if pattern.search(text, max(number.start() - _REACH, before), number.start())
    ]


def _without_scale(text: str, low: int, high: int) -> str:
    """The text without mentions of the scale; Undecodable when another scale is named."""
    rest, scales = set_scales_aside(text)
    for scale in scales:
        _refuse_other(scale, low, high)
    return rest


def _refuse_other(scale: Scale | None, low: int, high: int) -> None:
    if scale is not None and not scale.fits(low, high):
        raise Undecodable(f"a score of a scale of {scale}; {low} to {high} was asked for")


def _agree(rule: str, chosen: list[re.Match[str]], low: int, high: int) -> ParsedScore:
    scores = {_value_of(number, low, high): number.group().strip()[:SHOWN] for number in chosen}
    if len(scores) > 1:
        raise Undecodable(f"several scores: {', '.join(map(str, sorted(scores)))}")
    score, shown = scores.popitem()
    return ParsedScore(score, rule, shown)


def _value_of(number: re.Match[str], low: int, high: int) -> int:
    shown = number.group().strip()[:SHOWN]
    if number["percent"] or number["more"] or number["range"]:
        raise Undecodable(f"'{shown}' is no score from {low} to {high}")
    if number["of"] and float(number["of"]) != high:
        raise Undecodable(f"'{shown}' is on another scale than {low} to {high}")
    word = number["value"].casefold()
    whole, _, fraction = word.replace(",", "").partition(".")
    if fraction.strip("0"):
        raise Undecodable(f"'{shown}' is no whole number")
    digits = whole.lstrip("0") or "0"
    value = NUMBER_WORDS.get(word)
    if value is None:
        value = int(digits) if len(digits) <= 9 else 10**9
    if (number["sign"] or "").strip() == "-":
        value = -value
    if not low <= value <= high:
        raise Undecodable(f"'{shown}' is outside {low} to {high}")
    return value
