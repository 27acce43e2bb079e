"""The ceiling: answers with the encoder's picture of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.types import FORMS, AnswerForm, NoOptions, Output, Request

__all__ = ["Oracle"]


class Oracle(BaseAdapter):
    """Yields what the truth encodes to: what is lost between it and the score is the codec's."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = FORMS

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """The ideal answers; None, no answer, for a request that carries none."""
        for request in requests:
            yield Output(id=request.id, answer=request.ideal)
