"""Runs of one task in the order of a value: ranks that a paired test can carry, bounds apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.jsonio import digest
from vgen_eval.results.card import ResultCard, Score
from vgen_eval.results.contrast_facts import Differing, tell_apart
from vgen_eval.results.identity import facts
from vgen_eval.viewer.records import RunRow

if TYPE_CHECKING:
    from vgen_eval.viewer.index import Index

__all__ = ["Choice", "Group", "Standing", "choose", "has_values", "make_groups"]

LEVEL = 0.05
MOST_RUNS, MOST_SAMPLES = 40, 8000
"""Of a group, and of all its runs together, for its differences to be tested: half a second.

All of them or none: ranks do not hang on how busy the machine is.
"""
PERMUTATIONS = 1999
"""Enough for a level of .05; `vgen-eval compare` makes more."""
TOGETHER = ("data", "samples", "task_version", "metrics", "failure_value")
"""Facts, with all below them, that runs must share to be ranked against each other."""
IN_THE_ROW = ("prompt.variant", "prompt.text", "answer.form")
"""Facts that have columns of their own."""
MOST_TOLD = 3


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What of the cards is shown."""

    metric: str
    subset: str = "all"
    fail: str = "worst"
    """worst: failures count as the protocol says; answered: they are left out."""
    higher_is_better: bool
    unit: str
    metrics: tuple[str, ...]
    subsets: tuple[str, ...]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A row: a run, its card, its number."""

    run: RunRow
    card: ResultCard
    score: Score | None
    value: float | None
    interval: tuple[float, float] | None
    rank: int | None = None
    """None for bounds, and for runs that are not to be ranked."""
    shared: bool = False
    p: float | None = None
    """Of no difference to the first of its rank, where that was tested."""
    settings: str = ""
    """In which settings beside the model it differs from the first row; prompt and form of the
    answer, which stand in the row, left out."""
    comparable: bool = True
    """Does it differ from the first row in the model alone?"""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that were measured on the same samples in the same way."""

    rows: tuple[Standing, ...]
    bounds: tuple[Standing, ...]
    apart: str = ""
    """In what it differs from the first group."""
    tested: bool = False
    """Did tests decide which ranks are shared?"""


def choose(cards: Sequence[ResultCard], given: Mapping[str, str]) -> Choice:
    """What an address asks for; UsageError for what no card has.

    `cards`: one of them at least `has_values`.
    """
    scores = [s for card in cards for s in card.scores if s.selection == "mean"]
    metrics = tuple(dict.fromkeys(s.metric for s in scores))
    subsets = tuple(dict.fromkeys(s.subset for s in scores if s.subset != "all"))
    metric = given.get("metric") or _first_metric(cards, metrics)
    subset = given.get("subset") or "all"
    fail = given.get("fail") or "worst"
    for name, value, known in (
        ("metric", metric, metrics),
        ("subset", subset, ("all", *subsets)),
        ("fail", fail, ("worst", "answered")),
    ):
        if value not in known:
            raise UsageError(f"{name}: no run here has '{value[:60]}'.{nearest(value[:60], known)}")
    one = next(s for s in scores if s.metric == metric)
    return Choice(
        metric=metric,
        subset=subset,
        fail=fail,
        higher_is_better=one.higher_is_better,
        unit=one.unit,
        metrics=metrics,
        subsets=subsets,
    )


def has_values(card: ResultCard) -> bool:
    """Has it any to rank by? An edited card may have none."""
    return any(score.selection == "mean" for score in card.scores)


def _first_metric(cards: Sequence[ResultCard], metrics: Sequence[str]) -> str:
    """The primary of the first card that has its own; any other value where none has."""
    return next((card.primary for card in cards if card.primary in metrics), metrics[0])


def make_groups(
    index: Index, runs: Iterable[tuple[RunRow, ResultCard]], choice: Choice
) -> list[Group]:
    """The runs as they can be ranked, the group with the most of them first."""
    members: dict[str, list[Standing]] = {}
    shared: dict[str, dict[str, Any]] = {}
    for run, card in runs:
        found = {
            field: value
            for field, value in facts(card).items()
            if field.split(".", maxsplit=1)[0] in TOGETHER
        }
        key = str(digest(found))
        shared.setdefault(key, found)
        members.setdefault(key, []).append(_standing(run, card, choice))
    order = sorted(members, key=lambda key: -sum(_is_ranked(s) for s in members[key]))
    return [
        _group(index, members[key], choice, _tell_apart(shared[order[0]], shared[key]))
        for key in order
    ]


def _standing(run: RunRow, card: ResultCard, choice: Choice) -> Standing:
    try:
        score = card.score(choice.metric, subset=choice.subset)
    except KeyError:
        return Standing(run=run, card=card, score=None, value=None, interval=None)
    if choice.fail == "answered":
        return Standing(run=run, card=card, score=score, value=score.answered_only, interval=None)
    low, high = score.ci95.low, score.ci95.high
    interval = None if low is None or high is None else (low, high)
    return Standing(run=run, card=card, score=score, value=score.value, interval=interval)


def _is_ranked(row: Standing) -> bool:
    return row.run.role == "model" and row.value is not None and row.card.complete


def _group(index: Index, members: Sequence[Standing], choice: Choice, apart: str) -> Group:
    sign = -1 if choice.higher_is_better else 1

    def place(row: Standing) -> tuple[bool, float, str]:
        return (row.value is None, sign * (row.value or 0.0), row.run.path)

    ranked = sorted(filter(_is_ranked, members), key=place)
    others = [row for row in members if row.run.role == "model" and not _is_ranked(row)]
    rows, tested = _rank(ranked, _Tests.of(index, ranked, choice))
    bounds = sorted((row for row in members if row.run.role != "model"), key=place)
    rows = [*rows, *sorted(others, key=place)]
    first = facts(rows[0].card) if rows else {}
    return Group(
        rows=tuple(_set_beside(first, row) for row in rows),
        bounds=tuple(_set_beside(first, row) if first else row for row in bounds),
        apart=apart,
        tested=tested,
    )


def _rank(ranked: Sequence[Standing], tests: _Tests | None) -> tuple[list[Standing], bool]:
    """With their ranks: a run shares that of the one above unless a paired test parts the two.

    It is tested against the first of the rank, so that a rank holds no chain of small steps.
    """
    found: list[Standing] = []
    first: Standing | None = None
    rank = 0
    for at, row in enumerate(ranked):
        p = None if first is None or tests is None else tests.p_value(first.run, row.run)
        same = first is not None and (row.value == first.value if p is None else p >= LEVEL)
        if not same:
            first, rank = row, at + 1
        found.append(msgspec.structs.replace(row, rank=rank, p=p))
    count = Counter(row.rank for row in found)
    found = [msgspec.structs.replace(row, shared=count[row.rank] > 1) for row in found]
    return found, any(row.p is not None for row in found)


class _Tests:
    """Paired tests between runs of one group, of what the index holds."""

    def __init__(self, index: Index, metric: str) -> None:
        self._index = index
        self._metric = metric
        self._values: dict[str, Mapping[str, tuple[float, str]]] = {}

    @classmethod
    def of(cls, index: Index, ranked: Sequence[Standing], choice: Choice) -> Self | None:
        """None for pooled values, for parts of the samples, and where it would take too long."""
        if choice.fail != "worst" or choice.subset != "all":
            return None
        if any(row.score is None or row.score.aggregation != "mean" for row in ranked):
            return None
        samples = sum(row.run.samples for row in ranked)
        if len(ranked) > MOST_RUNS or samples > MOST_SAMPLES:
            return None
        return cls(index, choice.metric)

    def p_value(self, first: RunRow, second: RunRow) -> float | None:
        """Of no difference, by turning the signs of whole groups, as `vgen-eval compare`."""
        import numpy as np

        from vgen_eval.statistics import permute_mean

        one, other = self._of(first), self._of(second)
        both = [name for name in one if name in other]
        if len(both) < 2:
            return None
        gaps = np.array([other[name][0] - one[name][0] for name in both])
        if not gaps.any():
            return 1.0
        groups = np.unique([one[name][1] for name in both], return_inverse=True)[1].reshape(-1)
        found = permute_mean(gaps, groups, permutations=PERMUTATIONS).p_value
        return None if found is None else float(found)

    def _of(self, run: RunRow) -> Mapping[str, tuple[float, str]]:
        """Sample -> its value and its group."""
        if run.key not in self._values:
            key = self._index.names(run).key(self._metric)
            read = ((row, row.values.get(key)) for row in self._index.all_samples(run))
            self._values[run.key] = {
                row.id: (value, row.group) for row, value in read if value is not None
            }
        return self._values[run.key]


def _set_beside(first: Mapping[str, Any], row: Standing) -> Standing:
    """The row with what `vgen-eval compare` would refuse it for, beside the first one."""
    differing = tell_apart([first, facts(row.card)]).identity
    told = [one for one in differing if one.field not in IN_THE_ROW]
    words = [
        f"{one.field} {_short(one.values[1])}, not {_short(one.values[0])}"
        for one in sorted(told, key=_how_long)
    ]
    more = f"; {len(words) - MOST_TOLD} more" if len(words) > MOST_TOLD else ""
    return msgspec.structs.replace(
        row, settings="; ".join(words[:MOST_TOLD]) + more, comparable=not differing
    )


def _how_long(one: Differing) -> tuple[bool, int]:
    """Short facts that both have say most: an option of one alone comes with another component."""
    return None in one.values, max(len(str(value)) for value in one.values)


def _tell_apart(first: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """ "samples.n 100 instead of 10"; "" for the first itself."""
    fields = [f for f in dict.fromkeys((*first, *other)) if first.get(f) != other.get(f)]
    told = [
        f"{field} {_short(other.get(field))} instead of {_short(first.get(field))}"
        for field in fields[:4]
    ]
    return "; ".join(told) + (f"; and {len(fields) - 4} more" if len(fields) > 4 else "")


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return f"{text[:12]}…" if len(text) > 40 else text
