"""Preferences that hold together: contradictions and cycles drop out, repeats count once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import msgspec

from vgen_eval.results.judging.human import Preference

__all__ = ["Settled", "settle"]


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs to measure by, and what was left out on the way to them."""

    pairs: tuple[Preference, ...]
    said: int
    """Pairs as they were given, those of rankings included."""
    repeated: int
    """Of them: said before in the same direction."""
    contradictions: int
    """Pairs of answers that were said both ways; neither way is kept."""
    cycles: int
    """Groups of answers of one sample that go round: a over b over c over a."""
    in_cycles: int
    """Pairs of such groups, all left out: which of them is wrong, nobody can say."""


def settle(preferences: Sequence[Preference]) -> Settled:
    """The pairs that do not speak against one another, by sample, in the order of their names."""
    pairs: list[Preference] = []
    repeated = contradictions = cycles = in_cycles = 0
    ordered = sorted(preferences, key=lambda one: one.sample)
    for sample, group in groupby(ordered, key=lambda one: one.sample):
        said = [(one.better, one.worse) for one in group]
        distinct = set(said)
        repeated += len(said) - len(distinct)
        both = {(a, b) for a, b in distinct if (b, a) in distinct}
        contradictions += len(both) // 2
        left = distinct - both
        part_of = _parts(left)
        rounds = {(a, b) for a, b in left if part_of[a] == part_of[b]}
        cycles += len({part_of[a] for a, _ in rounds})
        in_cycles += len(rounds)
        pairs += [Preference(sample=sample, better=a, worse=b) for a, b in sorted(left - rounds)]
    return Settled(
        pairs=tuple(pairs),
        said=len(preferences),
        repeated=repeated,
        contradictions=contradictions,
        cycles=cycles,
        in_cycles=in_cycles,
    )


def _parts(pairs: Iterable[tuple[str, str]]) -> Mapping[str, int]:
    """Name -> its strongly connected part: two names share one where each beats the other.

    Each pair is looked at once (Tarjan 1972, "Depth-first search and linear graph algorithms").
    """
    below: dict[str, list[str]] = {}
    for better, worse in pairs:
        below.setdefault(better, []).append(worse)
        below.setdefault(worse, [])
    part_of: dict[str, int] = {}
    met: dict[str, int] = {}
    oldest: dict[str, int] = {}  # the earliest name met that each leads back to
    waiting: list[str] = []  # names met whose part is not known yet
    for start, first in below.items():
        path = [] if start in met else [(start, iter(first))]
        while path:
            name, others = path[-1]
            if name not in met:
                met[name] = oldest[name] = len(met)
                waiting.append(name)
            other = next((one for one in others if one not in part_of), None)
            if other is not None and other not in met:
                path.append((other, iter(below[other])))
            elif other is not None:
                oldest[name] = min(oldest[name], met[other])
            else:
                path.pop()
                _close(name, met, oldest, waiting, part_of)
                if path:
                    above = path[-1][0]
                    oldest[above] = min(oldest[above], oldest[name])
    return part_of


def _close(
    name: str,
    met: Mapping[str, int],
    oldest: Mapping[str, int],
    waiting: list[str],
    part_of: dict[str, int],
) -> None:
    """All that the name leads to is known: it may be the first that was met of its part."""
    if oldest[name] < met[name]:
        return
    while name not in part_of:
        part_of[waiting.pop()] = met[name]
