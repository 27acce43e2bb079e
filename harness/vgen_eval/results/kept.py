"""A finished run as exporters see it: its card, its metrics, and every attempt, read lazily."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from vgen_eval import jsonio
from vgen_eval.engine.plan import Job
from vgen_eval.errors import MissingKey, NotRunnable, UsageError
from vgen_eval.exporting import NOT_RUN, Attempt
from vgen_eval.results.card import ResultCard
from vgen_eval.results.reading import Run, read_runs, say_fault
from vgen_eval.secrets import read_secret
from vgen_eval.store.regular import open_regular
from vgen_eval.store.run import RunStore
from vgen_eval.types import Item, Value

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Kept", "open_kept"]


class Kept:
    """One run, its card in step with its lines."""

    def __init__(self, run: Run, job: Job) -> None:
        self.path = run.path
        self.card: ResultCard = run.card
        self.values: tuple[Value, ...] = tuple(v for m in job.task.metrics for v in m.values)
        self.items: tuple[Item, ...] = job.items
        self._attempts = job.attempts
        self._digest = job.score_digest

    def attempts(self) -> Iterator[Attempt]:
        """Every attempt that was asked for, in the data's order; one is held at a time."""
        store = RunStore(self.path)
        rows = store.rows()
        calls, scores = store.predictions_path, store.scores_path(self._digest)
        call_at, score_at = rows.offsets(calls), rows.offsets(scores)
        with contextlib.ExitStack() as files:
            call_file = files.enter_context(open_regular(calls)) if calls.exists() else None
            score_file = files.enter_context(open_regular(scores))
            for at, item in enumerate(self.items):
                for attempt in range(self._attempts):
                    row = at * self._attempts + attempt
                    call = _line(call_file, call_at[row])
                    yield self._join(item, attempt, call, _line(score_file, score_at[row]))

    def _join(
        self, item: Item, attempt: int, call: Mapping[str, Any], score: Mapping[str, Any]
    ) -> Attempt:
        answer = call.get("answer")
        return Attempt(
            item=item,
            attempt=attempt,
            status=score.get("status", NOT_RUN),
            reason=score.get("reason"),
            flags=tuple(score.get("flags", ())),
            values=score.get("values", {}),
            substitute=bool(score.get("substitute", False)),
            prediction=score.get("prediction", {}),
            answer=answer,
            kept=self._kept(answer),
            seen=tuple(call.get("geometry", {}).get("sha256", ())),
            took=call.get("volatile", {}),
        )

    def _kept(self, answer: Mapping[str, Any] | None) -> str | None:
        """Where the file of an answer lies below the results folder, if it is there."""
        name = answer.get("file") if answer else None
        if not isinstance(name, str) or not (self.path / "outputs" / Path(name).name).is_file():
            return None
        return f"{self.card.run}/outputs/{Path(name).name}"


def _line(file: BinaryIO | None, offset: int) -> Mapping[str, Any]:
    """The record of the line that begins there; {} for none."""
    if file is None or offset < 0:
        return {}
    file.seek(offset)
    record: Mapping[str, Any] = jsonio.loads(file.readline())
    return record


def open_kept(paths: Iterable[Path], catalog: Catalog) -> tuple[list[Kept], list[str]]:
    """The runs in these directories, and why others cannot be exported, a line each."""
    runs, faults = read_runs(paths, catalog)
    found: dict[str, Kept] = {}
    for run in runs:
        try:
            kept = _open(run, catalog)
        except NotRunnable as exc:
            faults.append(say_fault(exc))
            continue
        other = found.get(kept.card.run)
        if other is None:
            found[kept.card.run] = kept
        elif other.card.content_digest != kept.card.content_digest:
            faults.append(
                f"{kept.path}: {other.path} has the same name and other answers: one only"
            )
    return list(found.values()), faults


def _open(run: Run, catalog: Catalog) -> Kept:
    """NotRunnable where the card has no number to export."""
    job = run.open(catalog)
    _learn_key(RunStore(run.path))
    try:
        run.card.score()
    except KeyError:
        raise NotRunnable(
            f"{run.path}: its card has no score of its primary, '{run.card.primary}'",
            cure=f"vgen-eval score {run.path}",
        ) from None
    return Kept(run, job)


def _learn_key(store: RunStore) -> None:
    """Lets `redact` know the model's key, should it be set here: nothing that holds it goes out."""
    needs = store.record.get("cards", {}).get("model", {}).get("needs", {})
    variable = needs.get("key_env") if isinstance(needs, Mapping) else None
    if isinstance(variable, str):
        with contextlib.suppress(MissingKey, UsageError):
            read_secret(variable)
