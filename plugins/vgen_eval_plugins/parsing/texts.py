"""Words as answers hold them: thinking traces, markup, refusals, and texts that are the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = [
    "SHOWN",
    "double_bracketed",
    "drop_thinking",
    "fenced_blocks",
    "is_refusal",
    "marked_answers",
    "plain_words",
    "same_text",
    "spoken_part",
]

SHOWN = 80
"""Characters of a text kept as what was extracted."""

_TRACE = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning|analysis|scratchpad)>", re.IGNORECASE
)
_SPECIAL = re.compile(r"<\|[^|<>]{0,80}\|>")
_FENCE = re.compile(r"```[a-zA-Z0-9]{0,20}[ \t]*\n?(.*?)```", re.DOTALL)
_BOXED = r"\\boxed\{(?P<boxed>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"

_NOT = r"(?:can(?:no|')t|can not|could ?n(?:o|')t|could not|won't|will not|am unable to)"
_JUDGE = (
    r"(?:view|see|open|access|assess|assist|help|determine|answer|provide|rate|judge|evaluate"
    r"|identify|tell|say|analy[sz]e|process|comply|score)"
)
_REFUSAL = re.compile(
    rf"\b(?:i|we) (?:really |simply |currently )?{_NOT}"
    r"(?:[.!,;]| (?!(?:see|find|spot|detect|identify) any\b))"
    rf"|\b(?:un|not )able to {_JUDGE}\b|^{_NOT} {_JUDGE}\b"
    rf"|\b(?:can(?:no|')t|can not) be (?:determined|answered|rated|judged|assessed|scored)\b"
    r"|\bas an ai\b|\blanguage model\b|\b(?:don't|do not) know\b|\bno idea\b"
    r"|\b(?:i'm|i am|we're|we are) (?:not |un)(?:sure|certain)\b|^(?:not |un)(?:sure|certain)\b"
    r"|\bhard to (?:say|tell)\b|\b(?:it's|it is) (?:not |un)clear (?:how|what|which|whether|if)\b"
    r"|\bno (?:image|picture|video) (?:(?:was|is|has been) )?(?:provided|attached|visible|given)\b"
    r"|\bich kann (?:\w+ ){0,6}nicht\b|\bich wei(?:ss|ß) (?:es )?nicht\b"
    r"|\bje ne (?:peux|sais|vois) pas\b|\bno (?:puedo|lo sé|sé)\b|\bnon (?:posso|lo so|so)\b"
    r"|\bnão (?:posso|consigo|sei)\b|\bя не (?:могу|знаю)\b|^не (?:могу|знаю)\b"
    r"|无法|不能(?:看|确|判|回)|不知道|抱歉|できません|わかりません|分かりません|할 수 없|모르겠"
)


def drop_thinking(text: str) -> str:
    """The text outside thinking traces; some templates leave the opening mark in the prompt.

    An unclosed trace runs to the end.
    """
    kept: list[str] = []
    at, inside = 0, False
    for mark in _TRACE.finditer(text):
        if mark[1]:
            if not inside:
                kept.clear()
            inside = False
        elif not inside:
            kept.append(text[at : mark.start()])
            inside = True
        at = mark.end()
    if not inside:
        kept.append(text[at:])
    return " ".join(kept)


def spoken_part(text: str) -> str:
    """What an answer says: no thinking trace, no token of a chat template, no outer space."""
    return _SPECIAL.sub(" ", drop_thinking(text)).strip()


def fenced_blocks(text: str) -> list[str]:
    """What stands between fences of three backticks, in order."""
    return [str(block) for block in _FENCE.findall(text)]


def marked_answers(text: str, *tags: str) -> Iterator[tuple[str, str]]:
    r"""(what is inside, the whole mark) of every `\boxed{...}` and `<tag>...</tag>`."""
    pattern = re.compile(
        rf"{_BOXED}|<(?P<tag>{'|'.join(tags)})>(?P<tagged>.*?)(?:</(?P=tag)>|\Z)",
        re.DOTALL | re.IGNORECASE,
    )
    for match in pattern.finditer(text):
        inner = match["boxed"] if match["boxed"] is not None else match["tagged"]
        yield inner, match.group()[:SHOWN]


_DOUBLE = re.compile(r"\[\[\s*([^\[\]\n]{1,80}?)\s*\]\]")


def double_bracketed(text: str) -> list[tuple[str, str]]:
    """(what is inside, the whole mark) of every `[[...]]`."""
    return [(match[1], match[0]) for match in _DOUBLE.finditer(text)]


def is_refusal(text: str) -> bool:
    """Does the text decline, or say that it does not know? In English and ten languages more."""
    plain = re.sub(r"\s+", " ", text.lower().replace("\u2019", "'")).strip()
    return _REFUSAL.search(plain) is not None


def plain_words(text: str) -> str:
    """The text without Markdown, LaTeX marks, tags and typographic variants; its case is kept."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[\ufe0f\u20e3\u200b-\u200f\u2060\ufeff]", "", text)
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", " ", text)
    text = re.sub(r"</?[a-zA-Z][^<>\n]{0,60}>", " ", text)
    text = text.translate(_TYPOGRAPHY)
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf|mathsf)\{([^{}]{0,200})\}", r"\1", text)
    text = re.sub(r"\\[()\[\],; ]|\$", " ", text)
    text = re.sub(r"[*`~]|(?<!\w)_+|_+(?!\w)", "", text)
    text = re.sub(r"^[ \t]*(?:#{1,6}|>(?=\s))[ \t]*", "", text, flags=re.MULTILINE)
    return re.sub(r"[^\S\n]+", " ", text).strip()


_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    ord("\u2014"): " - ",
    ord("\u3002"): ".",
    ord("\u3001"): ",",
    ord("\u300c"): '"',
    ord("\u300d"): '"',
    ord("\u3010"): "[",
    ord("\u3011"): "]",
}


def same_text(a: str, b: str) -> bool:
    """Are two texts the same, but for their case, composition, and outer space and punctuation?"""
    return _bare(a) == _bare(b)


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    start, end = 0, len(folded)
    while start < end and _is_outer(folded[start]):
        start += 1
    while end > start and _is_outer(folded[end - 1]):
        end -= 1
    # a text of punctuation alone is compared as it is: "+" is not "-"
    return folded[start:end] if start < end else folded.strip()


def _is_outer(char: str) -> bool:
    return unicodedata.category(char)[0] in "PZC"
