"""Answers with the input picture: what a model that edits nothing scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
from vgen_eval.adapters import BaseAdapter
from vgen_eval.types import AnswerForm, NoOptions, Output, Request

__all__ = ["Copy"]


class Copy(BaseAdapter):
    """Yields the first input picture."""

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = NoOptions
    forms: ClassVar[tuple[AnswerForm, ...]] = ("image",)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        """uint8 (H, W, 3); None, no answer, for a request without pictures."""
        for request in requests:
            picture = request.images[0].array if request.images else None
            yield Output(id=request.id, answer=picture)
