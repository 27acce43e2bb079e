"""From runs to the numbers that a table may hold, each with the facts it hangs on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from vgen_eval import jsonio
from vgen_eval.distributions import IMPORTED
from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.card import Score
from vgen_eval.results.identity import MODEL, VERSIONS
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.axes import ALL, Dimension
from vgen_eval.results.tables.tags import Tagged, no_tag, read_tagged, tags_to_show
from vgen_eval.statistics import Interval
from vgen_eval.wording import plural

__all__ = ["Entry", "read_entries"]

OPTIONS = f"{MODEL}.options."
DIGEST = f"{OPTIONS}sha256"
"""Of all predictions of one set."""
LETTERS = 12
"""Of that digest, where sets are told apart: what `show RUN` has begins with them."""
MOST_TASKS = 3
NO_TAGS = Tagged({}, {})


class Entry:
    """One score of one run."""

    def __init__(
        self, run: Run, score: Score, *, known: bool = True, by_name: bool = False
    ) -> None:
        """`by_name`: of predictions made elsewhere, which set it is does not count."""
        self.run = run
        self.score = score
        self.known = known
        """False: the card holds no such score, so unit and direction are not known."""
        self.by_name = by_name

    @property
    def is_imported(self) -> bool:
        """Were its answers made elsewhere?"""
        return self.run.card.model_info.get("distribution") == IMPORTED

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Those of its run but versions; and metric and subset, which no run differs in."""
        told = {k: v for k, v in self.run.facts.items() if not k.startswith(f"{VERSIONS}.")}
        if self.by_name:
            told = {k: v for k, v in told.items() if not k.startswith(OPTIONS)}
        elif self.is_imported and DIGEST in told:
            told["model.predictions"] = str(told.pop(DIGEST))[:LETTERS]
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
    lacking: dict[str, list[str]] = {}
    seen = [NO_TAGS if tag is None else read_tagged(run) for run in runs]
    tags = [] if tag is None else tags_to_show(seen, tag.tag)
    for run, tagged in zip(runs, seen, strict=True):
        known = list(dict.fromkeys(s.metric for s in run.card.scores))
        if tag is not None and not tagged.has(tags):
            lacking.setdefault(tag.name, []).append(run.task)
            continue
        wanted = list(metrics) or (known if every else [run.card.primary])
        for metric in wanted:
            if metric in known:
                entries += _of_metric(run, metric, tagged, tags)
            elif metrics:
                lacking.setdefault(metric, []).append(run.task)
            else:
                entries.append(Entry(run, _nothing(metric), known=False))
    if tag is not None and not entries:
        raise no_tag(seen, tag.tag or "")
    return _tell_sets(entries), [_left_out(what, tasks) for what, tasks in lacking.items()]


def _left_out(what: str, tasks: Sequence[str]) -> str:
    """One line, however many runs lack it."""
    names = list(dict.fromkeys(tasks))
    more = len(names) - MOST_TASKS
    listed = ", ".join(names[:MOST_TASKS]) + (f" and {more} more" if more > 0 else "")
    have = "has" if len(names) == 1 else "have"
    return f"{plural(len(names), 'task')} {have} no {what}, left out: {listed}"


def _tell_sets(entries: Sequence[Entry]) -> list[Entry]:
    """Those of predictions made elsewhere by the model's name: each task has a set of its own.

    Where two sets of one name and task differ, these stay apart.
    """
    sets: dict[bytes, set[bytes]] = {}
    kept = []
    for entry in entries:
        if not entry.is_imported:
            kept.append(entry)
            continue
        one = Entry(entry.run, entry.score, known=entry.known, by_name=True)
        options = jsonio.dumps(entry.run.card.model_info.get("options"))
        sets.setdefault(jsonio.dumps(one.facts), set()).add(options)
        kept.append(one)
    return [
        Entry(entry.run, entry.score, known=entry.known)
        if entry.by_name and len(sets[jsonio.dumps(entry.facts)]) > 1
        else entry
        for entry in kept
    ]


def _check_metrics(runs: Sequence[Run], metrics: Sequence[str]) -> None:
    known = list(dict.fromkeys(score.metric for run in runs for score in run.card.scores))
    for metric in metrics:
        if metric not in known:
            raise UsageError(
                f"no run here reports '{metric}'.{nearest(metric, known)}",
                cure=f"they report: {', '.join(known[:20])}{', ...' if len(known) > 20 else ''}",
            )


def _of_metric(run: Run, metric: str, tagged: Tagged, tags: Sequence[str]) -> Iterator[Entry]:
    scores = [s for s in run.card.scores if s.metric == metric and s.selection == "mean"]
    for score in tagged.scores(scores, tags):
        yield Entry(run, score)


def _nothing(metric: str) -> Score:
    reason = f"the card holds no {metric}"
    return Score(
        metric=metric, aggregation="mean", selection="mean", subset=ALL, value=None,
        reason=reason, ci95=Interval(clusters=0, reason=reason), n=0, higher_is_better=True,
        unit="",
    )  # fmt: skip
