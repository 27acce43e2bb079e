"""Log-probabilities of choices, out of the likeliest tokens that a service gives for one place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval.errors import CallError
from vgen_eval.types import Output

from vgen_eval_plugins.models.replies import number

__all__ = ["FLOORED", "LED", "first_place", "read_choices", "with_choices"]

FLOORED = "choice_floored"
"""Flag: a choice is not among the tokens, so that it has no value: less than the least of them."""
LED = "choice_leading_token"
"""Flag: a choice was found by the token that it begins with, not by the whole word."""

ROUNDING = 1e-3
"""What a log-probability of a certain token may lie above 0."""
UNLIKELY = -1000.0
"""Below it a number is a word for "very unlikely" (OpenAI's -9999.0), no log-probability."""
MARKS = ".):"
"""What a list puts after a choice: `B.` is one token of many tokenizers."""
Row = tuple[Any, Any]
"""Token and log-probability, as a service gives them."""


def with_choices(output: Output, tokens: Mapping[str, float], choices: Sequence[str]) -> Output:
    """The output with choice -> log-probability, or with the reason for there being none.

    `tokens`: see `first_place`. CallError, with what was billed, where they are none.
    """
    if not tokens:
        raise CallError(
            "the service gave no log-probabilities: this model cannot answer choices",
            usage=output.usage,
            request_id=output.request_id,
        )
    answer, flags = read_choices(tokens, choices)
    reason = None
    if answer is None:
        likeliest = sorted(tokens, key=lambda token: -tokens[token])[:5]
        reason = f"no choice among the {len(tokens)} likeliest tokens: {likeliest}"
    return msgspec.structs.replace(output, answer=answer, reason=reason, flags=flags)


def first_place(places: Iterable[tuple[Row, Iterable[Row]]]) -> Mapping[str, float]:
    """Token -> log-probability at the first place whose own token is no blank; else empty.

    `places`: (the place's own row, the rows of its likeliest tokens). What is no text, no number
    or no probability is passed over, a word for "very unlikely" (OpenAI's -9999.0) too. The own
    token joins the likeliest where it lies above the least of them: below, it would be the floor
    of all that is not among them.
    """
    for own, rows in places:
        known = _read(rows)
        floor = min(known.values(), default=-math.inf)
        known = {
            token: logprob
            for token, logprob in _read([own]).items()
            if not known or logprob > floor
        } | known
        said = own[0] if isinstance(own[0], str) else next(iter(known), "")
        if said.strip() and (known or number(own[1]) is not None):
            return known
    return {}


def _read(rows: Iterable[Row]) -> dict[str, float]:
    known: dict[str, float] = {}
    for token, value in rows:
        logprob = number(value)
        if isinstance(token, str) and logprob is not None and UNLIKELY < logprob <= ROUNDING:
            known[token] = min(logprob, 0.0)
    return known


def read_choices(
    tokens: Mapping[str, float], choices: Sequence[str]
) -> tuple[dict[str, float | None] | None, tuple[str, ...]]:
    """Choice -> log-probability, and flags; None where no choice is among the tokens.

    A choice that is not among them has None, and the tokens that stand for no choice are there
    too: from the mass of all a decoder knows how much a missing one may hold.

    A token stands for a choice that it equals, without the space before it; that it equals but
    for case, where the choice has two letters or more and no other is meant; that it equals
    without the mark of a list after it (`B.` for `B`), where no other choice does; or that alone
    begins with it (`Ex` for `Excellent`). Probabilities of a choice's tokens are summed.
    """
    found: dict[str, list[float]] = {choice: [] for choice in choices}
    taken = set(choices)
    led = False
    for token, logprob in tokens.items():
        choice, whole = _meant(token, choices)
        if choice is not None:
            found[choice].append(logprob)
            taken.add(token)
            led = led or not whole
    if not any(found.values()):
        return None, ()
    answer: dict[str, float | None] = {
        choice: _sum(values) if values else None for choice, values in found.items()
    }
    floored = not all(found.values())
    if floored:
        answer |= {token: value for token, value in tokens.items() if token not in taken}
    return answer, (*((FLOORED,) if floored else ()), *((LED,) if led else ()))


def _meant(token: str, choices: Sequence[str]) -> tuple[str | None, bool]:
    """The choice that a token stands for, and whether it is the whole word."""
    word = token.strip()
    if not word:
        return None, False
    bare = {choice: choice.strip() for choice in choices}
    choice = _equal(word, bare) or _marked(word, bare)
    if choice is not None:
        return choice, True
    if len(word) == 1:
        return None, False
    led = [choice for choice in choices if bare[choice].casefold().startswith(word.casefold())]
    return (led[0], False) if len(led) == 1 else (None, False)


def _equal(word: str, bare: Mapping[str, str]) -> str | None:
    """The choice that the word is, whatever its case where no other is meant."""
    same = [choice for choice, text in bare.items() if text == word]
    if same or len(word) == 1:  # `a` is an article, not the choice `A`
        return next(iter(same), None)
    alike = [choice for choice, text in bare.items() if text.casefold() == word.casefold()]
    return alike[0] if len(alike) == 1 else None


def _marked(word: str, bare: Mapping[str, str]) -> str | None:
    """The choice that the word is without the mark of a list, if it could be no other's."""
    plain = word.rstrip(MARKS)
    if plain in ("", word):
        return None
    choice = _equal(plain, bare)
    rivals = [text for text in bare.values() if text.rstrip(MARKS).casefold() == plain.casefold()]
    return choice if len(rivals) == 1 else None


def _sum(logprobs: Sequence[float]) -> float:
    """log of the sum of the probabilities."""
    top = max(logprobs)
    if top == -math.inf:
        return top
    return top + math.log(sum(math.exp(value - top) for value in logprobs))
