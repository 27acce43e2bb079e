"""An answer in words that cannot be read: what it is at fault of, in one word, and why."""

from __future__ import annotations

from typing import Literal

from vgen_eval.errors import Undecodable

from vgen_eval_plugins.parsing.texts import spoken_part

__all__ = ["Fault", "NotRead", "heard"]

Fault = Literal["empty", "refusal", "no_option", "several_options", "extra_option"]
"""What kept an option from being read; a run's records count answers by it."""


class NotRead(Undecodable):
    """Undecodable, with the kind of its fault."""

    def __init__(self, kind: Fault, what: str) -> None:
        super().__init__(what)
        self.kind: Fault = kind


def heard(text: str, what: str) -> str:
    """What an answer says, as `spoken_part` has it; NotRead, `empty`, where that is nothing.

    `what`: an answer, or a reply.
    """
    spoken = spoken_part(text)
    if not spoken:
        trace = bool(text.strip())
        raise NotRead("empty", "only a thinking trace" if trace else f"the {what} is empty")
    return spoken
