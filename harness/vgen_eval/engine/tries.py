"""What the tries of one request came to: an output, or a fault, and what all of them used."""

from __future__ import annotations

import math
from decimal import Decimal

import msgspec

from vgen_eval.types import Output, Request, Status, Usage

__all__ = ["Call", "Refusals", "Tries"]


class Tries(msgspec.Struct):
    """What the tries of one attempt came to that gave no answer."""

    count: int = 0
    usage: tuple[Usage, ...] = ()
    cost: Decimal | None = Decimal(0)
    """US dollars of `usage`; None when that is not known."""
    ids: tuple[str, ...] = ()
    """The service's names of the requests, where it gave any."""


class Refusals(msgspec.Struct, frozen=True):
    """The 429s that one attempt has met."""

    count: int = 0
    free: int = 0
    """Those that use up no try: the service was answering others all the while."""
    last: float = math.inf
    """When the try before this one began."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What one request came to: an output, or a status and its reason."""

    request: Request
    output: Output | None = None
    status: Status = "ok"
    kind: str = ""
    """Name of the exception, for counting."""
    reason: str = ""
    tries: int = 1
    seconds: float = 0.0
    """Model time since the output before it: over a batch they add up to the call's."""
    batch: int = 1
    usage: tuple[Usage, ...] = ()
    """What its tries used, those that failed as well, as far as it is told."""
    cost: Decimal | None = None
    """US dollars of all of it; None when that is not known."""
    failed_ids: tuple[str, ...] = ()
    """The service's names of the tries that failed."""
