"""Runs as those read them who compare: result cards, and per-sample numbers without the data."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.engine.calibration import recall
from vgen_eval.engine.rescore import reopen
from vgen_eval.errors import NotRunnable
from vgen_eval.results.card import ResultCard, read_card
from vgen_eval.results.identity import facts
from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import AttemptTable
from vgen_eval.store.run import RunStore

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Run", "read_runs"]


class Run:
    """A finished run: its card, and what its scores hold of each sample."""

    def __init__(self, path: Path, card: ResultCard) -> None:
        self.path = path
        self.card = card

    @property
    def task(self) -> str:
        """task@protocol."""
        return f"{self.card.task}@{self.card.protocol}"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What its result hangs on."""
        return facts(self.card)

    def summary(self, catalog: Catalog) -> Summary:
        """Its numbers sample by sample; the data of the task need not be there.

        NotRunnable where its scores are of other decoders or metrics than those installed.
        """
        store = RunStore(self.path)
        job = recall(reopen(self.path, catalog, with_data=False), store)
        if job is None or not store.scores_path(job.score_digest).exists():
            raise NotRunnable(
                f"{self.path}: its scores are of other decoders or metrics than those installed",
                cure=f"vgen-eval score {self.path}",
            )
        table = AttemptTable(job.task.metrics, job.rows())
        table.fill(store.scores(job.score_digest, job.rows()))
        return Summary(job, table)


def read_runs(paths: Iterable[Path]) -> tuple[list[Run], list[str]]:
    """The runs in these run directories, each once, and why others cannot be read, a line each."""
    runs, faults = [], []
    for path in dict.fromkeys(path.resolve() for path in paths):
        try:
            runs.append(Run(path, read_card(path)))
        except NotRunnable as exc:
            faults.append(str(exc))
    return runs, faults
