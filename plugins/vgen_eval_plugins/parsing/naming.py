"""The options of one question and the ways to name one: its letter, its text, its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from vgen_eval_plugins.parsing import cues
from vgen_eval_plugins.parsing.texts import plain_words, same_text

__all__ = ["ENDS", "LINK", "Found", "Names"]

ENDS = re.compile(r"\s*(?:[.,;:!?)\]\"'\n-]|$)")
"""What follows a word that ends its phrase."""

LINK = (
    r"[)\]\"']{0,2}\s{0,2}(?:(?:[,/|&+和或]|\b(?:and|or|vs\.?|versus|then|possibly|maybe|perhaps"
    r"|probably|likely|also|as well as|und|oder|et|ou|y|o|e|и|или)(?!\w))\s{0,2}){1,3}"
    r"[(\[\"']{0,2}"
)
"""What joins two options that are named side by side: "A/B", "A, or B", "A then B"."""

_WORD_LETTERS = frozenset("AEIOUY")
"""Letters that are words in one language or another: an article, a pronoun, an `and`."""

_PHRASE = re.compile(r"[)\].:\"']{0,3}\s*[-:(\"'\[=]{0,3}\s*([^\n.;!?,()]{1,200})")
_PART_OF_NAME = re.compile(r"['&+#/-]\w|\+\+|#|[+-](?=[\s.!,)]{0,4}$)")
_TIE = r"[)\]\"']{0,2} {0,2}"
_TIED_AFTER = re.compile(
    rf"{_TIE}(?:->|[-=:(\[{{,]|\b(?:is|means|stands for|equals|i\.e\.,?|which is|that is) )"
    r"[ \"'(\[]{0,4}(?:(?:the|a|an) )?",
    re.IGNORECASE,
)
_TIED_BEFORE = (
    r"[ ,.:;=(\[{\"'-]{1,5}(?:(?:so|thus|hence|therefore|i\.e\.,?|that is,?) )?"
    r"(?:(?:the )?(?:option|choice|answer|letter)[ :(\"']{1,3})?"
)


class Found(msgspec.Struct, frozen=True):
    """An option named in a text. `letter` begins with "?" where no such option was offered."""

    letter: str
    shown: str
    start: int = 0


class Names:
    """Options by letter, in the question's order, with the patterns that find them."""

    def __init__(self, options: Sequence[tuple[str, str]]) -> None:
        self.options = tuple(options)
        self._texts = dict(options)
        self.keys = {key.casefold(): key for key, _ in options}
        keys = sorted(map(re.escape, self.keys), key=len, reverse=True)
        any_key = "|".join(keys) if keys else r"(?!)"
        before, after = cues.EDGE_BEFORE, cues.EDGE_AFTER
        self.key = re.compile(rf"{before}(?:{any_key}){after}", re.IGNORECASE)
        self.slot = re.compile(rf"(?P<key>{any_key}|[A-Z]){after}", re.IGNORECASE)
        self.linked = re.compile(rf"{LINK}(?P<key>{any_key}|[A-Z]){after}", re.IGNORECASE)
        self.tied_key = re.compile(rf"{_TIED_BEFORE}(?P<key>{any_key}){after}", re.IGNORECASE)
        self._tied_before = re.compile(rf"{_TIED_BEFORE}$", re.IGNORECASE)
        self._lone = re.compile(
            r"\W*(?:(?:option|choice|answer|antwort|réponse|respuesta|risposta|resposta|ответ|答案)"
            rf"\W*)?(?P<key>{any_key}|[A-Z]|\d{{1,2}})\W*",
            re.IGNORECASE,
        )
        self.opening = re.compile(
            rf"^[^\w\n]{{0,4}}(?:(?:option|choice)\s)?(?P<key>{any_key}|[A-Z])"
            r"(?:\s?[.):\]]{1,3}|\s-|\s?,)(?![A-Za-z0-9])[ \t\"']*(?P<rest>[^\n]{0,400})",
            re.IGNORECASE | re.MULTILINE,
        )
        named: dict[str, tuple[str, list[str]]] = {}
        for key, text in options:
            words = plain_words(text)
            if len(words) > 1 or words.isdigit():  # a letter is read as a letter
                named.setdefault(words.casefold(), (words, []))[1].append(key)
        self.keys_by_text = {folded: tuple(own) for folded, (_, own) in named.items()}
        longest_first = sorted(named.values(), key=lambda each: -len(each[0]))
        self._keys_of_match = tuple(tuple(own) for _, own in longest_first)
        pattern = "|".join(
            f"({re.escape(words)})".replace(r"\ ", r"(?:\s+|-)") for words, _ in longest_first
        )
        self.text = re.compile(
            rf"{before}(?<!\d[.,])(?:{pattern or '(?!)'})(?![\w-]|[.,]\d)", re.IGNORECASE
        )
        self.numeric = any(re.search(r"\d", key + text) for key, text in options)

    def letter(self, word: str) -> str:
        """The option's letter as the question has it; "?" and the word where none is offered."""
        return self.keys.get(word.casefold(), f"?{word}")

    def text_of(self, letter: str) -> str:
        """The text of an option that is offered."""
        return self._texts[letter]

    def by_text(self, match: re.Match[str]) -> tuple[str, ...]:
        """The options that a match of texts is of: several where they have the same text."""
        return self._keys_of_match[(match.lastindex or 1) - 1]

    def at_place(self, place: int, shown: str) -> Found:
        """The option of a place from 1."""
        if 1 <= place <= len(self.options):
            return Found(self.options[place - 1][0], shown)
        return Found(f"?{place}", shown)

    def lone(self, text: str) -> str | None:
        """The letter or number that a text is; None where it is more: a grade "B+", "-1", "3%"."""
        match = self._lone.fullmatch(text)
        if match is None:
            return None
        start, end = match.span("key")
        if text[end : end + 1] in ("+", "#", "%", "-"):
            return None
        if match["key"].isdigit() and text[start - 1 : start] in ("-", "+", "."):
            return None
        return match["key"]

    def text_after(self, text: str, at: int) -> str | None:
        """The option whose text is what follows a letter up to the end of the phrase."""
        phrase = _PHRASE.match(text, at)
        named = [k for k, option in self.options if phrase and same_text(option, phrase[1])]
        return named[0] if len(named) == 1 else None

    def is_letter(self, text: str, start: int, end: int) -> bool:
        """Is what stands here an option's letter, and no article, initial or part of a name?"""
        letter = text[start:end]
        if len(letter) > 1 or not letter.isalpha():
            return True
        if text[start - 1 : start] in ("-", "'", "&") and text[start - 2 : start - 1].isalnum():
            other = self.linked.match(text, start - 1)
            if other is None or self.key.match(text, start - 2) is None:  # "R&B", but not "A&B"
                return False
        joined = self.linked.match(text, end)
        is_joined = joined is not None and joined["key"].casefold() in self.keys
        if _PART_OF_NAME.match(text, end) and not is_joined:
            return False
        if letter.islower():
            return ENDS.match(text, end) is not None
        if letter not in _WORD_LETTERS:
            return True
        if joined is not None and joined["key"].isupper() and is_joined:
            return True
        return cues.CONTINUES.match(text, end) is not None or self.text_after(text, end) == letter

    def linked_to(self, text: str, end: int) -> list[str]:
        """Letters joined to the one that ends here: B and C of "A, B or C"."""
        joined: list[str] = []
        while (link := self.linked.match(text, end)) is not None and link["key"].isupper():
            letter, end = self.letter(link["key"]), link.end()
            goes_on = ENDS.match(text, end) or self.linked.match(text, end)
            if not self.is_letter(text, link.start("key"), end):
                break
            if letter.startswith("?") and not goes_on:  # "A, I think"
                break
            joined.append(letter)
        return joined

    def texts_beside(self, text: str, start: int, end: int) -> list[tuple[str, int, int]]:
        """(letter, start, end) of option texts tied to the letter at [start, end): "Good (B)"."""
        beside: list[tuple[str, int, int]] = []
        tie = _TIED_AFTER.match(text, end)
        own = self.text.match(text, tie.end()) if tie else None
        if own is not None and ENDS.match(text, own.end()):
            beside += [(key, *own.span()) for key in self.by_text(own)]
        floor = max(0, start - 80)
        before = self._tied_before.search(text, max(0, start - 30), start)
        if before is not None:
            for option in self.text.finditer(text, floor, before.start()):
                if option.end() == before.start():
                    beside += [(key, *option.span()) for key in self.by_text(option)]
        return beside
