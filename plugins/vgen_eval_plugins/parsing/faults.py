"""An answer in words that cannot be read: what it is at fault of, in one word, and why."""

from __future__ import annotations

from typing import Literal

from vgen_eval.errors import Undecodable

__all__ = ["Fault", "NotRead"]

Fault = Literal["empty", "refusal", "no_option", "several_options", "extra_option"]
"""What kept an option from being read; a run's records count answers by it."""


class NotRead(Undecodable):
    """Undecodable, with the kind of its fault."""

    def __init__(self, kind: Fault, what: str) -> None:
        super().__init__(what)
        self.kind: Fault = kind
