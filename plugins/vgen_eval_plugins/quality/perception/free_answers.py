"""Short answers in free words: read as they are, written as one who knows, and none at all."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import NoOptions, Prediction, Scene

from vgen_eval_plugins.parsing.faults import NotRead, heard
from vgen_eval_plugins.parsing.texts import (
    double_bracketed,
    marked_answers,
    same_text,
)
from vgen_eval_plugins.quality.perception.targets import AcceptedTexts

__all__ = ["AnswerText", "AnswerTextEncoder", "WrongAnswer"]

SHOWN = 200
"""Characters of the answer in the summary."""


class AnswerText:
    r"""Text -> the answer's words: those that it marks, else all outside of its thinking.

    Marks are `\boxed{...}`, `<answer>...</answer>` and `[[...]]`. Nothing is taken out of a
    sentence: what an exact match is wanted of is asked for in as many words.
    """

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "answer"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """The words; Undecodable for none, or several marked ones that differ. Flag `by_mark`."""
        if not isinstance(answer, str):
            raise Undecodable(f"text was wanted, {type(answer).__name__} came")
        spoken = heard(answer, "answer")
        marks = [inner for inner, _ in marked_answers(spoken, "answer")]
        marks = marks or [inner for inner, _ in double_bracketed(spoken)]
        words = spoken
        if marks:
            words = marks[0].strip()
            if not words:
                raise NotRead("empty", "the marked answer is empty")
            if not all(same_text(words, other) for other in marks[1:]):
                raise Undecodable(f"{len(marks)} answers are marked, and they differ")
        return Prediction(
            value=words, flags=("by_mark",) if marks else (), summary={"words": words[:SHOWN]}
        )


class AnswerTextEncoder:
    """target -> the first of the accepted texts."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "answer"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def encode(self, target: AcceptedTexts, scene: Scene) -> str:  # noqa: ARG002
        """Its words, as the data has them."""
        return target.texts[0]


class WrongAnswer:
    """The failure value: no words, which are wrong."""

    version: ClassVar[int] = 1
    measures: ClassVar[str] = "answer"
    Options: ClassVar[type[msgspec.Struct]] = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """Always None."""
        return Prediction(value=None, summary={"words": None})
