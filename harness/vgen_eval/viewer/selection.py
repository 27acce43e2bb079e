"""Selection rules: which samples a figure, a report or a gallery shows, and how it is told.

median:METRIC            nearest the median of the value
top:METRIC[:q=.9]        the best; with q none below that quantile of goodness
worst:METRIC             the worst
advantage:A-B            where A is ahead of B the farthest; also :above-median, :metric=METRIC
METRIC<=VALUE            also <, >, >=, =; by id
best-of:MODEL            the best of a model's samples by the primary
random:SEED              drawn
decides[:METRIC]         where the runs lie farthest apart
ids:ID[,ID...]           named

A METRIC is a value of single samples, or `primary`; of the first run, METRIC@MODEL of another.
`:per-tag=TAG` after any of the first four, best-of and decides takes one sample a value of the tag.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.viewer.ranking import Candidates, Known, common, rank
from vgen_eval.viewer.rules import Rule, parse
from vgen_eval.wording import plural

__all__ = ["Candidates", "Rule", "Selection", "choose", "name_samples", "parse", "tell_ids"]

MOST_IDS = 3


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The samples chosen, and everything it takes to choose them again."""

    rule: str
    """As it was given."""
    words: str
    """The same, looked up, for a caption."""
    ids: tuple[str, ...]
    """In the order in which they are to be shown."""
    numbers: tuple[float | None, ...] = ()
    """What each was chosen by: a value, an advantage, a distance between runs."""
    n_considered: int
    """Samples that were looked at: those that every run has tried."""
    n_matched: int
    """Those that the rule could take."""
    seed: int | None = None


def tell_ids(known: Collection[str]) -> str:
    """ "10 samples, such as a, b, c"; all of them where they are few."""
    first = ", ".join(sorted(known)[:MOST_IDS])
    such = ": " if len(known) <= MOST_IDS else ", such as "
    return f"{plural(len(known), 'sample')}{such}{first}"


def name_samples(
    ids: Iterable[str], runs: Sequence[Candidates], *, option: str = "--select"
) -> Selection:
    """These samples, in the order given; UsageError for one that not every run has.

    `option`: what named them.
    """
    ids = tuple(dict.fromkeys(ids))
    known = common(runs)
    for name in ids:
        if name not in known:
            raise UsageError(
                f"{option}: no sample '{name}' that every run has tried.{nearest(name, known)}",
                cure=f"there are {tell_ids(known)}",
            )
    return Selection(
        rule=f"ids:{','.join(ids)}",
        words=f"{plural(len(ids), 'sample')} named by id, of {len(known):,}",
        ids=ids,
        n_considered=len(known),
        n_matched=len(ids),
    )


def choose(rule: Rule | str, runs: Sequence[Candidates], n: int) -> Selection:
    """At most `n` samples that the rule takes, of those that every run has tried; ties by id.

    UsageError for a value, a model or a tag that is not there, with the nearest; and where the
    rule takes no sample, with how many were looked at.
    """
    if isinstance(rule, str):
        rule = parse(rule)
    if not runs:
        raise UsageError("--select: no run to choose from")
    known = common(runs)
    if not known:
        raise UsageError(
            "--select: no sample that every run has tried", cure="name runs over the same samples"
        )
    if rule.kind == "ids":
        named = (rule.subject,) if rule.subject in known else rule.subject.split(",")
        chosen = name_samples(named, runs)
        return msgspec.structs.replace(chosen, rule=rule.text)
    ranked = rank(rule, runs, known)
    found, of_tag = list(ranked.found), ""
    if not found:
        raise UsageError(
            f"--select {rule.text}: finds none of {plural(len(known), 'sample')}"
            f"{f': {ranked.missed}' if ranked.missed else ''}",
            cure="another value or rule; vgen-eval show RUN tells the values of a run",
        )
    matched = len(found)
    if rule.per_tag:
        found = _one_a_value(rule, found, known)
        of_tag = f", one for each {rule.per_tag}"
    found = found[:n]
    words = ranked.words.replace("{n}", plural(len(found), "sample"), 1)
    ties = "; ties by id" if ranked.ties else ""
    return Selection(
        rule=rule.text,
        words=f"{words}{of_tag}, of {plural(len(known), 'sample')}{ties}",
        ids=tuple(name for name, _ in found),
        numbers=tuple(number for _, number in found),
        n_considered=len(known),
        n_matched=matched,
        seed=rule.seed,
    )


def _one_a_value(
    rule: Rule, found: Sequence[tuple[str, float | None]], known: Known
) -> list[tuple[str, float | None]]:
    """The first sample of each value of the tag; those without the tag are left out."""
    tags = {tag for rows in known.values() for tag in rows[0].tags}
    if rule.per_tag not in tags:
        cure = f"per-tag={'|'.join(sorted(tags))}" if tags else "these samples have no tags"
        raise UsageError(
            f"--select {rule.text}: no sample has the tag '{rule.per_tag}'."
            f"{nearest(rule.per_tag, tags)}",
            cure=cure,
        )
    first: dict[str, tuple[str, float | None]] = {}
    for name, number in found:
        value = known[name][0].tags.get(rule.per_tag)
        if value is not None:
            first.setdefault(value, (name, number))
    return list(first.values())
