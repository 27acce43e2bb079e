"""What calls of a model will take and cost, as its earlier runs measured it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec

from vgen_eval import jsonio
from vgen_eval.engine.plan import Job
from vgen_eval.engine.pricing import price_per_call
from vgen_eval.results.bench import measured_rate
from vgen_eval.results.volatile import Earlier, read_volatile

__all__ = ["Estimate", "Estimates"]

RateSource = Literal["measured", "bench", "limit"]
"""Earlier runs, an efficiency record, or what the card allows at most."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Dollars a call and calls a minute, each with where it is from; None: not known."""

    call_usd: float | None = None
    price_from: Literal["card", "measured"] | None = None
    per_minute: float | None = None
    rate_from: RateSource | None = None

    def cost(self, calls: int) -> float | None:
        """US dollars of so many calls; none cost nothing."""
        if not calls:
            return 0.0
        return None if self.call_usd is None else float(Decimal(repr(self.call_usd)) * calls)

    def seconds(self, calls: int) -> float | None:
        """Seconds of so many calls."""
        return None if self.per_minute is None else 60 * calls / self.per_minute


class Estimates:
    """By the runs of this very model and answer form below the results folder; else by its card.

    Where no run tells the rate, `bench` may, which asks one call after the other.
    """

    def __init__(self, results: Path) -> None:
        self._results = results
        self._measured: dict[tuple[str, str], _Measured] = {}
        """(digest of the model, form) -> what its runs took: read once, however many jobs ask."""

    def of(self, job: Job) -> Estimate:
        """Of the job's calls."""
        measured = self._runs_of(job)
        listed = price_per_call(job.model.card.price, job.codec.answer.form)
        call_usd = measured.call_usd if listed is None else float(listed)
        rate_from, per_minute = self._rate(job, measured.per_minute)
        return Estimate(
            call_usd=call_usd,
            price_from=None if call_usd is None else "measured" if listed is None else "card",
            per_minute=per_minute,
            rate_from=rate_from,
        )

    def _runs_of(self, job: Job) -> _Measured:
        digest, form = job.model.identity_digest(), job.codec.answer.form
        if (digest, form) not in self._measured:
            found = self._measured[digest, form] = _Measured()
            for volatile in _earlier(self._results / "runs" / job.model.folder, digest, form):
                found.add(volatile)
        return self._measured[digest, form]

    def _rate(self, job: Job, measured: float | None) -> tuple[RateSource | None, float | None]:
        """Calls a minute, and whose word that is."""
        if measured is not None:
            return "measured", measured
        model, limit = job.model, job.model.card.limits.per_minute
        benched = measured_rate(
            self._results, model.folder, task=job.task.ref.path, identity=model.identity_digest()
        )
        if benched is not None and (limit is None or benched < limit):
            return "bench", benched
        return ("limit", limit) if limit else (None, None)


class _Measured:
    """Sums over runs: what was called in them, for how long, at what cost."""

    def __init__(self) -> None:
        self._calls = self._paid = 0
        self._seconds = 0.0
        self._cost = Decimal(0)

    def add(self, earlier: Earlier) -> None:
        """Takes a run in."""
        self._calls += earlier.calls
        self._seconds += earlier.calling_s
        if earlier.cost_usd is not None and earlier.priced:
            self._cost += Decimal(repr(earlier.cost_usd))
            self._paid += earlier.priced

    @property
    def per_minute(self) -> float | None:
        return 60 * self._calls / self._seconds if self._calls and self._seconds > 0 else None

    @property
    def call_usd(self) -> float | None:
        return float(self._cost / self._paid) if self._paid > 0 else None


def _earlier(folder: Path, digest: str, form: str) -> Iterator[Earlier]:
    """What is in the cards of earlier runs; a damaged card tells nothing."""
    for directory, folders, files in os.walk(folder):
        if "run.json" not in files:
            continue
        folders.clear()
        try:
            card = jsonio.loads(Path(directory, "result_card.json").read_bytes())
            if card["model_info"]["identity_digest"] == digest and card["answer"] == form:
                yield read_volatile(card["volatile"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
