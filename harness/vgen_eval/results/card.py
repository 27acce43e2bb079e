"""The result card: its record, its schema version, its two files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card_parts import check_parts
from vgen_eval.statistics import Interval
from vgen_eval.store.regular import read_regular
from vgen_eval.store.run import is_folder, write_atomic

__all__ = [
    "SCHEMA_VERSION",
    "Bound",
    "Counts",
    "ResultCard",
    "Score",
    "json_schema",
    "read_card",
    "write_card",
]

SCHEMA_VERSION = "1.2"
"""Raised in its second part when optional fields are added, in its first never in silence."""


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """One number, keyed by metric, aggregation, selection and subset."""

    metric: Annotated[str, _doc("Value that a metric reports, as the protocol names it.")]
    aggregation: Annotated[
        str, _doc("mean: of per-sample values; pooled: from the merged statistics.")
    ]
    selection: Annotated[
        str, _doc("mean: over attempts; best_of_P: oracle best of the first P, uses the truth.")
    ]
    subset: Annotated[str, _doc("all, or tag=value.")]
    value: Annotated[
        float | None, _doc("Over all expected samples, failures as the failure value.")
    ]
    reason: Annotated[str | None, _doc("Why the value is null.")] = None
    answered_only: Annotated[float | None, _doc("The same over answered samples alone.")] = None
    ci95: Annotated[Interval, _doc("95 % interval and standard error of the value.")]
    n: Annotated[int, _doc("Samples the value is made of.")]
    higher_is_better: bool
    unit: str


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Attempts by what they came to; the four groups and `missing` add up to `expected`."""

    expected: int
    answered: int
    model_failure: int
    infrastructure: int
    data_fault: int
    not_run: Annotated[int, _doc("Attempts that have no line yet.")]
    statuses: Annotated[Mapping[str, int], _doc("By status.")]
    flags: Annotated[Mapping[str, int], _doc("Answers that carry each flag.")]
    failure_value: Annotated[
        str, _doc("What a model failure is scored as; a refusal then scores like a blind floor.")
    ]
    missing_ids: Annotated[tuple[str, ...], _doc("Samples without an answer, at most 1000.")] = ()
    unknown_ids: Annotated[
        tuple[str, ...], _doc("Ids in imported predictions that the task does not have.")
    ] = ()

    @property
    def bad_samples(self) -> int:
        """Attempts that came to nothing because files of their sample are faulty."""
        return self.statuses.get("bad_sample", 0)

    @property
    def ended(self) -> int:
        """What tables call done: attempts that were made, whatever they came to."""
        return self.expected - self.not_run

    @property
    def done(self) -> int:
        """Attempts that came to a score, or have no truth to score."""
        return self.expected - self.not_run - self.infrastructure - self.bad_samples

    @property
    def failed(self) -> int:
        """What tables call failed, a part of `ended`, whosever fault it is: model, call or data."""
        return self.model_failure + self.infrastructure + self.bad_samples


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """The primary metric of the ceiling or the floor, from its own run."""

    model: str
    run: Annotated[str, _doc("Its run directory, below the results folder.")]
    metric: str
    value: float | None


class ResultCard(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to."""

    schema_version: str = SCHEMA_VERSION
    run: Annotated[str, _doc("The run's directory, below the results folder.")]
    complete: Annotated[bool, _doc("False while attempts are missing or failed by infrastructure.")]
    task: str
    protocol: str
    model: str
    answer: Annotated[str, _doc("Answer form.")]
    prompt: Annotated[str | None, _doc("Prompt variant.")]
    primary: Annotated[str, _doc("The metric that ranks models under this protocol.")]
    counts: Counts
    scores: tuple[Score, ...]
    ceiling: Bound | None = None
    floor: Bound | None = None
    content_digest: Annotated[str, _doc("Equal for equal runs, however they were interrupted.")]
    task_info: Annotated[Mapping[str, Any], _doc("Distribution, version, digests, family.")]
    protocol_info: Annotated[
        Mapping[str, Any],
        _doc("Prompt text, input preparation, decoder, encoder, metrics, failure value, seed."),
    ]
    model_info: Annotated[
        Mapping[str, Any],
        _doc(
            "Distribution, role, adapter, checkpoint, settings, licence, exposure, digests; facts: "
            "what the adapter found out of the model."
        ),
    ]
    dataset_info: Annotated[Mapping[str, Any], _doc("Reader, revision, fingerprint, licence.")]
    selection: Annotated[Mapping[str, Any], _doc("Subset rule, number of samples, attempts.")]
    plugins: Annotated[
        tuple[Mapping[str, Any], ...],
        _doc("Plugins used: version, origin, and what `check plugin` came to where it was made."),
    ]
    versions: Annotated[Mapping[str, str], _doc("Harness, Python and libraries.")]
    hardware: Annotated[Mapping[str, Any], _doc("Machine, processor, cores, memory.")]
    volatile: Annotated[
        Mapping[str, Any],
        _doc(
            "Calls, tries, usage, cost, rates, latency, peak memory, models as services name them."
        ),
    ]

    def __repr__(self) -> str:
        counts = self.counts
        state = "" if self.complete else ", incomplete"
        return (
            f"<ResultCard {self.task}@{self.protocol} {self.model}: {self.primary} "
            f"{self.score().value}, {counts.answered} of {counts.expected} answered{state}>"
        )

    def score(
        self,
        metric: str | None = None,
        *,
        subset: str = "all",
        selection: str = "mean",
    ) -> Score:
        """The score of that key; the primary metric when none is named. KeyError otherwise."""
        wanted = (metric or self.primary, subset, selection)
        for score in self.scores:
            if (score.metric, score.subset, score.selection) == wanted:
                return score
        raise KeyError(wanted)


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of `result_card.json`."""
    schema = msgspec.json.schema(ResultCard)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"vgen-eval/result_card/{SCHEMA_VERSION}",
        "title": "vgen-eval result card",
        **schema,
    }


def write_card(folder: Path, card: ResultCard) -> None:
    """Writes `result_card.json` and `result_card.md`."""
    from vgen_eval.results.markdown import render

    record = msgspec.to_builtins(card)
    write_atomic(folder / "result_card.json", jsonio.pretty(record).encode())
    write_atomic(folder / "result_card.md", render(card).encode())


def read_card(folder: Path) -> ResultCard:
    """The card of a run; NotRunnable when there is none or it is of another major version."""
    path = folder / "result_card.json"
    try:
        record = jsonio.loads(read_regular(path))
        version = str(record.get("schema_version", ""))
        if version.split(".", maxsplit=1)[0] != SCHEMA_VERSION.split(".", maxsplit=1)[0]:
            raise NotRunnable(f"{path}: schema {version or 'unknown'}, {SCHEMA_VERSION} wanted")
        check_parts(record)
        return msgspec.convert(record, ResultCard)
    except (FileNotFoundError, NotADirectoryError):
        raise NotRunnable(
            f"{folder}: no result card yet (the run has not ended)",
            cure=f"vgen-eval score {folder}, or the command that began it",
        ) from None
    except OSError as exc:
        raise NotRunnable(
            f"{path}: cannot be read: {exc.strerror or exc}",
            cure="move the folder away" if is_folder(path) else "mend its permissions",
        ) from exc
    except (ValueError, AttributeError) as exc:
        raise NotRunnable(
            f"{path}: damaged: {exc}", cure=f"vgen-eval score {folder} writes it anew"
        ) from exc
