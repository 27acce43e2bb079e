"""What a run took, from its lines: calls, tries, tokens, cost to the last digit, latencies."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from vgen_eval.engine.pricing import add_up
from vgen_eval.engine.tries import Tries
from vgen_eval.engine.usage import AMOUNTS, sum_usage
from vgen_eval.results.quantiles import quantile

__all__ = ["Tally"]

PERCENTILES = (50, 90, 99)
MOST_REASONS = 1000
"""Reasons that are told apart: those that name their sample differ for each of 100,000."""
TOLD_REASONS = 5


class Tally:
    """Adds lines up; tries of attempts that were then not made are in no line and come apart."""

    def __init__(self, *, serves: bool, unfinished: Mapping[str, Any]) -> None:
        """`serves`: does a service answer, so that latencies say something of it?

        `unfinished`: what the card before this one has of such tries.
        """
        self._serves = serves
        self._unfinished = unfinished
        self._cost = Decimal(0)
        self._costs = self._unpriced = 0
        self._usage: dict[str, int | float] = {}
        self._busy = 0.0
        self._calls = self._tries = self._reused = 0
        self._latencies = array("d")
        self._faults: Counter[str] = Counter()
        self._models: Counter[str] = Counter()
        self._dates: Counter[str] = Counter()

    def add_unfinished(self, tries: Tries) -> None:
        """Takes in what was tried of an attempt in this sitting and came to nothing."""
        before = self._unfinished
        usage = dict(before.get("usage", {}))
        for name, amount in sum_usage(tries.usage).items():
            usage[name] = usage.get(name, 0) + amount
        self._unfinished = {
            "tries": before.get("tries", 0) + tries.count,
            "cost_usd": float(add_up([before.get("cost_usd", 0.0)]) + (tries.cost or 0)),
            "usage": usage,
        }

    def add(self, line: Mapping[str, Any]) -> None:
        """Takes in a prediction line."""
        facts = line.get("volatile", {})
        self._tries += facts.get("tries", 0)
        self._reused += "cached" in facts
        cost = facts.get("cost_usd")
        if cost is not None:
            self._cost += Decimal(repr(cost))
            self._costs += 1
        seconds = facts.get("seconds")
        if seconds is None:
            return
        self._calls += 1
        self._busy += seconds
        answered = "kind" not in line
        reason = line.get("reason") or facts.get("reason")
        if reason and (reason in self._faults or len(self._faults) < MOST_REASONS):
            self._faults[reason] += 1
        self._unpriced += answered and cost is None
        if self._serves and answered and facts.get("batch") == 1:
            self._latencies.append(seconds)
        for name in AMOUNTS:
            if name in facts:
                self._usage[name] = self._usage.get(name, 0) + facts[name]
        if "reported_model" in facts:
            self._models[facts["reported_model"]] += 1
        if "reported_date" in facts:  # by day: services give each answer a second of its own
            self._dates[facts["reported_date"].partition("T")[0]] += 1

    def record(self) -> dict[str, Any]:
        """The sums, as the card's `volatile` has them."""
        usage, cost = dict(self._usage), self._cost
        for name, amount in self._unfinished.get("usage", {}).items():
            usage[name] = usage.get(name, 0) + amount
        cost += add_up([self._unfinished.get("cost_usd", 0.0)])
        known = self._costs > 0 or cost > 0
        return {
            "calls": self._calls,
            "tries": self._tries + self._unfinished.get("tries", 0),
            "reused": self._reused,
            "model_s": round(self._busy, 3),
            "images_per_minute": round(60 * self._calls / self._busy, 2) if self._busy else None,
            "usage": usage,
            "cost_usd": float(cost) if known else None,
            "unpriced": self._unpriced if known else None,
            "latency_s": self._percentiles(),
            "failures": [
                {"reason": reason, "attempts": count}
                for reason, count in self._faults.most_common(TOLD_REASONS)
            ],
            "reported_models": _listed(self._models, "model"),
            "reported_dates": _listed(self._dates, "date"),
            "unfinished": dict(self._unfinished),
        }

    def _percentiles(self) -> dict[str, float] | None:
        """Seconds from call to answer, waits before the call left out."""
        if not self._latencies:
            return None
        ordered = sorted(self._latencies)
        return {f"p{p}": round(quantile(ordered, p / 100), 4) for p in PERCENTILES}


def _listed(counts: Mapping[str, int], name: str) -> list[dict[str, Any]]:
    return [{name: what, "answers": count} for what, count in sorted(counts.items())]
