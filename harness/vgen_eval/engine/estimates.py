"""What calls of a model will take and cost, as its earlier runs measured it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.plan import Job
from vgen_eval.engine.pricing import price_per_call

__all__ = ["Estimate", "estimate"]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Dollars a call and calls a minute, each with where it is from; None: not known."""

    call_usd: float | None = None
    price_from: Literal["card", "measured"] | None = None
    per_minute: float | None = None
    rate_from: Literal["measured", "limit"] | None = None

    def cost(self, calls: int) -> float | None:
        """US dollars of so many calls."""
        return None if self.call_usd is None else float(Decimal(repr(self.call_usd)) * calls)

    def seconds(self, calls: int) -> float | None:
        """Seconds of so many calls."""
        return None if self.per_minute is None else 60 * calls / self.per_minute


def estimate(job: Job, results: Path) -> Estimate:
    """By the runs of this very model and answer form below the results folder; else by its card."""
    measured = _Measured()
    for volatile in _earlier(job, results):
        measured.add(volatile)
    price, per_minute = measured.call_usd, measured.per_minute
    listed = price_per_call(job.model.card.price, job.codec.answer.form)
    limit = job.model.card.limits.per_minute
    call_usd = price if listed is None else float(listed)
    return Estimate(
        call_usd=call_usd,
        price_from=None if call_usd is None else "measured" if listed is None else "card",
        per_minute=limit if per_minute is None else per_minute,
        rate_from="measured" if per_minute is not None else "limit" if limit else None,
    )


class _Measured:
    """Sums over runs: what was called in them, for how long, at what cost."""

    def __init__(self) -> None:
        self._calls = self._paid = 0
        self._seconds = self._cost = 0.0

    def add(self, volatile: Mapping[str, Any]) -> None:
        """Takes a run in."""
        calling = volatile.get("calling") or {}
        self._calls += calling.get("calls", 0)
        self._seconds += calling.get("seconds", 0.0)
        if volatile.get("cost_usd") is not None:
            self._cost += volatile["cost_usd"]
            self._paid += volatile.get("calls", 0) - (volatile.get("unpriced") or 0)

    @property
    def per_minute(self) -> float | None:
        return 60 * self._calls / self._seconds if self._calls and self._seconds > 0 else None

    @property
    def call_usd(self) -> float | None:
        return self._cost / self._paid if self._paid > 0 else None


def _earlier(job: Job, results: Path) -> Iterator[Mapping[str, Any]]:
    """`volatile` of the cards of earlier runs; a damaged card tells nothing."""
    digest = job.model.identity_digest()
    folder = results / "runs" / job.model.folder
    for directory, folders, files in os.walk(folder):
        if "run.json" not in files:
            continue
        folders.clear()
        try:
            card = jsonio.loads(Path(directory, "result_card.json").read_bytes())
            same = card["model_info"]["identity_digest"] == digest
            if same and card["answer"] == job.codec.answer.form:
                yield dict(card["volatile"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
