"""What a request shows, in order, and the flag of a beginning that a model was not held to."""

from __future__ import annotations

from vgen_eval.imaging import Image
from vgen_eval.types import Request

__all__ = ["UNFORCED", "has_prefix", "shown", "sound"]

UNFORCED = "prefix_not_forced"
"""Flag: the answer was to go on from the request's prefix, and nothing made it do so."""


def shown(request: Request) -> tuple[str | Image, ...]:
    """Words and pictures as the model is to see them; words that are empty are left out.

    The request's own order where it has one, else the pictures and after them the prompt.
    """
    parts = request.parts or (*request.images, request.prompt)
    return tuple(part for part in parts if part != "")


def has_prefix(request: Request) -> bool:
    """Does a turn of words begin with the request's prefix? Pictures and videos have no such."""
    return bool(request.prefix) and request.form in ("text", "choice")


def sound(text: str) -> str:
    """The text as JSON and tokenizers take it: a lone surrogate is no text."""
    return text.encode("utf-8", "replace").decode()
