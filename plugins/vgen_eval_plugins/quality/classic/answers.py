"""What measures say in a model's place: log-probabilities of words, options chosen, sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from vgen_eval_plugins.quality.classic.facts import MARKS, Facts

__all__ = ["NEGATIVE", "POSITIVE", "answer_question", "describe_facts", "grade_words", "is_grading"]

POSITIVE = ("good", "fine", "high")
NEGATIVE = ("poor", "bad", "low")

_FAULT_WORDS: Mapping[str, tuple[str, ...]] = {
    "blur": ("blur", "out of focus", "unsharp", "soft"),
    "noise": ("nois", "grain"),
    "blocks": ("block", "compress", "artefact", "artifact", "jpeg", "mosaic"),
    "dark": ("dark", "underexpos", "dim"),
    "contrast": ("low contrast", "flat", "faded", "washed", "contrast"),
}
_SOUND_WORDS: Mapping[str, tuple[str, ...]] = {
    "blur": ("sharp", "clear", "in focus", "crisp"),
    "noise": ("clean", "noise-free"),
    "blocks": ("smooth",),
    "dark": ("bright", "well lit", "well exposed"),
    "contrast": ("high contrast", "vivid"),
}
_NONE = ("none", "no ", "nothing", "normal", "usual", "ordinary")
_AS_SEEN: Mapping[str, tuple[str, str]] = {
    "blur": ("It is blurry, edges and details are out of focus.", "It is sharp and in focus."),
    "noise": ("It is noisy, full of grain.", "It is clean, without noise."),
    "blocks": ("It is blocky, with compression artefacts.", "It shows no compression artefacts."),
    "dark": ("It is dark, underexposed.", "Its brightness is normal."),
    "contrast": ("It is faded, of low contrast.", "Its contrast is normal."),
}


def is_grading(choices: Sequence[str]) -> bool:
    """Are the choices words for quality, of both sides?"""
    words = {choice.strip().casefold() for choice in choices}
    return bool(words & set(POSITIVE) and words & set(NEGATIVE))


def grade_words(goodness: float, choices: Sequence[str]) -> dict[str, float]:
    """Choice -> log-probability: words of praise get goodness / 2, of blame its negative, others 0,
    and the softmax over the choices makes them probabilities. 0: neither good nor poor."""
    weights = {}
    for choice in choices:
        word = choice.strip().casefold()
        side = 0.5 if word in POSITIVE else -0.5 if word in NEGATIVE else 0.0
        weights[choice] = side * goodness
    return _normalise(weights)


def _normalise(weights: Mapping[str, float]) -> dict[str, float]:
    top = max(weights.values())
    total = top + math.log(sum(math.exp(value - top) for value in weights.values()))
    return {name: value - total for name, value in weights.items()}


def answer_question(facts: Facts, question: str, options: Sequence[str]) -> dict[str, float]:
    """Option -> log-probability, by the faults that question and options name.

    Yes and No by the fault that the question names; other options by their own words, and by those
    for no fault at all. An option whose words are none of these is as likely as a fault at its
    mark. The first of equals is ahead by a little, so that one is chosen.
    """
    found = {name: math.log(max(value, 1e-6)) for name, value in facts.severity.items()}
    worst = max(found.values())
    named = _meaning(question)
    weights = {}
    for at, option in enumerate(options):
        word = option.strip().casefold().rstrip(".")
        if word in ("yes", "no"):
            lean = 0.0 if named is None else named[1] * found[named[0]]
            weights[option] = lean if word == "yes" else -lean
        elif any(_holds(word, none) for none in _NONE):
            weights[option] = -(worst if named is None else found[named[0]])
        elif (meaning := _meaning(word)) is not None:
            weights[option] = meaning[1] * found[meaning[0]]
            if meaning == ("dark", -1) and facts.brightness < MARKS["bright"]:
                weights[option] = min(weights[option], 0.0)  # not dark is not bright yet
        else:
            weights[option] = 0.0
        weights[option] -= 1e-6 * at
    return _normalise(weights)


def _meaning(words: str) -> tuple[str, int] | None:
    """The fault that words name, and 1; or the fault that they say is not there, and -1."""
    text = words.casefold()
    for sign, table in ((-1, _SOUND_WORDS), (1, _FAULT_WORDS)):
        for fault, signs in table.items():
            if any(_holds(text, each) for each in signs):
                return fault, sign
    return None


def _holds(text: str, start: str) -> bool:
    """Does a word of the text begin so? `unsharp` holds no `sharp`."""
    return re.search(rf"\b{re.escape(start)}", text) is not None


def describe_facts(facts: Facts) -> str:
    """One sentence a fact, the faults first."""
    severity = facts.severity
    faults = [texts[0] for name, texts in _AS_SEEN.items() if severity[name] > 1]
    sound = [texts[1] for name, texts in _AS_SEEN.items() if severity[name] <= 1]
    quality = "poor" if faults else "good"
    return " ".join([f"The quality of the picture is {quality}.", *faults, *sound])
