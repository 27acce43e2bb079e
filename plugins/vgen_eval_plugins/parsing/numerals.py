"""Finds the numbers of a text: digits and English words, and which of them cannot be a count."""

from __future__ import annotations

import re
import unicodedata

import msgspec

__all__ = ["LARGEST", "Numeral", "find_numerals", "tidy"]

LARGEST = 1_000_000_000
"""Numbers above this are no count of things in a picture."""


class Numeral(msgspec.Struct, frozen=True):
    """A number in a text, at [start, end)."""

    start: int
    end: int
    value: int | None
    """None: it stands where a count might, and is none."""
    why: str = ""
    """Why it is no count."""


_UNITS = {
    word: value
    for value, word in enumerate(
        re.findall(
            r"\w+",
            "zero one two three four five six seven eight nine ten eleven twelve thirteen "
            "fourteen fifteen sixteen seventeen eighteen nineteen",
        )
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety"), 2
    )
}
_UNIT = f"(?:{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_SMALL = rf"(?:(?:{'|'.join(_TENS)})(?:[- ]{_UNIT})?|{_UNIT})"
_HUNDRED = rf"(?:(?:{_UNIT}|a) hundred(?: (?:and )?{_SMALL})?)"
_BELOW_THOUSAND = rf"(?:{_HUNDRED}|{_SMALL})"
_WORDS = (
    rf"(?:(?:{_BELOW_THOUSAND}|a) thousand(?:,? (?:and )?{_BELOW_THOUSAND})?|{_BELOW_THOUSAND})"
)
_DOZEN = rf"half a dozen|(?:{_UNIT}|a|\d+) dozen|a single"
_VAGUE = r"hundreds?|thousands?|dozens?|millions?|billions?"

_NUMBER = re.compile(
    "|".join(
        (
            rf"(?P<vague>(?:(?<![a-z0-9])(?:\d+(?:\.\d+)?|{_WORDS}) )?"
            r"(?<![a-z])(?:millions?|billions?)(?![a-z]))",
            rf"(?<![a-z0-9_])(?P<dozen>{_DOZEN})(?![a-z])",
            rf"(?<![a-z0-9_])(?P<words>{_WORDS})(?![a-z])",
            r"(?<![a-z0-9_])(?P<scaled>\d+) (?P<scale>hundred|thousand)(?![a-z])",
            r"(?<![a-z0-9_])(?P<digits>(?>\d+(?:[,']\d+)*(?:\.\d+)?|\.\d+))(?![a-z_])",
            rf"(?<![a-z])(?P<loose>{_VAGUE})(?![a-z])",
        )
    )
)
_GROUPED = re.compile(r"\d{1,3}(?:[,']\d{3})+|\d+")

# numbers that are about something else; blanked before any is read
_ASIDE = (
    # a number starts where none runs already: else each of its digits is a start of its own
    re.compile(
        r"(?<!\d)(?<!\d[,.])(?:\d[\d,.]*+\s*-\s*)?[-+]?(?<!\d)(?<!\d[,.])\d[\d,.]*+\s*"
        r"(?:%|percent\b|per cent\b)"
    ),
    re.compile(
        r"\bconfidence(?: level| score)?\s*(?:[:=]|is|of)?\s*\d*\.?\d+(?:\s*/\s*\d+)?"
        r"|(?<![\d.])(?:\d++(?:\.\d++)?|\.\d++) confidence\b"
    ),
    re.compile(r"(?<![a-z0-9])\d+(?:st|nd|rd|th)\b"),
    re.compile(r"(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)"),
    re.compile(r"(?<![a-z0-9_])[a-z_]++-?\d[\w-]*"),  # covid-19, b7
    re.compile(r"(?<![a-z0-9.,])\d+[a-z_]\w*"),  # 3d, 1e3
    re.compile(rf"(?<![a-z0-9.,])(?:\d+|{_SMALL})-(?=[a-z])(?!{_UNIT}(?![a-z]))[a-z-]+"),  # 3-story
    re.compile(r"^[ \t]*\d+[.)][ \t]+(?=\S)", re.MULTILINE),  # the marker of a list
    re.compile(
        r"\b(?:figure|fig\.|image|picture|photo|row|column|step|page|frame|line|question|option)"
        r" \d+\b"
    ),
    re.compile(r"(?:\bnot|n't) a single\b"),
    re.compile(
        r"\b(?:this|that|the|each|every|no|which|any|another|other|first|last|next) one\b"
        r"|\bone (?=(?:of|another|by|can|could|cannot|must|might|should|would|more)\b)"
    ),
)
_DENIED = re.compile(r"(?:\bnot|n't|\bcannot) (?:[a-z]+ )?$")
_NEGATIVE = re.compile(r"(?:(?<![\w)])-|\b(?:minus|negative) )$")
_BOUND_BEFORE = re.compile(
    r"(?:\b(?:at least|at most|more than|less than|fewer than|over|under|up to|above|below"
    r"|upwards of|nearly|almost|(?:minimum|maximum)(?: of)?|greater than)|[<>≤≥]=?)\s*$"
)
_BOUND_AFTER = re.compile(
    r"\s*\+(?!\s*\w)|\s+or (?:so|more|fewer|less)\b|-(?:odd|ish|plus|some|something)\b"
    r"|\s+and a half\b|\s+plus(?=\W*$)"
)

_RANGE = re.compile(r"\s*(?:-|\bto\b|\bor\b|\bthrough\b|~|\.{2,})\s*")
_BETWEEN = re.compile(r"\bbetween\s+$")
_AND = re.compile(r"\s+and\s+")
_JOINTS = (
    (_RANGE, "a range"),
    (re.compile(r"\s*(?:/|:)\s*"), "a ratio"),
    (re.compile(r"\s*,\s*(?:and |or )?"), "a list of numbers"),
    (re.compile(r"[ \t]+"), "numbers side by side"),
)
_TERM = re.compile(r"\s*(?:\+|×|\bx\b|\bplus\b|\btimes\b)\s*")
_EQUALS = re.compile(r"\s*(?:=|\bequals\b|\bmakes\b)\s*")


def tidy(text: str) -> str:
    """The text in lower case, without markdown, LaTeX marks and typographic variants."""
    text = re.sub(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))", ",", text)
    text = re.sub(r"(?<=\d)(?=[\u00b2\u00b3\u00b9\u2070-\u2079])", "^", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"</?[a-z][^<>\n]{0,60}>", " ", text)
    text = re.sub(r"[\ufe0f\u20e3\u200b]", "", text)
    text = text.replace("\u2019", "'").replace("\u2014", " - ")
    text = re.sub(r"[\u2010-\u2013\u2212]", "-", text)
    text = re.sub(r"\\(?:text|mathrm|mathbf)\{([^{}]*)\}", r"\1", text)
    text = text.replace("\\times", "×")
    text = re.sub(r"\\[()\[\],; ]|\$", " ", text)
    text = re.sub(r"(?<=\d)\s*\*\s*(?=\d)", " × ", text)
    text = re.sub(r"[*`]|(?<!\w)_+|_+(?!\w)", "", text)
    text = re.sub(r"^[ \t]*(?:#+|>(?=\s))[ \t]*", "", text, flags=re.MULTILINE)
    return re.sub(r"[^\S\n]+", " ", text).strip()


def find_numerals(text: str) -> list[Numeral]:
    """The numbers of a tidied text in order, asides left out, joined ones as one."""
    blanked = _blank_asides(text)
    found = [_read(match, blanked) for match in _NUMBER.finditer(blanked)]
    return _join(_join_sums(found, blanked), blanked)


def _blank_asides(text: str) -> str:
    for pattern in _ASIDE:
        text = pattern.sub(lambda match: "\x00" * len(match.group()), text)
    return text


def _read(match: re.Match[str], text: str) -> Numeral:
    start, end = match.span()
    value, why = _value_of(match)
    before = text[max(0, start - 24) : start]
    if _NEGATIVE.search(before):
        value, why = None, "a negative number"
    elif _BOUND_BEFORE.search(before) or _BOUND_AFTER.match(text, end):
        value, why = None, "a bound, not a count"
    elif _DENIED.search(before):
        value, why = None, "denied"
    elif value is not None and value > LARGEST:
        value, why = None, "too large for a count"
    return Numeral(start, end, value, why)


def _value_of(match: re.Match[str]) -> tuple[int | None, str]:
    groups = match.groupdict()
    if groups["words"]:
        return _word_value(groups["words"]), ""
    if groups["dozen"]:
        head = groups["dozen"].split()[0]
        if groups["dozen"] in ("half a dozen", "a single"):
            return {"half": 6, "a": 1}[head], ""
        count = int(head) if head.isdigit() else _UNITS.get(head, 1)
        return 12 * count, ""
    if groups["scaled"]:
        return int(groups["scaled"][:12]) * (100 if groups["scale"] == "hundred" else 1000), ""
    if groups["digits"]:
        return _digit_value(groups["digits"])
    return None, "no definite number"


def _digit_value(digits: str) -> tuple[int | None, str]:
    whole, _, fraction = digits.partition(".")
    if not whole or fraction.strip("0"):
        return None, "not a whole number"
    if len(fraction) == 3:
        return None, "whole to three digits, or thousands"
    if not _GROUPED.fullmatch(whole):
        return None, "oddly grouped digits"
    plain = whole.replace(",", "").replace("'", "").lstrip("0") or "0"
    return (int(plain) if len(plain) <= 12 else LARGEST + 1), ""


def _word_value(words: str) -> int:
    total = group = 0
    for word in re.split(r"[-, ]+", words):
        if word in _UNITS:
            group += _UNITS[word]
        elif word in _TENS:
            group += _TENS[word]
        elif word == "hundred":
            group *= 100
        elif word == "thousand":
            total, group = total + group * 1000, 0
        elif word == "a":
            group += 1
    return total + group


def _join_sums(found: list[Numeral], text: str) -> list[Numeral]:
    """`3 + 4 = 7` becomes the number 7; terms without a result are no count."""
    joined: list[Numeral] = []
    at = 0
    while at < len(found):
        last = at
        while last + 1 < len(found) and _gap(found, last, text, _TERM):
            last += 1
        if last == at:
            joined.append(found[at])
        elif last + 1 < len(found) and _gap(found, last, text, _EQUALS):
            last += 1
            joined.append(msgspec.structs.replace(found[last], start=found[at].start))
        else:
            joined.append(Numeral(found[at].start, found[last].end, None, "a sum without result"))
        at = last + 1
    return joined


def _gap(found: list[Numeral], at: int, text: str, pattern: re.Pattern[str]) -> bool:
    return pattern.fullmatch(text, found[at].end, found[at + 1].start) is not None


def _join(found: list[Numeral], text: str) -> list[Numeral]:
    """Ranges, ratios and lists as one number that is no count."""
    joined: list[Numeral] = []
    for number in found:
        why = _joint(joined[-1], number, text) if joined else ""
        if why:
            joined[-1] = Numeral(joined[-1].start, number.end, None, why)
        else:
            joined.append(number)
    return joined


def _joint(left: Numeral, right: Numeral, text: str) -> str:
    for pattern, why in _JOINTS:
        if pattern.fullmatch(text, left.end, right.start):
            return why
    between = _BETWEEN.search(text, max(0, left.start - 12), left.start)
    if between and _AND.fullmatch(text, left.end, right.start):
        return "a range"
    return ""
