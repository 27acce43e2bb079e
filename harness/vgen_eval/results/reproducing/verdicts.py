"""What our number says of a published one, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from vgen_eval.results.reproducing.departures import PROMPT, SAMPLES, Departure
from vgen_eval.wording import plural

__all__ = ["SLACK", "Measured", "Published", "Verdict", "compare_numbers", "judge", "mean_of_sets"]

SLACK = 0.02
"""Part of the published value that ours may be off by where it has no interval."""

_READING = {"decoder", "judge", "metrics", "failure_value"}
"""Parts of a protocol that make a number of an answer."""

Word = Literal[
    "within", "outside", "approximate", "not comparable", "no published value", "not run"
]


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A published figure; none where it is not known."""

    value: float | None = None
    tolerance: float = 0.0
    """Half a step of its last digit."""
    comparability: str = "comparable"
    reason: str | None = None


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Our number of it, with its 95 % interval where there is one."""

    value: float
    low: float | None = None
    high: float | None = None
    method: str | None = None
    no_interval: str | None = None
    """Why there is none."""
    n: int | None = None
    unit: str = ""
    higher_is_better: bool | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a cell."""

    word: Word
    reason: str | None = None
    number: Literal["within", "outside"] | None = None
    """What the numbers alone say, whatever they are of."""
    by: str | None = None
    """By the interval, or by the slack where there is none."""


def compare_numbers(
    ours: Measured, published: Published, departures: Sequence[Departure] = ()
) -> tuple[bool, str]:
    """Does the published figure, give or take its last digit, lie where ours does; and by what.

    In the 95 % interval of ours; without one, within `SLACK` of the published value. So too where
    the same samples are known to be read in another way: an interval says what other samples may
    do, and excuses no temperature.
    """
    assert published.value is not None
    reach = published.tolerance
    parts = {each.part for each in departures}
    by_sampling = SAMPLES in parts or not parts & _READING
    if by_sampling and ours.low is not None and ours.high is not None:
        low, high = ours.low - reach, ours.high + reach
        return _holds(low, published.value, high), "interval"
    reach += SLACK * abs(published.value)
    off = abs(ours.value - published.value)
    return off <= reach or math.isclose(off, reach), f"{SLACK:.0%} of the published value"


def _holds(low: float, value: float, high: float) -> bool:
    near = math.isclose(value, low) or math.isclose(value, high)
    return near or low <= value <= high


def judge(
    ours: Measured,
    published: Published,
    departures: Sequence[Departure],
    *,
    unfinished: str | None = None,
) -> Verdict:
    """The verdict on a cell that has a number of ours; `unfinished`: what of its run is wanting."""
    if published.value is None:
        return Verdict(word="no published value", reason=name_departures(departures))
    is_within, by = compare_numbers(ours, published, departures)
    number: Literal["within", "outside"] = "within" if is_within else "outside"
    named = name_departures(departures)
    if published.comparability == "not_comparable":
        return Verdict(
            word="not comparable", reason=_join(published.reason, named), number=number, by=by
        )
    whys = [*(why for why in map(_why_approximate, departures) if why), unfinished]
    if any(whys) or published.comparability == "approximate":
        rest = [each for each in departures if each.field not in (PROMPT, SAMPLES)]
        reason = _join(*whys, name_departures(rest), published.reason)
        return Verdict(word="approximate", reason=reason, number=number, by=by)
    return Verdict(word=number, reason=named, number=number, by=by)


def _join(*reasons: str | None) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, reasons))) or None


def name_departures(departures: Sequence[Departure], *, most: int = 3) -> str | None:
    """ "another metrics.x.options.fit, ..."; None for none."""
    if not departures:
        return None
    names = [each.field for each in departures]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"another {', '.join(names[:most])}{more}"


def _why_approximate(departure: Departure) -> str | None:
    """What makes the samples or the question another; None where it does neither."""
    if departure.field == PROMPT:
        paper, ours = departure.paper, departure.ours
        if paper.get("variant") != ours.get("variant"):
            return f"prompt {ours.get('variant')}, not {paper.get('variant')}"
        return "another prompt"
    if departure.field == SAMPLES:
        paper, ours = departure.paper.get("n"), departure.ours.get("n")
        if isinstance(paper, int) and isinstance(ours, int) and paper != ours:
            return f"{plural(ours, 'sample')}, paper {paper:,}"
        return "other samples"
    return None


def mean_of_sets(parts: Sequence[Measured]) -> Measured:
    """The plain mean of several sets' numbers.

    The halves of its interval are the root of the sum of theirs squared over their number, as of
    independent sets: sets that share pictures make it too narrow. It has none where one of them
    has none.
    """
    count = len(parts)
    mean = math.fsum(part.value for part in parts) / count
    first = parts[0]
    if count == 1:
        return first
    low = high = None
    missing = next((part for part in parts if part.low is None or part.high is None), None)
    if missing is None:
        below = math.sqrt(math.fsum((part.value - (part.low or 0.0)) ** 2 for part in parts))
        above = math.sqrt(math.fsum(((part.high or 0.0) - part.value) ** 2 for part in parts))
        low, high = mean - below / count, mean + above / count
    return Measured(
        value=mean,
        low=low,
        high=high,
        method=None if low is None else f"of the intervals of {count} sets, taken as independent",
        no_interval=None if missing is None else f"of one set: {missing.no_interval}",
        n=sum(part.n or 0 for part in parts),
        unit=first.unit,
        higher_is_better=first.higher_is_better,
    )
