"""How a selection rule is written: text -> rule, taken apart; nothing is looked up."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Literal, cast

import msgspec

from vgen_eval.errors import UsageError, nearest

__all__ = ["PRIMARY", "WRITTEN", "Kind", "Rule", "parse"]

PRIMARY = "primary"

Kind = Literal[
    "median", "top", "worst", "advantage", "best-of", "random", "decides", "ids", "compare"
]

WRITTEN: Mapping[str, str] = {
    "median": "median:METRIC",
    "top": "top:METRIC[:q=.9]",
    "worst": "worst:METRIC",
    "advantage": "advantage:A-B[:above-median][:metric=METRIC]",
    "best-of": "best-of:MODEL",
    "random": "random:SEED",
    "decides": "decides[:METRIC]",
    "ids": "ids:ID[,ID...]",
}
"""The word that a rule begins with -> how it is written."""

RANKED = ("median", "top", "worst", "advantage", "best-of", "decides")
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(RANKED, ("per-tag",)),
    "top": ("q", "per-tag"),
    "advantage": ("above-median", "metric", "per-tag"),
}
LONGEST = 80
"""Letters of a rule that an error repeats."""
_FLAGS = ("above-median",)
_COMPARISON = re.compile(r"(?P<metric>.+?)\s*(?P<op><=|>=|<|>|=)\s*(?P<value>[^<>=]+)", re.DOTALL)


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as it was given, taken apart; what it names is looked up by `choose`."""

    text: str
    kind: Kind
    metric: str = PRIMARY
    subject: str = ""
    """A-B of `advantage`, the model of `best-of`, the ids of `ids`."""
    quantile: float | None = None
    above_median: bool = False
    per_tag: str = ""
    op: str = ""
    value: float = 0.0
    seed: int | None = None

    @property
    def may_name_models(self) -> bool:
        """Whether other runs may be needed."""
        return self.kind in ("advantage", "best-of") or "@" in self.metric


def parse(text: str) -> Rule:
    """The rule that the text writes; UsageError with the nearest rule and how it is written."""
    text = text.strip()
    head, colon, rest = text.partition(":")
    if head in WRITTEN:
        return _parse_named(text, cast("Kind", head), rest if colon else "")
    compared = _COMPARISON.fullmatch(text)
    if compared is not None:
        return Rule(
            text=text,
            kind="compare",
            metric=compared["metric"],
            op=compared["op"],
            value=_number(compared["value"], text),
        )
    raise UsageError(
        f"--select: no rule '{text[:80]}'.{nearest(head, WRITTEN)}",
        cure=f"{', '.join(WRITTEN.values())}, or METRIC<=VALUE",
    )


def _parse_named(text: str, kind: Kind, rest: str) -> Rule:
    rest, given = _take_options(text, kind, rest)
    if not rest and kind != "decides":
        raise _misses(text, kind)
    facts: dict[str, object] = {"per_tag": given.get("per-tag", "")}
    if kind in ("median", "top", "worst", "decides"):
        facts["metric"] = rest or PRIMARY
    elif kind == "random":
        if re.fullmatch(r"-?[0-9]{1,18}", rest) is None:
            raise UsageError(
                f"--select {_short(text)}: '{_short(rest)}' is no seed", cure="random:7"
            )
        facts["seed"] = int(rest)
    else:
        facts["subject"] = rest
        facts["metric"] = given.get("metric", PRIMARY)
        facts["above_median"] = "above-median" in given
    if "q" in given:
        q = _number(given["q"], text)
        if not 0 <= q <= 1:
            raise UsageError(f"--select {_short(text)}: q is a part of 1", cure=WRITTEN["top"])
        facts["quantile"] = q
    return msgspec.convert({"text": text, "kind": kind, **facts}, Rule)


def _take_options(text: str, kind: Kind, rest: str) -> tuple[str, dict[str, str]]:
    """What stands before the options, and these; another colon is part of a name."""
    known = _OPTIONS.get(kind, ())
    given: dict[str, str] = {}
    while known:
        before, colon, last = rest.rpartition(":")
        name, equals, value = last.partition("=")
        is_flag = name in _FLAGS
        if name not in known or bool(equals) == is_flag:
            if colon and equals:  # no name of a value or a model has a =
                raise UsageError(
                    f"--select {_short(text)}: no option '{_short(last)}'.{nearest(name, known)}",
                    cure=f"{WRITTEN[kind]}[:per-tag=TAG]",
                )
            break
        if equals and not value:
            raise UsageError(f"--select {_short(text)}: '{name}=' says nothing", cure=WRITTEN[kind])
        if name in given:
            raise UsageError(f"--select {_short(text)}: '{name}' is said twice", cure=WRITTEN[kind])
        given[name] = value
        rest = before
    return rest, given


def _misses(text: str, kind: Kind) -> UsageError:
    return UsageError(
        f"--select {_short(text)}: what '{kind}' is of is missing", cure=WRITTEN[kind]
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _number(word: str, text: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise UsageError(f"--select {_short(text)}: '{word.strip()[:40]}' is no number")
    return number
