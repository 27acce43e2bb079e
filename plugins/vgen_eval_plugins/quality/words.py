"""Words as they are: what a judge reads."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from vgen_eval.errors import Undecodable
from vgen_eval.types import Prediction, Scene

from vgen_eval_plugins.parsing.texts import spoken_part

__all__ = ["Words"]

SHOWN = 200
"""Characters of the answer in the summary."""


class Words:
    """Text -> text, without thinking traces; what the words are worth says a judge."""

    version: ClassVar[int] = 1

    class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """How much of it."""

        longest: Annotated[
            int,
            msgspec.Meta(
                description="Characters that are read; a longer answer is cut, and flagged `cut`.",
                ge=1,
            ),
        ] = 8000

    def __init__(self, options: Options) -> None:
        self.options = options

    def decode(self, answer: Any, scene: Scene) -> Prediction:  # noqa: ARG002
        """The words; Undecodable when there are none."""
        if not isinstance(answer, str):
            raise Undecodable(f"text was wanted, {type(answer).__name__} came")
        said = spoken_part(answer)
        if not any(character.isalnum() for character in said):
            raise Undecodable(
                "only a thinking trace" if answer.strip() and not said else "the answer is empty"
            )
        words = said[: self.options.longest]
        return Prediction(
            value=words,
            flags=("cut",) if len(words) < len(said) else (),
            summary={"words": words[:SHOWN], "characters": len(said)},
        )
