"""What a report says of its runs before any sample: scores with intervals, paired differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from vgen_eval.errors import NotRunnable, UsageError
from vgen_eval.results.card import Bound, Score
from vgen_eval.results.contrast import contrast
from vgen_eval.results.contrast_pairs import LEVEL, Pair
from vgen_eval.viewer.gathering import Gathered

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Difference", "Differences", "RunLine", "list_runs", "pair_runs"]

MOST_VALUES = 60
"""Of a run: those of subsets stay in its card."""


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the first table."""

    label: str
    role: str
    run: str
    prompt: str | None
    answer: str
    score: Score | None
    """Of the primary; None where the card has none."""
    complete: bool
    answered: int
    failed: int
    not_run: int
    expected: int
    statuses: tuple[tuple[str, int], ...]
    others: tuple[Score, ...]
    """Every value over all samples."""
    floor: Bound | None = None
    ceiling: Bound | None = None
    """Of the primary, by runs of their own."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The second run against the first, by the primary."""

    first: str
    second: str
    pair: Pair
    verdict: str
    """In words: better, worse, equal, not shown; "" where nothing can be said."""


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """Every two runs over the samples that both have scored."""

    metric: str
    unit: str
    n: int
    tests: int
    pairs: tuple[Difference, ...]


def list_runs(gathered: Gathered) -> Iterator[RunLine]:
    """One line a run, in their order."""
    for run, label, role in zip(gathered.runs, gathered.labels, gathered.roles, strict=True):
        card = run.card
        try:
            score = card.score()
        except KeyError:
            score = None
        own = [s for s in card.scores if s.subset == "all" and s.selection == "mean"]
        yield RunLine(
            label=label,
            role=role,
            run=card.run,
            prompt=card.prompt,
            answer=card.answer,
            score=score,
            complete=card.complete,
            answered=card.counts.answered,
            failed=card.counts.failed,
            not_run=card.counts.not_run,
            expected=card.counts.expected,
            statuses=tuple(card.counts.statuses.items()),
            others=tuple(own[:MOST_VALUES]),
            floor=card.floor,
            ceiling=card.ceiling,
        )


def pair_runs(
    gathered: Gathered, catalog: Catalog, *, anyway: bool = False
) -> tuple[Differences | None, str]:
    """Paired differences by the primary, or None and why there are none; "" for a single run."""
    if len(gathered.runs) < 2:
        return None, ""
    try:
        found = contrast(gathered.runs, catalog, pairing="all", anyway=anyway)
    except (UsageError, NotRunnable) as exc:
        return None, exc.what
    measure = found.measures[0]
    whole = measure.parts[0]
    by_path = {
        str(run.path): name for run, name in zip(gathered.runs, gathered.labels, strict=True)
    }
    labels = [by_path.get(side.run, side.label) for side in found.runs]
    return (
        Differences(
            metric=measure.metric,
            unit=measure.unit,
            n=whole.n,
            tests=found.tests,
            pairs=tuple(_pairs(whole.pairs, labels, higher_is_better=measure.higher_is_better)),
        ),
        "",
    )


def _pairs(
    pairs: Sequence[Pair], labels: Sequence[str], *, higher_is_better: bool
) -> Iterator[Difference]:
    for pair in pairs:
        yield Difference(
            first=labels[pair.first],
            second=labels[pair.second],
            pair=pair,
            verdict=_verdict(pair, higher_is_better=higher_is_better),
        )


def _verdict(pair: Pair, *, higher_is_better: bool) -> str:
    if pair.difference is None or pair.p_corrected is None:
        return ""
    if pair.p_corrected >= LEVEL:
        return "equal" if not pair.difference and not pair.wins and not pair.losses else "not shown"
    return "better" if (pair.difference > 0) == higher_is_better else "worse"
