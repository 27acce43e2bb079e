"""What a gallery says of its rule: caption, ids, the commands that write the same samples."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vgen_eval.errors import UsageError
from vgen_eval.viewer.index.selecting import Chosen
from vgen_eval.viewer.labels import name_runs
from vgen_eval.viewer.pages.commands import HOME, quote
from vgen_eval.viewer.records import CHOSEN, Query, RunRow

__all__ = ["GRAMMAR", "Choice", "Refused", "tell_choice", "tell_refusal"]

GRAMMAR = (
    "median:METRIC, top:METRIC[:q=.9], worst:METRIC, METRIC<=VALUE, advantage:A-B[:above-median], "
    "best-of:MODEL, random:SEED, ids:ID,ID; METRIC@MODEL, :per-tag=TAG"
)
"""Of the rules that one run's gallery can follow."""
MOST_TOLD = 500
"""Ids that a page lists."""
MOST_NAMED = 60
"""Samples that a command names one by one."""


class Refused(msgspec.Struct, frozen=True):
    """Why a rule takes nothing, and what helps."""

    what: str
    cure: str


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that took samples."""

    words: str
    seed: int | None
    filtered: bool
    """The rule looked at what filters left."""
    n_considered: int
    n_matched: int
    others: tuple[str, ...]
    """Other runs that it looked at: what they are called, and their paths."""
    samples: tuple[tuple[str, float | None], ...]
    """Ids, with what each was chosen by."""
    more: int
    """Samples that are not listed."""
    commands: tuple[str, ...]
    """That write the same samples; () where they would have to name too many."""


def tell_choice(chosen: Chosen, query: Query, *, results: str) -> Choice:
    """`results`: the folder's name, for the commands."""
    selection = chosen.selection
    numbers = selection.numbers or (None,) * len(selection.ids)
    pairs = tuple(zip(selection.ids, numbers, strict=True))
    filtered = any((query.status, query.flag, query.tag, query.score, query.q))
    labels = name_runs(chosen.runs)
    return Choice(
        words=selection.words,
        seed=selection.seed,
        filtered=filtered,
        n_considered=selection.n_considered,
        n_matched=selection.n_matched,
        others=tuple(
            f"{label} ({run.path})" for label, run in zip(labels[1:], chosen.runs[1:], strict=True)
        ),
        samples=pairs[:MOST_TOLD],
        more=max(len(pairs) - MOST_TOLD, 0),
        commands=tuple(_commands(chosen.runs, query, selection.ids, filtered, results)),
    )


def _commands(
    runs: Sequence[RunRow], query: Query, ids: Sequence[str], filtered: bool, results: str
) -> list[str]:
    """By the rule, or by ids where filters went before it: commands have no filters."""
    words = [run.path for run in runs]
    if results != HOME:
        words += ["--output", results]
    if not filtered:
        words += ["--select", query.select, "-n", str(query.n or CHOSEN)]
    elif len(ids) <= MOST_NAMED:
        words += [word for name in ids for word in ("--sample", name)]
    else:
        return []
    told = " ".join(map(quote, words))
    return [f"vgen-eval report {told} -o page.html", f"vgen-eval figure {told} -o figure.png"]


def tell_refusal(exc: UsageError) -> Refused:
    """As a page says it: there is no option here."""
    what = exc.what.removeprefix("--select: ").removeprefix("--select ")
    return Refused(what, exc.cure or "")
