"""From runs to the numbers that a table may hold, each with the facts it hangs on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from vgen_eval import jsonio
from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import Score
from vgen_eval.results.identity import VERSIONS
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.axes import ALL, Dimension
from vgen_eval.statistics import Interval
from vgen_eval.wording import plural

__all__ = ["Entry", "keep_newest", "read_entries"]


class Entry:
    """One score of one run."""

    def __init__(self, run: Run, score: Score, *, known: bool = True) -> None:
        self.run = run
        self.score = score
        self.known = known
        """False: the card holds no such score, so unit and direction are not known."""

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Those of its run but versions; and metric and subset, which no run differs in."""
        told = {k: v for k, v in self.run.facts.items() if not k.startswith(f"{VERSIONS}.")}
        return told | {"metric": self.score.metric, "subset": self.score.subset}

    def key(self, fields: Sequence[str]) -> bytes:
        """Equal for entries that agree in these fields."""
        return jsonio.dumps([self.facts.get(field) for field in fields])


def read_entries(
    runs: Sequence[Run], axes: Sequence[Dimension], metrics: Sequence[str]
) -> tuple[list[Entry], list[str]]:
    """The numbers that are asked for, and what is left out, a line each.

    Without `metrics` each run's primary, or, where metrics are laid out, all. UsageError for a
    metric, or a tag, that no run has.
    """
    _check_metrics(runs, metrics)
    every = any(dimension.kind == "metric" for dimension in axes)
    tag = next((dimension for dimension in axes if dimension.kind == "tag"), None)
    entries: list[Entry] = []
    notes: list[str] = []
    for run in runs:
        known = list(dict.fromkeys(s.metric for s in run.card.scores))
        if tag is not None and not _has_tag(run, tag):
            notes.append(f"{run.task}: its samples have no {tag.name}, left out")
            continue
        wanted = list(metrics) or (known if every else [run.card.primary])
        for metric in wanted:
            if metric in known:
                entries += _of_metric(run, metric, tag)
            elif metrics:
                notes.append(f"{run.task}: reports no {metric}, left out")
            else:
                entries.append(Entry(run, _nothing(metric), known=False))
    if tag is not None and not entries:
        raise _no_tag(runs, tag)
    return entries, list(dict.fromkeys(notes))


def _check_metrics(runs: Sequence[Run], metrics: Sequence[str]) -> None:
    known = list(dict.fromkeys(score.metric for run in runs for score in run.card.scores))
    for metric in metrics:
        if metric not in known:
            raise UsageError(
                f"no run here reports '{metric}'.{nearest(metric, known)}",
                cure=f"they report: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}",
            )


def _has_tag(run: Run, tag: Dimension) -> bool:
    return any(s.subset != ALL and tag.takes(s.subset) for s in run.card.scores)


def _of_metric(run: Run, metric: str, tag: Dimension | None) -> Iterator[Entry]:
    for score in run.card.scores:
        if score.metric != metric or score.selection != "mean":
            continue
        if score.subset == ALL if tag is None else tag.takes(score.subset):
            yield Entry(run, score)


def _nothing(metric: str) -> Score:
    reason = f"the card holds no {metric}"
    return Score(
        metric=metric, aggregation="mean", selection="mean", subset=ALL, value=None,
        reason=reason, ci95=Interval(clusters=0, reason=reason), n=0, higher_is_better=True,
        unit="",
    )  # fmt: skip


def _no_tag(runs: Sequence[Run], tag: Dimension) -> UsageError:
    subsets = {score.subset for run in runs for score in run.card.scores} - {ALL}
    known = sorted({subset.partition("=")[0] for subset in subsets})
    if not known:
        return UsageError("no run here has samples with tags", cure="lay the table out by task")
    return UsageError(
        f"no run here has the tag '{tag.tag}'.{nearest(tag.tag or '', known)}",
        cure=f"they have: {', '.join(known)}",
    )


def keep_newest(entries: Sequence[Entry]) -> tuple[list[Entry], list[str]]:
    """Of entries that agree in every fact the newest; and which runs gave way, a line each."""
    fields = sorted({field for entry in entries for field in entry.facts})
    alike: dict[bytes, list[Entry]] = {}
    for entry in entries:
        alike.setdefault(entry.key(fields), []).append(entry)
    kept, notes = [], []
    for group in alike.values():
        newest = max(group, key=lambda entry: str(entry.run.card.volatile.get("finished", "")))
        kept.append(newest)
        if len(group) > 1:
            card = newest.run.card
            versions = _differing_versions([entry.run for entry in group])
            told = f" but for versions ({versions})" if versions else " in everything"
            notes.append(
                f"{card.model}, {newest.run.task}: {plural(len(group), 'run')} alike{told}; "
                f"the newest is shown, {card.run}"
            )
    return kept, list(dict.fromkeys(notes))


def _differing_versions(runs: Sequence[Run]) -> str:
    names = sorted({name for run in runs for name in run.card.versions})
    seen = {name: {str(run.card.versions.get(name, "none")) for run in runs} for name in names}
    return ", ".join(
        f"{name} {' and '.join(sorted(found))}" for name, found in seen.items() if len(found) > 1
    )
