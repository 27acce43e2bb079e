"""Reads which option of a closed question an answer chooses; what is ambiguous is refused.

In order; the first rule that finds an option decides, and decides against the answer where it
finds several:

1. thinking traces are dropped; the whole answer, its one fenced block or inline object is JSON
2. \\boxed{...}, <answer>...</answer>, [[B]]
3. the whole answer is a letter, an option's text, its number, or a letter with its text
4. "final answer ..."
5. "the answer is ...", "I choose ...", "... is correct", in ten languages
6. refusals end here
7. letters that open lines, or stand alone on the last one: "B. because", "B)", "(b)"; options
   that are only listed again are none, what follows them is read
8. none, both, all
9. the one letter that stands in the text; "option 2", "the second one"
10. the one option's text that opens the answer, or stands in it
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import msgspec

from vgen_eval_plugins.parsing.choosing import Choices
from vgen_eval_plugins.parsing.echoes import RepeatedList, drop_prompt, repeated_list
from vgen_eval_plugins.parsing.faults import NotRead, heard
from vgen_eval_plugins.parsing.naming import Found
from vgen_eval_plugins.parsing.objects import find_value
from vgen_eval_plugins.parsing.texts import (
    SHOWN,
    double_bracketed,
    is_refusal,
    marked_answers,
    plain_words,
    spoken_part,
)

__all__ = ["ParsedOption", "parse_option"]


_NOT_APPLICABLE = re.compile(r"\W*n\s?(?:/|\.)\s?a\W*", re.IGNORECASE)


class ParsedOption(msgspec.Struct, frozen=True):
    """An option's letter as the question has it, the rule that gave it, and the words read."""

    letter: str
    rule: str
    extracted: str


def parse_option(text: str, options: Mapping[str, str]) -> ParsedOption:
    """The option that an answer chooses; `options`: texts by letter, in the question's order.

    NotRead, whose kind says why, when it chooses none, several, or one that was not offered.
    """
    spoken = heard(text, "answer")
    choices = _choices(tuple((str(key), str(value)) for key, value in options.items()))
    found = find_value(spoken)
    if found is not None and (spoken[0] in "{[`" or _has_answer(found[0])):
        return _json_option(found[0], found[1], choices)
    return _read_marked(spoken, choices) or _read_words(spoken, choices)


@functools.lru_cache(maxsize=512)
def _choices(options: tuple[tuple[str, str], ...]) -> Choices:
    return Choices(options)


_KEYS = frozenset(
    (
        *("answer", "final_answer", "choice", "option", "letter", "selected", "selection"),
        *("response", "correct_answer", "selected_option", "result", "prediction", "value"),
    )
)


def _has_answer(value: Any) -> bool:
    """Is an object among words an answer, and not a part of a sentence?"""
    return isinstance(value, dict) and any(_plain_key(key) in _KEYS for key in value)


def _plain_key(key: Any) -> str:
    return str(key).casefold().strip().replace(" ", "_")


def _json_option(value: Any, shown: str, choices: Choices) -> ParsedOption:
    if isinstance(value, dict):
        named = [v for key, v in value.items() if _plain_key(key) in _KEYS]
        if not named and len(value) == 1:
            named = list(value.values())
    else:
        named = list(value)
    read = [_json_leaf(v, choices) for v in named]
    letters = {parsed.letter for parsed in read}
    if len(letters) > 1:
        raise NotRead("several_options", f"several JSON answers: {', '.join(sorted(letters))}")
    if not letters:
        raise NotRead("no_option", "the JSON holds no answer")
    return ParsedOption(letters.pop(), "json", shown)


def _json_leaf(value: Any, choices: Choices) -> ParsedOption:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
        value = str(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list) and len(value) > 1:
        raise NotRead("several_options", "the JSON holds a list of answers")
    if not isinstance(value, str):
        raise NotRead("no_option", "the JSON holds no answer in words")
    spoken = spoken_part(value)
    if not spoken:
        raise NotRead("empty", "the JSON answer is empty")
    return _read_marked(spoken, choices) or _read_words(spoken, choices)


def _read_marked(text: str, choices: Choices) -> ParsedOption | None:
    marks = [*marked_answers(text, "answer", "choice", "option"), *double_bracketed(text)]
    letters: dict[str, str] = {}
    for inner, shown in marks:
        if not inner.strip():
            raise NotRead("empty", f"'{shown}' holds nothing")
        letters.setdefault(_read_words(inner, choices).letter, shown)
    if len(letters) > 1:
        raise NotRead("several_options", f"several marked answers: {', '.join(sorted(letters))}")
    return next((ParsedOption(key, "marked", shown) for key, shown in letters.items()), None)


def _read_words(text: str, choices: Choices) -> ParsedOption:
    plain = drop_prompt(plain_words(text), choices)
    if not plain:
        raise NotRead("no_option", "the answer holds marks alone")
    whole = choices.whole(plain)
    if whole is not None:
        return _agree("whole answer", whole)
    if _NOT_APPLICABLE.fullmatch(plain):
        raise NotRead("no_option", "the answer says that none applies")
    listed_alone = choices.letters_alone(plain)
    if len(listed_alone) > 1:
        raise NotRead("several_options", f"several options: {', '.join(listed_alone)}"[:SHOWN])
    final = choices.announced(plain, final=True)
    if final:
        return _agree("final answer", final)
    listed = repeated_list(plain, choices)
    opening = choices.lone_line(listed.after if listed else plain)
    first = choices.first_text(plain)
    stated = [*choices.announced(plain), *choices.praised(plain)]
    if stated:
        return _agree("stated answer", [*stated, *opening, *first])
    if listed:
        return _read_after_list(listed, choices)
    if is_refusal(plain):
        raise NotRead("refusal", "the answer declines, or does not know")
    leading = [*opening, *choices.line_openings(plain)]
    if leading:
        return _agree("leading letter", [*leading, *first])
    letters = choices.letters(plain)
    if letters:
        return _agree("only letter", [*letters, *first])
    return _read_places_and_texts(plain, choices)


def _read_places_and_texts(plain: str, choices: Choices) -> ParsedOption:
    if choices.takes_none_or_all(plain):
        _none_or_all(plain, choices)
    places = choices.places(plain)
    if places:
        return _agree("option number", places)
    texts = choices.opening_texts(plain) or choices.texts(plain)
    if texts:
        return _agree("option text", texts)
    raise NotRead("no_option", "the answer names none of the options")


def _read_after_list(listed: RepeatedList, choices: Choices) -> ParsedOption:
    """What follows a list of the options; the list itself chooses none."""
    try:
        return _read_words(listed.after, choices)
    except NotRead as exc:
        if exc.kind != "no_option":
            raise
    return _agree("leading letter", [Found(letter, letter) for letter in listed.letters])


def _agree(rule: str, found: Iterable[Found]) -> ParsedOption:
    letters: dict[str, str] = {}
    for one in found:
        letters.setdefault(one.letter, one.shown)
    extra = [letter for letter in letters if letter.startswith("?")]
    if extra:
        raise NotRead("extra_option", f"'{extra[0][1:]}' is none of the options")
    if len(letters) > 1:
        raise NotRead("several_options", f"several options: {', '.join(sorted(letters))}"[:SHOWN])
    letter, shown = letters.popitem()
    return ParsedOption(letter, rule, shown[:SHOWN])


def _none_or_all(text: str, choices: Choices) -> NoReturn:
    if choices.takes_all(text):
        raise NotRead("several_options", "the answer takes several options")
    raise NotRead("no_option", "the answer takes none of the options")
