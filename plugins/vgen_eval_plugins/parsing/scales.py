"""Scales that a reply names: "out of 10", "on a scale of 1 to 5", "(1 = worst, 10 = best)"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["NUMBER_WORDS", "Scale", "scale_of_object", "set_scales_aside"]

_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER_WORDS: Mapping[str, int] = {word: value for value, word in enumerate(_NAMES)}

_NOUN = r"\b(?:scores?|ratings?|verdict|grade|mark)"
_END = rf"(?:\d{{1,6}}(?:\.\d{{1,6}})?|(?:{'|'.join(_NAMES)})\b)(?![\w/]|\.\d)"
_POSSIBLE = r"(?:(?:a|the)\s)?(?:(?:possible|total|maximum)\s(?:of\s)?)?"
_UNIT = r"(?:points?|stars?|marks?)\b"


class Scale(msgspec.Struct, frozen=True):
    """The ends of a scale; `low` is None where only the other one is named."""

    low: float | None
    high: float
    is_counted: bool = False
    """Of so many points, as in "a 5-point scale": 5 may be its end, or how many there are."""

    def fits(self, low: float, high: float) -> bool:
        """May it be the scale from `low` to `high`?"""
        ends = (high, high - low + 1) if self.is_counted else (high,)
        return self.low in (None, low) and self.high in ends

    def __str__(self) -> str:
        return f"{self.high:g}" if self.low is None else f"{self.low:g} to {self.high:g}"


_OUT_OF = re.compile(
    rf"(?P<value>(?<![\w.,/])(?:\d{{1,9}}(?:[.,]\d{{1,9}})*|(?:{'|'.join(_NAMES)})\b))"
    rf"(?:\s?{_UNIT})?\s?,?\s?"
    rf"(?:\bout\sof\s{_POSSIBLE}(?P<end>{_END})"
    rf"|[(\[]\s?(?:out\sof|of|/)\s?{_POSSIBLE}(?P<inside>{_END})(?:\s?{_UNIT})?\s?[)\]])",
    re.IGNORECASE,
)
_PAIR = r"(?P<{0}>\d{{1,6}})\s*(?:-|to|\.\.)\s*(?P<{1}>\d{{1,6}})"
_ON = r"(?:\b(?:on|in|of|using|with)\s+)?(?:\b(?:a|the|our)\s+)?"
_SCALE = re.compile(
    rf"{_ON}\bscale\s*(?:of|from|is|:|,)?\s*\(?{_PAIR.format('l1', 'h1')}\)?"
    rf"|[(\[]{_PAIR.format('l2', 'h2')}[)\]]"
    r"|\bfrom\s+(?P<l3>\d{1,6})\s+to\s+(?P<h3>\d{1,6})\b"
    r"|(?<![\w.-])(?P<l4>\d{1,6})\s?-\s?(?P<h4>\d{1,6})\s+scale\b"
    rf"|{_ON}\bscale\s+(?:of|up\s+to|out\s+of)\s+(?P<h5>{_END})"
    rf"|{_ON}(?<![\w.-])(?P<points>\d{{1,6}}|(?:{'|'.join(_NAMES)}))[\s-]points?\s+scale\b"
    rf"|(?P<noun>{_NOUN})\s?(?:\(\s?(?:out\sof|of|/)\s?(?P<h6>{_END})(?:\s?{_UNIT})?\s?\)"
    rf"|(?:\bout\sof\s|/\s?)(?P<h7>{_END}))(?=\s*(?:[:=]|is\b))"
    r"|[(\[](?P<legend>(?:\s?\d{1,6}\s?(?:=|:|is\b|means\b|-)[^\d()\[\]]{1,40}){2,12})[)\]]",
    re.IGNORECASE,
)


def set_scales_aside(text: str) -> tuple[str, list[Scale]]:
    """Plain words without the scales that they name, and those.

    What belongs to a number stays with it: "three points (out of ten)" becomes "3 out of 10".
    """
    scales: list[Scale] = []

    def blank(match: re.Match[str]) -> str:
        scales.append(_scale_of(match))
        return match["noun"] or " "

    def spell(match: re.Match[str]) -> str:
        return f"{_digits(match['value'])} out of {_digits(match['end'] or match['inside'])}"

    rest = _SCALE.sub(blank, _OUT_OF.sub(spell, text))
    return re.sub(" {2,}", " ", rest), scales


def _scale_of(match: re.Match[str]) -> Scale:
    if match["legend"]:
        marks = sorted(float(mark) for mark in re.findall(r"\d+", match["legend"]))
        return Scale(marks[0], marks[-1])
    if match["points"]:
        return Scale(None, float(_digits(match["points"])), is_counted=True)
    low = next((match[f"l{at}"] for at in range(1, 5) if match[f"l{at}"]), None)
    high = next(match[f"h{at}"] for at in range(1, 8) if match[f"h{at}"])
    return Scale(None if low is None else float(low), float(_digits(high)))


def _digits(number: str) -> str:
    return str(NUMBER_WORDS.get(number.casefold(), number))


_END_KEYS = ("max", "maximum", "max_score", "max_rating", "out_of", "scale_max", "scale")
_WRITTEN = re.compile(r"\s*(?:(\d{1,6})\s*(?:-|\u2013|to)\s*)?(\d{1,6})\s*", re.IGNORECASE)


def scale_of_object(keyed: Mapping[str, Any]) -> Scale | None:
    """The scale that an object names beside its score: `max`, `out_of` or `scale`; else None."""
    for key in _END_KEYS:
        value = keyed.get(key)
        written = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
        if written is not None:
            return Scale(None if written[1] is None else float(written[1]), float(written[2]))
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return Scale(None, float(value) if abs(value) < 1e9 else 1e9)
    return None
