"""What unlearned measures say of a picture's looks: how good it is, which fault, a description."""

from __future__ import annotations

from typing import Any

from vgen_eval.types import Request

from vgen_eval_plugins.quality.classic.adapter import goodness_of
from vgen_eval_plugins.quality.classic.answers import (
    answer_question,
    describe_facts,
    grade_words,
    is_grading,
)
from vgen_eval_plugins.quality.classic.facts import measure_facts
from vgen_eval_plugins.quality.classic.niqe import niqe
from vgen_eval_plugins.quality.perception.targets import LETTERS

__all__ = ["judge_looks"]


def judge_looks(request: Request) -> tuple[Any, str | None]:
    """An answer to a request of family quality that has a picture, or None and the reason.

    Words for quality are graded by NIQE, with our own pristine model; questions with options and
    descriptions by measured facts: sharpness, noise, blockiness, brightness, contrast.
    """
    picture, choices = request.images[0].array, request.choices
    if request.form == "choice" and is_grading(choices):
        goodness = goodness_of("niqe", niqe(picture))
        if isinstance(goodness, str):
            return None, goodness
        return grade_words(goodness, choices), None
    if request.form not in ("choice", "text"):
        return None, None
    facts = measure_facts(picture)
    if not choices:
        return (describe_facts(facts), None) if request.form == "text" else (None, None)
    found = answer_question(facts, request.fields.get("question", request.prompt), choices)
    if request.form == "choice":
        return found, None
    best = max(choices, key=lambda choice: found[choice])
    return LETTERS[choices.index(best)], None
