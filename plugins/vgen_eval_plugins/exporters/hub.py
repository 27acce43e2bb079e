"""`.eval_results/*.yaml` of the Hugging Face Hub: a model's numbers on a data set's tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec
import yaml
from vgen_eval.errors import UsageError
from vgen_eval.exporting import File, KeptRun, LeftOut

from vgen_eval_plugins.exporters.naming import component, finished, subset_of

if TYPE_CHECKING:
    from vgen_eval.results.card import ResultCard, Score

__all__ = ["HubResults"]

Repository = Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+/[\w.-]+$")]
Word = Annotated[str, msgspec.Meta(pattern=r"^\S+$")]
Address = Annotated[str, msgspec.Meta(pattern=r"^https?://\S+$")]


class HubOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Under which names the Hub knows what was measured."""

    hub_dataset: Annotated[
        Repository | None,
        msgspec.Meta(description="Benchmark data set, owner/name; null: the task card's `hub`."),
    ] = None
    task_id: Annotated[
        Word | None, msgspec.Meta(description="Id of the task in that data set's eval.yaml.")
    ] = None
    revision: Annotated[
        Word | None,
        msgspec.Meta(description="Commit of that data set; null: the card's, of its own `hub`."),
    ] = None
    metric: Annotated[
        str | None, msgspec.Meta(description="Value to publish; null: the primary.")
    ] = None
    source_url: Annotated[
        Address | None, msgspec.Meta(description="Page of the results; null: no source is named.")
    ] = None
    source_org: Annotated[str | None, msgspec.Meta(description="Organization behind them.")] = None
    source_user: Annotated[str | None, msgspec.Meta(description="User behind them.")] = None


class HubResults:
    """.eval_results/TASK@PROTOCOL.yaml, to be put into the model's repository.

    Runs of several models lie in a folder a model. The Hub takes one number a task id: of two
    runs of a model under one id neither is written. Incomplete runs, runs of a part of the
    samples and null values are left out. Units are those of the result card.
    """

    version: ClassVar[int] = 1
    Options: ClassVar[type[msgspec.Struct]] = HubOptions

    def __init__(self, options: HubOptions) -> None:
        self.options = options

    def export(self, runs: Sequence[KeptRun]) -> Iterator[File | LeftOut]:
        """A file a task and model; UsageError where the Hub's names of a task are not known."""
        self._check(runs)
        several = len({run.card.model for run in runs}) > 1
        fit: list[KeptRun] = []
        for run in runs:
            reason = self._unfit(run.card)
            if reason is None:
                fit.append(run)
            else:
                yield LeftOut(run, reason)
        claims: dict[tuple[str, str], list[KeptRun]] = {}
        for run in fit:
            claims.setdefault((run.card.model, self._dataset(run.card) or ""), []).append(run)
        for rivals in claims.values():
            if len(rivals) == 1:
                (run,) = rivals
                entry = yaml.safe_dump(
                    [self._entry(run.card)], sort_keys=False, allow_unicode=True, width=100
                )
                yield File(self._path(run.card, several=several), [entry.encode()])
                continue
            for run in rivals:
                yield LeftOut(
                    run,
                    f"{len(rivals)} runs of {run.card.model} would be one number under task id "
                    f"'{self.options.task_id}'",
                    "name one run, or --task NAME",
                )

    def _check(self, runs: Sequence[KeptRun]) -> None:
        faults, cures = [], []
        unknown = _some(run.card.task for run in runs if self._dataset(run.card) is None)
        if unknown:
            faults.append(f"no data set of the Hub is named in the card of {unknown}")
            cures.append("--hub-dataset OWNER/NAME, one that is tagged as a benchmark")
        if self.options.task_id is None:
            tasks = _some(run.card.task for run in runs)
            faults.append(f"under which id the Hub's data set knows {tasks} is not said")
            cures.append("--task-id ID, as its eval.yaml has it")
        if faults:
            raise UsageError("; ".join(faults), cure="; ".join(cures))

    def _dataset(self, card: ResultCard) -> str | None:
        repo = (card.dataset_info.get("hub") or {}).get("repo")
        return self.options.hub_dataset or repo

    def _unfit(self, card: ResultCard) -> str | None:
        """Why the run is no number for the Hub; None when it is one."""
        part = subset_of(card)
        if not card.complete:
            return "it is not complete: the Hub shows a number without saying so"
        if part is not None:
            return f"it is of {part}: the Hub shows a number without saying so"
        try:
            score = self._score(card)
        except KeyError:
            return f"it reports no '{self.options.metric}'"
        if score.value is None:
            return f"its {score.metric} is null: {score.reason}"
        return None

    def _score(self, card: ResultCard) -> Score:
        return card.score(self.options.metric)

    def _path(self, card: ResultCard, *, several: bool) -> str:
        name = f".eval_results/{component(f'{card.task}@{card.protocol}')}.yaml"
        return f"{component(card.model)}/{name}" if several else name

    def _entry(self, card: ResultCard) -> dict[str, Any]:
        options, score, ended = self.options, self._score(card), finished(card)
        dataset: dict[str, Any] = {"id": self._dataset(card), "task_id": options.task_id}
        hub = card.dataset_info.get("hub") or {}
        own = hub.get("revision") if dataset["id"] == hub.get("repo") else None
        if options.revision or own:
            dataset["revision"] = options.revision or own
        entry: dict[str, Any] = {"dataset": dataset, "value": score.value}
        if ended is not None:
            entry["date"] = ended.date().isoformat()
        if options.source_url:
            entry["source"] = {"url": options.source_url, "name": "vgen-eval"}
            told = {"org": options.source_org, "user": options.source_user}
            entry["source"] |= {key: text for key, text in told.items() if text}
        return entry | {"notes": _notes(card, score)}


def _some(tasks: Iterable[str]) -> str:
    """The first two of the tasks, and how many more there are; "" for none."""
    names = list(dict.fromkeys(tasks))
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{', '.join(names[:2])}{more}"


def _notes(card: ResultCard, score: Score) -> str:
    """What the value is: metric, unit, direction, samples, interval, protocol, version."""
    direction = "higher" if score.higher_is_better else "lower"
    parts = [f"{score.metric}{f' in {score.unit}' if score.unit else ''}, {direction} is better"]
    interval = score.ci95
    if interval.low is not None and interval.high is not None:
        parts.append(f"95 % interval {interval.low!r} to {interval.high!r}")
    counts = card.counts
    parts += [
        f"{score.n:,} samples",
        f"{counts.model_failure:,} failures scored as {counts.failure_value}",
        f"{card.task}@{card.protocol}, answer {card.answer}, prompt {card.prompt or 'none'}",
        f"vgen-eval {card.versions.get('vgen-eval', 'unknown')}",
        f"content {card.content_digest[:16]}",
    ]
    return "; ".join(parts)
