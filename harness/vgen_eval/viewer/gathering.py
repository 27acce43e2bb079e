"""What a figure and a report begin with: runs of one task, the samples chosen, their attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.figures.chosen import choose as belonging
from vgen_eval.results.reading import Run
from vgen_eval.results.tables.axes import role_of
from vgen_eval.results.tables.one_task import of_task
from vgen_eval.viewer.choosing import candidates_of
from vgen_eval.viewer.looking import Look, Looker
from vgen_eval.viewer.ranking import Candidates
from vgen_eval.viewer.records import SampleRow
from vgen_eval.viewer.rules import PRIMARY
from vgen_eval.viewer.selection import Selection, choose, name_samples, tell_ids

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Gathered", "attempts_of", "gather", "gather_tasks"]


class Gathered(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Runs side by side and the samples to show of them."""

    runs: tuple[Run, ...]
    candidates: tuple[Candidates, ...]
    """Of the runs, in their order: what they are called, and their samples."""
    selection: Selection
    looker: Looker
    attempt: int
    """From 0."""
    notes: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """What the runs are called."""
        return [one.label for one in self.candidates]

    @property
    def roles(self) -> list[str]:
        """What their models are: model, ceiling, floor, ..."""
        return [role_of(run.card) for run in self.runs]

    def looks(self, sample: str) -> list[Look]:
        """The attempt at the sample, of each run."""
        return [
            self.looker.look(run.path, sample, min(self.attempt, attempts_of(run) - 1))
            for run in self.runs
        ]

    def row(self, at: int, sample: str) -> SampleRow:
        """The sample's numbers in the run of that number."""
        return next(row for row in self.candidates[at].rows if row.id == sample)

    def told(self) -> dict[str, Any]:
        """How the samples were chosen, of which runs: what it takes to choose them again."""
        return {
            "task": self.runs[0].task,
            "select": self.selection.rule,
            "selection": self.selection.words,
            "seed": self.selection.seed,
            "ids": list(self.selection.ids),
            "numbers": list(self.selection.numbers),
            "n_considered": self.selection.n_considered,
            "n_matched": self.selection.n_matched,
            "attempt": self.attempt + 1,
            "runs": [
                {
                    "label": label,
                    "run": run.card.run,
                    "model": run.card.model,
                    "role": role,
                    "content_digest": run.card.content_digest,
                }
                for run, label, role in zip(self.runs, self.labels, self.roles, strict=True)
            ],
        }


def gather(
    runs: Sequence[Run], catalog: Catalog, *, n: int, select: str | None = None,
    samples: Sequence[str] = (), task: str | None = None, attempt: int = 0,
    anyway: bool = False, data_root: str | None = None,
) -> Gathered:  # fmt: skip
    """The runs of one task that go together, in their order, and the samples that a rule takes.

    `select`: a rule; `samples`: ids in its place. Neither: `decides` of several runs, `worst` of
    one or where several are equal on all; by the primary, else by the first value that is of
    single samples and has a better end; where there is none, by chance (`random:0`).
    UsageError as `results.figures.chosen.choose` and as `selection.choose`.
    """
    chosen = belonging(runs, task=task, anyway=anyway)
    kept = tuple(run for run in runs if any(run is one for one in chosen.runs.values()))
    _check_attempt(kept, attempt)
    candidates = tuple(candidates_of(kept, catalog))
    if samples:
        selection = name_samples(samples, candidates, option="--sample")
    elif select is not None:
        selection = choose(select, candidates, n)
    else:
        selection = _by_itself(candidates, n)
    return Gathered(
        runs=kept,
        candidates=candidates,
        selection=selection,
        looker=Looker(catalog, data_root=data_root),
        attempt=attempt,
        notes=chosen.notes,
    )


def gather_tasks(
    runs: Sequence[Run], catalog: Catalog, *, n: int, select: str | None = None,
    samples: Sequence[str] = (), task: str | None = None, attempt: int = 0,
    anyway: bool = False, data_root: str | None = None,
) -> list[Gathered]:  # fmt: skip
    """As `gather`, of runs of several tasks: one for each task, in the order of the runs.

    Named samples are shown by the tasks that have them; UsageError for one that none has.
    """
    kept = of_task(runs, task)
    of_each: dict[str, list[Run]] = {}
    for run in kept:
        of_each.setdefault(run.task, []).append(run)
    own_samples = {name: list(samples) for name in of_each}
    if samples and len(of_each) > 1:
        own_samples = _share_out(samples, of_each)
    return [
        gather(
            own, catalog, n=n, select=select, samples=own_samples[name], attempt=attempt,
            anyway=anyway, data_root=data_root,
        )
        for name, own in of_each.items()
        if own_samples[name] or not samples
    ]  # fmt: skip


def _share_out(
    samples: Sequence[str], of_each: Mapping[str, Sequence[Run]]
) -> dict[str, list[str]]:
    """Task -> the named samples that its runs have."""
    ids = {name: {one for run in own for one in run.groups} for name, own in of_each.items()}
    everywhere = set().union(*ids.values())
    for sample in samples:
        if sample not in everywhere:
            raise UsageError(
                f"--sample: no sample '{sample}' of these runs.{nearest(sample, everywhere)}",
                cure=f"they have {tell_ids(everywhere)}",
            )
    return {name: [sample for sample in samples if sample in own] for name, own in ids.items()}


def _by_itself(candidates: Sequence[Candidates], n: int) -> Selection:
    """Where no rule was given: the first of these that finds anything."""
    metric = _first_metric(candidates[0])
    if not metric:
        drawn = choose("random:0", candidates, n)
        why = f"{candidates[0].primary or 'its primary'} says nothing of single samples"
        return msgspec.structs.replace(drawn, words=f"{drawn.words}; {why}")
    decides = "decides" if metric == PRIMARY else f"decides:{metric}"
    for rule in (*([decides] if len(candidates) > 1 else []), f"worst:{metric}"):
        try:
            return choose(rule, candidates, n)
        except UsageError:
            continue
    return choose("random:0", candidates, n)


def _first_metric(run: Candidates) -> str:
    """The primary, else the first value, that some sample has and of which more or less is better;
    "" where there is none."""
    if any(row.score is not None for row in run.rows):
        return PRIMARY
    has = {name for row in run.rows for name, value in row.values.items() if value is not None}
    return next((name for name in run.directions if run.aliases.get(name, name) in has), "")


def attempts_of(run: Run) -> int:
    """Attempts at a sample; 1 where the card does not say."""
    return int(run.card.selection.get("attempts") or 1)


def _check_attempt(runs: Sequence[Run], attempt: int) -> None:
    most = max(attempts_of(run) for run in runs)
    if not 0 <= attempt < most:
        raise UsageError(
            f"--attempt {attempt + 1}: the runs have {most} at a sample", cure="--attempt 1"
        )
