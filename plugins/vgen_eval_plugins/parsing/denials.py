"""What takes an option back: denials before and after it, doubt, words that make another of it."""

from __future__ import annotations

import re

__all__ = [
    "blank_idioms",
    "is_changed",
    "is_counted",
    "is_letter_denied",
    "is_letter_denied_after",
    "is_text_denied",
    "is_text_doubtful",
]

_WINDOW = 60
"""Characters before an option in which it may be taken back."""

_NOT = (
    r"\b(?:not|never|cannot|neither|nor|without|except|besides|excluding|unlike"
    r"|rather than|other than|instead of"
    r"|nicht|kein|keine|weder|noch|pas|ni|non|não|nem|не|eliminate|exclude|reject|rule out|dismiss"
    r"|discard)|n't|不是|不选|並非|并非"
)
_BE = (
    r"say|be|choose|pick|select|think|call|called|considered|described|it|is|it's|the|option"
    r"|answer|choice|a|an|really|at all|so|as|either|any|particularly|ist|sein|options"
)
_LETTER_BEFORE = re.compile(
    rf"(?:{_NOT})\s*(?:(?:{_BE})\b\s*){{0,4}}[\"'(\[]{{0,3}}$", re.IGNORECASE
)
_WRONG = (
    r"not|n't|wrong|incorrect|false|ruled out|eliminated|excluded|out of the question|falsch"
    r"|faux|fausse|incorrecta|falso|sbagliata|errada|unlikely|impossible"
)
_LETTER_AFTER = re.compile(
    r"[)\].:\"']{0,3}\s*(?:(?:is|are|was|seems|looks|can be|ist|est|es|è|é)?\s*"
    rf"(?:definitely |clearly )?(?:{_WRONG})\b"
    r"|(?:isn't|can't|cannot|doesn't|does not|won't)\b|不对|不是|错)",
    re.IGNORECASE,
)

# of texts more words are denials than of letters: "no (B)" is no denial, "no noise" is one
_NONE_OF = (
    r"|\b(?:no|zero|hardly|barely|scarcely|little|lack|lacks|lacking|lacked|absence of|anything but"
    r"|free of|free from|devoid of|far from|nowhere near|nothing"
    r"|keine[nmrs]|keinerlei|ohne|frei von|sans|aucune?|sin|ning[uú]na?|senza|nessuna?|sem"
    r"|nenhuma?|нет|без)\b|没有|沒有|不含|缺乏|[没沒无無]"
)
_SIGNS = (
    r"|visible|obvious|noticeable|noticeably|significant|apparent|clear|evident|real|much|strong"
    r"|severe|serious|signs?|evidence|traces?|hints?|indications?|presence|kind|type|form|sort"
    r"|amount|of|in|from|by|see|seen|find|notice|detect|spot|observe|have|has|had|shows?|contains?"
    r"|exhibits?|suffers?|displays?|appears?|looks?|seems?|to|been|being|affected|there|that|this|on|at"
    r"|image|picture|photo|with|de|du|des|une?|la|le|el|los|das|die|der|den"
)
_TEXT_BEFORE = re.compile(
    rf"(?:{_NOT}{_NONE_OF})\s*(?:(?:(?:{_BE}{_SIGNS})\b|d')\s*){{0,7}}[\"'(\[]{{0,3}}$",
    re.IGNORECASE,
)
_TEXT_AFTER = re.compile(
    r"\?|[)\]:\"']{0,3}\s{0,2}(?:(?:levels?|artifacts?|problems?|issues?) ?)?"
    r"(?:(?:(?:is|are|was|were|seems|looks|appears|can be|ist|est|es|è|é) ?)?"
    r"(?:(?:definitely|clearly|also|almost|completely|entirely|virtually|very) ){0,2}"
    rf"(?:{_WRONG}|absente?|missing|lacking|invisible|imperceptible|unnoticeable|negligible"
    r"|minimal|non-?existent|hardly|barely|scarcely|nowhere|no longer|none|low)\b"
    r"|(?:isn't|can't|cannot|doesn't|does not|won't)\b|不对|不是|错|不存在|不明显|[没沒]有"
    r"|[はが](?:ない|ありません)|なし|[이가은는]? ?없)",
    re.IGNORECASE,
)
_ANY_DENIAL = re.compile(
    r"\b(?:no|not|never|nothing|cannot|neither|nor|without|hardly|barely|scarcely|kein\w{0,4}"
    r"|nicht|weder|ohne|pas|aucune?|sans|ni|non|sin|senza|não|nem|sem|не|нет|без)\b|n't|没有|沒有|不是|并非",
    re.IGNORECASE,
)
_CLAUSE_START = re.compile(
    r"[.;:!?\n,]|\b(?:but|because|since|due|so|therefore|thus|hence|instead|however|yet|though"
    r"|although|while|whereas|which|who|only|just|and (?:is|are|it|has|looks|shows|there|the|its)"
    r"|mais|sondern|aber|denn|weil|pero|sino|ma|но)\b"
    r"|但|而是",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:very|extremely|slightly|somewhat|too|more|less|most|least|quite|rather|fairly|a bit|so"
    r"|a little|highly|moderately|mildly|severely|partly|partially|almost|nearly|hardly|barely"
    r"|sehr|etwas|très|un peu|muy|poco|molto|muito|очень)\s+$"
    r"|\b(?:above|below|beyond|at least|at most|up to"
    r"|(?:less|more|fewer|better|worse|higher|lower|greater|smaller) than) (?:the |an? )?$"
    r"|[^\W_]-$",
    re.IGNORECASE,
)
_IDIOMS = re.compile(
    r"\b(?:no doubt|without (?:a |any )?doubt|no question|nothing but|none other than"
    r"|not (?:only|just|merely)|not to mention|no wonder|can(?:'t|not| not) deny"
    r"|no matter (?:how|what)|on average|fair enough|to be fair|fair to say"
    r"|clear (?:that|from)|(?:you are|you're|that's|that is|all) right|right (?:now|away)"
    r"|good (?:question|morning|afternoon|evening|day|luck|to (?:know|see|hear)))\b",
    re.IGNORECASE,
)
_COUNTED_BEFORE = re.compile(
    r"(?:\b(?:option|choice|question|image|picture|photo|figure|fig\.|number|no\.|step)\s?[:(]?"
    r"|[#+-]|\d\s?(?:/|of|out of))\s?$",
    re.IGNORECASE,
)
_COUNTED_AFTER = re.compile(r"\s?(?:/|of|out of)\s?\d|\s?%", re.IGNORECASE)


def is_letter_denied(text: str, start: int) -> bool:
    """Is the letter that starts here taken back before it: "not B", "I would not say B"?"""
    return _LETTER_BEFORE.search(text[max(0, start - _WINDOW) : start]) is not None


def is_letter_denied_after(text: str, end: int) -> bool:
    """Is the letter that ends here taken back after it: "B is wrong"?"""
    return _LETTER_AFTER.match(text, end) is not None


def is_text_denied(text: str, start: int, end: int) -> bool:
    """Is the option's text at [start, end) denied: "no sign of noise", "noise is absent"?"""
    before = text[max(0, start - _WINDOW) : start]
    return _TEXT_BEFORE.search(before) is not None or _TEXT_AFTER.match(text, end) is not None


def is_text_doubtful(text: str, start: int) -> bool:
    """Is something denied in the clause of an option's text, which may be that text?"""
    clause = _CLAUSE_START.split(text[max(0, start - _WINDOW) : start])[-1]
    return _ANY_DENIAL.search(clause) is not None


def is_changed(text: str, start: int) -> bool:
    """Do the words before an option's text make another of it: "extremely sharp", "half-good"?"""
    return _CHANGED.search(text[max(0, start - _WINDOW) : start]) is not None


def is_counted(text: str, start: int, end: int) -> bool:
    """Is a number at [start, end) one of a row or of a share: "option 2", "3 of 5", "-1"?"""
    if not text[start:end].isdigit():
        return False
    before = text[max(0, start - 16) : start]
    return _COUNTED_BEFORE.search(before) is not None or bool(_COUNTED_AFTER.match(text, end))


def blank_idioms(text: str) -> str:
    """The text without phrases that neither deny nor choose: "no doubt", "you are right"."""
    return _IDIOMS.sub(";", text)
