"""Yes and no as answers: where they open sentences, in ten languages, and what contradicts them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["FUNCTION_WORDS", "YesNo"]

_YES = ("yes", "ja", "oui", "sí", "si", "sì", "sim", "да", "是的", "是", "はい", "예", "네")
_NO = ("no", "nein", "non", "não", "нет", "不是", "否", "いいえ", "아니요", "아니오")

FUNCTION_WORDS = frozenset((*_YES, *_NO, "true", "false"))
"""Option texts that stand in a sentence without being its answer: "there is no blur"."""

_SURE = r"definitely|certainly|absolutely|clearly|obviously|surely|of course|well|oh|probably"
_LEAD = (
    rf"(?:\b(?:but|and|or|also|then|maybe|perhaps|possibly|so|therefore|thus|hence|{_SURE})\b,? )"
)
_SURE_LEAD = re.compile(rf"(?:(?:so|therefore|thus|hence|{_SURE}),? )*", re.IGNORECASE)
_SO = re.compile(r"\b(?:so|therefore|thus|hence)\b", re.IGNORECASE)
_IT = r"(?:,|-| -)? ?(?:that|this|it)(?:'s| is| was)"
_NOT_SO = re.compile(
    rf"{_IT} (?:\w+ly )?(?:wrong|incorrect|false|untrue"
    r"|not(?: (?:true|right|correct|so))?(?= ?[.!;\n]|$))",
    re.IGNORECASE,
)
_SO_IT_IS = re.compile(
    rf"{_IT}(?: (?:\w+ly )?(?:right|correct|true|so))?(?= ?[.!;\n]|$)", re.IGNORECASE
)


class YesNo:
    """The options of a question whose texts are yes, no, true or false, by their letters."""

    def __init__(self, letters: Mapping[str, Sequence[str]]) -> None:
        """`letters`: those of each option's text, case folded; other texts are passed over."""
        self._letters = {word: tuple(keys) for word, keys in letters.items()}
        for words in (_YES, _NO):
            own = next((self._letters[word] for word in words if word in self._letters), None)
            if own is not None:
                self._letters.update({w: own for w in words if w not in self._letters})
        self._letters = {w: own for w, own in self._letters.items() if w in FUNCTION_WORDS}
        words_ = "|".join(sorted(self._letters, key=len, reverse=True)) or "(?!)"
        self._clause = re.compile(
            r"(?P<mark>^[\W_]{0,20}|[.!?\n,;:/|(-]|\b(?=(?:but|and|or|also|so) )) ?[\"'([]{0,2}"
            rf"(?P<lead>{_LEAD}{{0,3}})(?P<word>{words_})"
            r"(?!\w)(?!-)(?=\s{0,2}(?:[.,;:!?)\]\"'\n-]|$))(?!(?<=no) ?[.:#]{1,2} ?\d)",
            re.IGNORECASE,
        )

    def read(self, text: str) -> list[tuple[str, str]]:
        """(letter, word) of those that open sentences, or end them after "so"; with any that
        contradict them; none where the answer takes its own yes or no back.
        """
        opened: list[tuple[str, str]] = []
        others: list[tuple[str, str]] = []
        for match in self._clause.finditer(text):
            word = match["word"]
            found = [(letter, word) for letter in self._letters[word.casefold()]]
            takes_back = _NOT_SO if word.casefold() in (*_YES, "true") else _SO_IT_IS
            starts = match.start() == 0 or match["mark"] in ("\n", ".", "!", "?")
            sure = _SURE_LEAD.fullmatch(match["lead"]) is not None
            if sure and (starts or _SO.search(match["lead"])):
                if takes_back.match(text, match.end()):
                    return []
                opened += found
            else:
                others += found
        return opened + others if opened else []

    def first(self, text: str) -> list[tuple[str, str]]:
        """(letter, word) of the one that the text begins with."""
        match = self._clause.match(text)
        if match is None or _SURE_LEAD.fullmatch(match["lead"]) is None:
            return []
        return [(letter, match["word"]) for letter in self._letters[match["word"].casefold()]]
