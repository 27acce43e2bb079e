"""Call arguments of a card's `generation`, held against the method that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vgen_eval.errors import UsageError, nearest

__all__ = ["check_arguments", "parameters_of"]


def parameters_of(method: Callable[..., Any]) -> frozenset[str]:
    """Names of the keyword arguments that a method takes."""
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(method).parameters.values()
    return frozenset(p.name for p in parameters if p.kind in named) - {"self"}


def check_arguments(
    given: Iterable[str],
    *,
    known: Iterable[str],
    ours: Mapping[str, str],
    call: str,
    cure: str | None = None,
) -> None:
    """UsageError for the first argument that the call does not take, or that is not the card's.

    `ours`: argument -> where its value comes from, for those that the harness sets itself.
    `call`: name of the call, for messages; `cure`: the way for arguments that it cannot know of.
    """
    own = set(known) - set(ours)
    for name in given:
        if name in ours:
            raise UsageError(f"generation.{name}: set by the harness: {ours[name]}")
        if name not in own:
            raise UsageError(
                f"generation.{name}: {call} takes none.{nearest(name, own)}", cure=cure
            )
