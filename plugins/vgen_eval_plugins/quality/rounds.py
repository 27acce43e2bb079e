"""What judges of quality share: how often they ask, and a score read off a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from vgen_eval.errors import JudgeError, Undecodable, Unreadable

from vgen_eval_plugins.parsing.scores import parse_score

__all__ = ["RoundOptions", "read_score", "votes_of"]


class RoundOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How often it is asked."""

    rounds: Annotated[
        int, msgspec.Meta(description="Times that the same is asked; its votes.", ge=1, le=99)
    ] = 5
    re_asks: Annotated[
        int, msgspec.Meta(description="Times an unreadable reply is asked for again.", ge=0)
    ] = 3


def read_score(text: str, low: int, high: int) -> int:
    """The score in low..high; Unreadable for anything else."""
    try:
        return parse_score(text, low, high).score
    except Undecodable as exc:
        raise Unreadable(exc.what) from exc


def votes_of(readings: Sequence[int | Unreadable], of: str = "") -> list[int | None]:
    """Each reading, None where it could not be read; JudgeError, saying of what, where none could.

    The last says why.
    """
    votes = [None if isinstance(each, Unreadable) else each for each in readings]
    unread = [each for each in readings if isinstance(each, Unreadable)]
    if len(unread) == len(votes):
        whose = f"{of}: " if of else ""
        raise JudgeError(f"{whose}none of {len(votes)} votes can be read: {unread[-1].what}")
    return votes
