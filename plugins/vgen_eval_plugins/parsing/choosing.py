"""Where an answer names options: announced, praised, opening a line, alone, by place, by text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vgen_eval_plugins.parsing import cues
from vgen_eval_plugins.parsing.denials import (
    blank_idioms,
    is_changed,
    is_counted,
    is_letter_denied,
    is_letter_denied_after,
    is_text_denied,
    is_text_doubtful,
)
from vgen_eval_plugins.parsing.naming import ENDS, LINK, Found, Names
from vgen_eval_plugins.parsing.texts import same_text
from vgen_eval_plugins.parsing.yes_no import FUNCTION_WORDS, YesNo

__all__ = ["Choices"]

_LONGEST_LINE = 400

_MOST_TEXTS = 500
"""An answer that says texts of options more often than this runs in circles."""

_JOINT = re.compile(
    rf"(?:{LINK}|[)\]\"']{{0,2}}\s{{0,2}}(?:\bto\b|\bthan\b)\s{{0,2}})"
    r"(?:the |option |\"|'|\(){0,3}"
    r"|\s*[,;]?\s*\(?(?=[A-Z][).:]\s)| ?; ?(?=[A-Z] ?(?:[.,;)]|$))",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[)\].:\s\"'(-]{0,6}")
_MARK = re.compile(r"[.):]{1,2}\s?")
_TAKEN_BACK = re.compile(
    r"\W*(?:is\s)?(?:wrong|incorrect|false|no\b|not\b|falsch|faux|incorrecta)", re.IGNORECASE
)
_NUMBERED = re.compile(r"^\W{0,3}(?P<number>\d{1,2})\s?[.):]\s?$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!\n]{1,200}(?=[.!\n])")
_BETWEEN_LETTERS = frozenset(
    [
        "or",
        "and",
        "to",
        "vs",
        "versus",
        "then",
        "both",
        "either",
        "und",
        "oder",
        "et",
        "ou",
        "y",
        "o",
        "e",
    ]
)
_NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
)


class Choices(Names):
    """Options by letter, and what of an answer names them."""

    def __init__(self, options: Sequence[tuple[str, str]]) -> None:
        super().__init__(options)
        self._yes_no = YesNo(self.keys_by_text)

    # the whole answer

    def whole(self, text: str) -> list[Found] | None:
        """What an answer is that is nothing but an option; None where it is more."""
        found = [Found(key, text) for key, option in self.options if _is_same(option, text)]
        lone = self.lone(text)
        if lone is not None:
            found += self._lone_key(lone, text, texts_too=bool(found))
        if not found:
            word = text.strip(" .!\"'").casefold()
            digits = str(_NUMBER_WORDS.index(word)) if word in _NUMBER_WORDS else None
            found = [Found(key, text) for key, option in self.options if option.strip() == digits]
        if found:
            return found
        opening = self.opening.match(text)
        if opening is not None and opening.end() == len(text):
            letter = self.letter(opening["key"])
            named = [k for k, option in self.options if same_text(option, opening["rest"])]
            if named:
                return [
                    Found(letter, text),
                    *(Found(k, text) for k in named if letter not in named),
                ]
        return None

    def _lone_key(self, word: str, text: str, *, texts_too: bool) -> list[Found]:
        if word.casefold() in self.keys:
            return [Found(self.letter(word), text)]
        if texts_too:  # "2" where an option's text is "2"
            return []
        if word.isdigit():
            return [] if self.numeric else [self.at_place(int(word), text)]
        return [Found(f"?{word}", text)]

    # announced answers

    def announced(self, text: str, *, final: bool = False) -> list[Found]:
        """Options that follow words such as "the answer is"."""
        found: list[Found] = []
        for cue in (cues.FINAL if final else cues.NAMED).finditer(text):
            if is_letter_denied(text, cue.start()):
                continue
            found += self._at(text, cue.end())
        return found

    def _at(self, text: str, at: int) -> list[Found]:
        """The options named from a place on: one, or those that are joined to it by "and"."""
        found: list[Found] = []
        while True:
            letters, end = self._named_at(text, at, bare=not found)
            if not letters or (found and is_letter_denied_after(text, end)):
                return found
            if text[end : end + 3].lstrip("\"')] ").startswith("?"):
                return []
            found += [Found(letter, text[at:end]) for letter in letters]
            end = self._after_own_text(text, end, letters)
            joint = _JOINT.match(text, end)
            if joint is None:
                return found
            at = joint.end()

    def _after_own_text(self, text: str, end: int, letters: set[str]) -> int:
        """Where the text of an option ends that follows its letter; `end` where none does."""
        mark = _BETWEEN.match(text, end)
        own = self.text.match(text, mark.end()) if mark else None
        return own.end() if own is not None and letters & set(self.by_text(own)) else end

    def _named_at(self, text: str, at: int, *, bare: bool) -> tuple[set[str], int]:
        """The option at a place, and where it ends: two where a letter has another's text."""
        slot = self.slot.match(text, at)
        if slot is not None and self.is_letter(text, slot.start("key"), slot.end("key")):
            letter = self.letter(slot["key"])
            offered = not letter.startswith("?")
            if offered or (
                slot["key"].isupper() and (bare or ENDS.match(text, slot.end()) is not None)
            ):
                other = self.text_after(text, slot.end())
                beside = self._beside(text, *slot.span("key"), after=True) if offered else []
                return {letter, other or letter, *beside}, slot.end()
        option = self.text.match(text, at)
        if option is not None and not bare and option.group().casefold() in FUNCTION_WORDS:
            option = option if ENDS.match(text, option.end()) else None  # "yes, no blur"
        if option is not None and not is_counted(text, *option.span()):
            return {*self.by_text(option), *self._tied_letter(text, option.end())}, option.end()
        return set(), at

    def _tied_letter(self, text: str, end: int) -> list[str]:
        """The letter that follows an option's text: "Good (B)"."""
        tied = self.tied_key.match(text, end)
        if tied is None or ENDS.match(text, tied.end()) is None or not tied["key"].isupper():
            return []
        start = tied.start("key")
        return [self.letter(tied["key"])] if self.is_letter(text, start, tied.end()) else []

    def _beside(self, text: str, start: int, end: int, *, after: bool = False) -> list[str]:
        """Options whose texts are tied to a letter and not taken back; `after`: that follow it."""
        return [
            letter
            for letter, first, last in self.texts_beside(text, start, end)
            if (first >= end or not after)
            and not is_text_denied(text, first, last)
            and not is_changed(text, first)
        ]

    def praised(self, text: str) -> list[Found]:
        """Options that are said to be the answer: "B is correct"."""
        found: list[Found] = []
        for pattern in (self.key, self.text):
            for match in pattern.finditer(text):
                if cues.PRAISED.match(text, match.end()) is None:
                    continue
                if pattern is self.key and not match.group().isupper():
                    continue
                if not is_letter_denied(text, match.start()):
                    is_key = pattern is self.key
                    keys = (self.letter(match.group()),) if is_key else self.by_text(match)
                    found += [Found(key, match.group()) for key in keys]
        return found

    # letters in the text

    def lone_line(self, text: str) -> list[Found]:
        """Options that are the first or the last of several lines."""
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            return []
        found: list[Found] = []
        for line in (lines[0], lines[-1]):
            if len(line) <= _LONGEST_LINE and self._is_lettered(line):
                found += self.whole(line.strip()) or []
        return [one for one in found if not one.letter.startswith("?") or one.shown.isupper()]

    def letters_alone(self, text: str) -> list[str]:
        """The letters of an answer that is nothing but letters and words between them: `A to C`."""
        words = re.findall(r"\w+", text[:_LONGEST_LINE])
        keys = [self.letter(word) for word in words if word.casefold() in self.keys]
        others = [word for word in words if word.casefold() not in self.keys]
        if len(text) > _LONGEST_LINE or not all(
            word.casefold() in _BETWEEN_LETTERS for word in others
        ):
            return []
        return sorted(set(keys))

    def _is_lettered(self, line: str) -> bool:
        """Does a line begin with a letter of its own, and not with words or a number?"""
        lone = self.lone(line)
        if lone is not None:
            return not lone.isdigit()
        return self.opening.match(line) is not None

    def line_openings(self, text: str) -> list[Found]:
        """Letters with a mark after them that open lines: `B. because`, `(b) it is`."""
        found: list[Found] = []
        for match in self.opening.finditer(text):
            letter = self.letter(match["key"])
            if letter.startswith("?") and (match.start() or not match["key"].isupper()):
                continue
            if match["key"].islower() and text[match.end("key") : match.end("key") + 1] != ")":
                continue
            rest = match["rest"]
            own = not letter.startswith("?") and same_text(rest, self.text_of(letter))
            if _TAKEN_BACK.match(rest) and not own:
                continue
            named = [letter, *self._listed_in(rest)]
            if match["key"].isupper():
                named += self.linked_to(text, match.end("key"))
            other = self.text_after(text, match.start("rest"))
            lone = self.lone(rest)
            if lone is not None and lone.casefold() in self.keys:
                other = self.letter(lone)
            if other is not None:
                named.append(other)
            found += [Found(each, match.group().strip()) for each in named]
        return _offered_if_several(found)

    def _listed_in(self, rest: str) -> list[str]:
        """Other options that a line lists: `C. sharp and D. very sharp`."""
        return [
            self.letter(match.group())
            for match in self.key.finditer(rest)
            if (mark := _MARK.match(rest, match.end())) is not None
            and self.text.match(rest, mark.end()) is not None
            and not is_letter_denied(rest, match.start())
        ]

    def letters(self, text: str) -> list[Found]:
        """Letters that stand alone in the text and are not taken back; two of them are enough.

        With a letter comes the option whose text is tied to it: "Good (B)" names two.
        """
        text = blank_idioms(text)
        found: dict[str, Found] = {}
        joined_at = -1
        for match in self.key.finditer(text):
            start, end = match.span()
            link = self.linked.match(text, end)
            is_joined, joined_at = start == joined_at, link.start("key") if link else -1
            if not self._stands_alone(text, start, end, is_joined=is_joined):
                continue
            letter = self.letter(match.group())
            if letter not in found and not is_letter_denied(text, start):
                shown = text[max(0, start - 20) : end + 20].strip()
                joined = self.linked_to(text, end) if match.group().isupper() else []
                extra = [each for each in joined if each.startswith("?")]
                for each in (letter, *self._beside(text, start, end), *extra):
                    found.setdefault(each, Found(each, shown))
            if len(found) > 1:
                break
        return _offered_if_several(list(found.values()))

    def _stands_alone(self, text: str, start: int, end: int, *, is_joined: bool) -> bool:
        bracketed = text[start - 1 : start] == "(" and text[end : end + 1] == ")"
        if text[start:end].islower() and not bracketed:
            return False
        if not bracketed and (
            not self.is_letter(text, start, end)
            or cues.NAMESAKE.search(text[max(0, start - 12) : start])
        ):
            return False
        is_asked = text[end : end + 1] == "?" and not is_joined  # "is it B?", but "A or B?"
        return not is_asked and not is_letter_denied_after(text, end)

    # places and texts

    def takes_none_or_all(self, text: str) -> bool:
        """Does the answer take no option, or several, where none of them says so itself?"""
        offered = any(
            cues.NONE.search(option) or cues.ALL.search(option) for _, option in self.options
        )
        return not offered and bool(cues.NONE.search(text) or cues.ALL.search(text))

    def takes_all(self, text: str) -> bool:
        """Of what takes none or all: all?"""
        return cues.ALL.search(text) is not None

    def places(self, text: str) -> list[Found]:
        """Options named by their place: "option 2", "the second one"."""
        if self.numeric:
            return []
        return [
            self.at_place(cues.ordinal(match), match.group())
            for match in cues.ORDINALS.finditer(text)
            if not is_letter_denied(text, match.start())
        ]

    def first_text(self, text: str) -> list[Found]:
        """Options whose text is the first sentence, or the yes or no that the text begins with."""
        found = [Found(letter, word) for letter, word in self._yes_no.first(text)]
        sentence = _SENTENCE.match(text)
        named = [key for key, own in self.options if sentence and same_text(own, sentence[0])]
        return found + [Found(key, self.text_of(key)) for key in named]

    def opening_texts(self, text: str) -> list[Found]:
        """Yes and no that open sentences: "Yes, it is blurry."."""
        return [Found(letter, word) for letter, word in self._yes_no.read(text)]

    def texts(self, text: str) -> list[Found]:
        """Option texts in the text; none where one is heightened: "extremely sharp"."""
        text = blank_idioms(text)
        found: dict[str, Found] = {}
        for at, option in enumerate(self.text.finditer(text)):
            if at == _MOST_TEXTS:
                return []
            start, end = option.span()
            if option.group().casefold() in FUNCTION_WORDS or is_counted(text, start, end):
                continue
            if is_changed(text, start):
                return []
            if is_text_denied(text, start, end):
                continue
            if is_text_doubtful(text, start):
                return []
            for letter in self.by_text(option):
                found.setdefault(letter, Found(letter, option.group()))
            numbered = _NUMBERED.search(text, max(0, start - 8), start)
            if numbered is not None and not self.numeric:  # "2. Good"
                place = self.at_place(int(numbered["number"]), option.group())
                found.setdefault(place.letter, place)
            if len(found) > 1:
                break
        return list(found.values())


def _is_same(option: str, text: str) -> bool:
    """Is an answer an option's text, and no other number: "-2" or "2%" for "2"?"""
    if not same_text(option, text):
        return False
    number = re.search(r"\d+", text) if option.strip().isdigit() else None
    return number is None or not is_counted(text, *number.span())


def _offered_if_several(found: list[Found]) -> list[Found]:
    """Without letters that were not offered, where two that were are named all the same."""
    offered = [one for one in found if not one.letter.startswith("?")]
    return offered if len({one.letter for one in offered}) > 1 else found
