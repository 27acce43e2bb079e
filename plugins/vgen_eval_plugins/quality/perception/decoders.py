"""Answers to questions with options: letters in words, log-probabilities of the options, none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.parsing.faults import Fault, NotRead
from vgen_eval_plugins.parsing.options import parse_option
from vgen_eval_plugins.quality.perception.targets import Chosen, letter_options

__all__ = ["ClosedSet", "OptionText", "WrongChoice", "kind_of"]

WHOLE = "whole answer"
"""Rule of an answer that is an option and nothing else."""


class OptionText:
    """Text -> the option that it names by letter or in its words, by rules that never guess."""

    version: ClassVar[int] = 2
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The option chosen; Undecodable, with the kind of the failure first, when none is.

        The kinds are those of `parsing.faults`; Q-Bench counts such prompt failures. Flag
        `by_RULE`: the answer is more than an option.
        """
        if not isinstance(answer, str):
            raise Undecodable(f"text was wanted, {type(answer).__name__} came")
        options = options_of(scene)
        try:
            parsed = parse_option(answer, options)
        except Undecodable as exc:
            kind = kind_of(exc)
            raise NotRead(kind, f"{kind}: {exc.what}") from exc
        return Prediction(
            value=Chosen(parsed.letter),
            flags=() if parsed.rule == WHOLE else (f"by_{parsed.rule.replace(' ', '_')}",),
            summary={
                "letter": parsed.letter,
                "option": options[parsed.letter],
                "rule": parsed.rule,
                "extracted": parsed.extracted,
            },
        )


class ClosedSet:
    """Log-probabilities of the options -> the likeliest (Q-Bench's closed set, by perplexity).

    The protocol's `choice_scoring: closed_set` makes each the mean over the option's own tokens,
    so that a long option is no less likely for its length.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:
        """The option with the highest; Undecodable when one is not told of, or two are alike.

        None is what a service gives for an option that is not among its likeliest tokens: it lies
        below those that are, and the answer is flagged `option_unlisted`.
        """
        if not isinstance(answer, Mapping):
            raise Undecodable(f"log-probabilities were wanted, {type(answer).__name__} came")
        options = options_of(scene)
        found = {letter: _number(answer, text) for letter, text in options.items()}
        best = max(found.values())
        likeliest = [letter for letter, value in found.items() if value == best]
        if len(likeliest) > 1:
            raise Undecodable(f"options {' and '.join(likeliest)} are equally likely ({best:.6g})")
        (letter,) = likeliest
        finite = {key: value if math.isfinite(value) else None for key, value in found.items()}
        return Prediction(
            value=Chosen(letter),
            flags=("option_unlisted",) if any(answer[t] is None for t in options.values()) else (),
            summary={"letter": letter, "option": options[letter], "logprobs": finite},
        )


class WrongChoice:
    """The failure value: no option was chosen, which is wrong."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "option"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always none of the options."""
        return Prediction(value=Chosen(None, right=False, failed=True), summary={"letter": None})


def options_of(scene: Scene) -> dict[str, str]:
    """Letter -> text of the sample's options; Undecodable when it has none."""
    if not scene.choices:
        raise Undecodable("the sample has no options to choose from")
    return letter_options(scene.choices)


def kind_of(exc: Undecodable) -> Fault:
    """The kind of a fault of the parser; no_option where it says none."""
    return exc.kind if isinstance(exc, NotRead) else "no_option"


def _number(answer: Mapping[Any, Any], text: str) -> float:
    value = answer.get(text, math.nan)
    if value is None:
        return -math.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise Undecodable(f"no log-probability of the option '{text[:80]}'")
    return float(value)
