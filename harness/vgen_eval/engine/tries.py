"""What the tries of one request came to: an output, or a fault, and what all of them used."""

from __future__ import annotations

import math
import time
from decimal import Decimal
from typing import Any

import msgspec

from vgen_eval.answers import clean
from vgen_eval.engine.usage import sum_usage
from vgen_eval.types import Output, Request, Status, Usage

__all__ = ["Call", "Refusals", "Tries", "volatile_of"]

_REPORTED = ("request_id", "reported_model", "reported_date")


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


def volatile_of(call: Call) -> dict[str, Any]:
    """What may differ between two equal runs."""
    facts: dict[str, Any] = {
        "finished": round(time.time(), 3),
        "seconds": round(call.seconds, 6),
        "tries": call.tries,
        "batch": call.batch,
    }
    if call.usage:
        facts |= sum_usage(call.usage)
    if call.cost is not None:
        facts["cost_usd"] = float(call.cost)
    if call.failed_ids:
        facts["failed_request_ids"] = list(call.failed_ids)
    output = call.output
    for name in _REPORTED if output is not None else ():
        said = getattr(output, name)
        if said is not None:
            facts[name] = clean(str(said))
    return facts
