"""Nothing lies at an address: how whoever looked there says so."""

from __future__ import annotations

from typing import NoReturn

from vgen_eval.errors import VgenEvalError

__all__ = ["NoSuchPage", "not_found"]


class NoSuchPage(VgenEvalError):
    """Nothing has that address."""


def not_found(what: str, *, cure: str | None = None) -> NoReturn:
    """Ends a handler with a page that says so."""
    raise NoSuchPage(what, cure=cure)
