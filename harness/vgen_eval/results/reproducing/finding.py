"""The run that a cell takes its number from: the one that departs least from the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from vgen_eval.distributions import IMPORTED, LOCAL
from vgen_eval.pairing import Unpaired
from vgen_eval.results.card import ResultCard
from vgen_eval.results.published import Row
from vgen_eval.results.reading import Run, read_runs
from vgen_eval.results.reproducing.asking import Part
from vgen_eval.results.reproducing.departures import (
    Departure,
    Reference,
    make_reference,
)
from vgen_eval.results.reproducing.verdicts import Measured
from vgen_eval.store.run import find_runs
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Found", "Library", "Source", "measure"]

Source = Literal[
    "run", "predictions made elsewhere", "read again", "predictions made elsewhere, read again",
    "bench",
]  # fmt: skip
PartKey = tuple[bytes, str, str]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a part's number is of."""

    path: Path
    card: ResultCard
    departures: tuple[Departure, ...]
    source: Source = "run"
    is_bare: bool = False
    """Are its departures from what the paper asked, how answers are read left open?"""
    is_named: bool = False
    """Did the user name it?"""
    others: int = 0
    """Runs of the same that were passed over for it."""

    @property
    def fits(self) -> bool:
        """Is it as the paper's, and all of it there?"""
        return not self.departures and self.card.complete

    @property
    def read_again(self) -> Source:
        """What it is of once its answers were read under what a row sets."""
        return "predictions made elsewhere, read again" if self.is_made_elsewhere else "read again"

    @property
    def is_made_elsewhere(self) -> bool:
        """Are its answers another program's, which nothing here can make again?"""
        return self.card.model_info.get("distribution") == IMPORTED


class Library:
    """The runs that may be reused: those of the results folder, and those that were named."""

    def __init__(self, catalog: Catalog, *, output: Path, named: Sequence[Path] = ()) -> None:
        self.catalog = catalog
        self._named = {path.resolve(): None for path in named}
        self._output = output
        self._references: dict[tuple[PartKey, bool], Reference | str] = {}
        self._damaged: dict[Path, str] = {}

    def brought(self) -> dict[str, tuple[str, ...]]:
        """Name -> answer forms of the models that need no card to have runs here."""
        found: dict[str, dict[str, None]] = {}
        for run in self._read[0]:
            if run.card.model_info.get("distribution") in (LOCAL, IMPORTED):
                found.setdefault(run.card.model, {})[run.card.answer] = None
        return {name: tuple(forms) for name, forms in found.items()}

    @property
    def named(self) -> frozenset[Path]:
        """The runs that the user named."""
        return frozenset(self._named)

    def _read_all(self) -> tuple[list[Run], list[str]]:
        return read_runs([*self._named, *find_runs(self._output)])

    @cached_property
    def _read(self) -> tuple[list[Run], list[str]]:
        return self._read_all()

    @property
    def faults(self) -> list[str]:
        """Why some runs cannot be read, or could not when they were last looked at."""
        return [*self._read[1], *self._damaged.values()]

    def look_again(self) -> None:
        """Reads what was written since: runs that were being made, here or by another process."""
        self._read = self._read_all()

    def run_at(self, path: Path) -> Run | None:
        """The readable run of that folder."""
        found = path.resolve()
        return next((run for run in self._read[0] if run.path == found), None)

    def forget_faults(self, paths: Iterable[Path]) -> None:
        """Takes back what was told of the cards of runs that were written anew and are used."""
        for path in paths:
            self._damaged.pop(path.resolve(), None)

    def reference(self, part: Part, *, bare: bool = False) -> Reference | str:
        """What the paper did for the part, or why the model cannot do it at all."""
        key = (part.key, bare)
        if key not in self._references:
            try:
                found: Reference | str = make_reference(
                    part.row, part.ref, part.model, self.catalog, bare=bare
                )
            except Unpaired as exc:
                found = str(exc)
            self._references[key] = found
        return self._references[key]

    def candidates(self, part: Part) -> Iterable[Run]:
        """Every readable run of the part's model on its task, under whatever protocol."""
        model = part.model
        homes = {model.distribution, LOCAL, IMPORTED}
        for run in self._read[0]:
            card = run.card
            if (card.task, card.model) != (part.ref.name, model.card.model):
                continue
            task_home = card.task_info.get("distribution")
            if task_home == part.ref.distribution and card.model_info.get("distribution") in homes:
                yield run

    def best(self, part: Part, *, bare: bool = False) -> Found | None:
        """The run that departs least, those that were named first; None where none reports it.

        One that fits comes before predictions that another program made, whose making nothing
        tells. Of equal ones the complete one, predictions, the one of more samples, the newest.
        """
        reference = self.reference(part, bare=bare)
        if isinstance(reference, str):
            return None
        names = {name for cell in part.row.cells for name in part.row.names(cell)}
        found = []
        for run in self.candidates(part):
            if not any(measure(run.card, name, part.row) for name in names):
                continue
            try:
                found.append(self.describe(run.path, run.card, reference, bare=bare))
            except (AttributeError, KeyError, TypeError, ValueError) as exc:
                fault = f"{run.path}/result_card.json: damaged: {describe(exc)}"
                self._damaged[run.path] = fault
        if not found:
            return None
        best = min(found, key=_rank)
        return msgspec.structs.replace(best, others=len(found) - 1)

    def describe(
        self, path: Path, card: ResultCard, reference: Reference, *, bare: bool = False
    ) -> Found:
        """A run beside what the paper did."""
        elsewhere = card.model_info.get("distribution") == IMPORTED
        return Found(
            path=path,
            card=card,
            departures=reference.departures(card, self.catalog),
            source="predictions made elsewhere" if elsewhere else "run",
            is_named=path.resolve() in self._named,
            is_bare=bare,
        )


def _rank(found: Found) -> tuple[bool, bool, int, bool, bool, int, float]:
    try:
        age = -(found.path / "result_card.json").stat().st_mtime
    except OSError:
        age = 0.0
    count = found.card.selection.get("samples") or 0
    elsewhere = found.is_made_elsewhere
    is_ours = found.fits and not elsewhere
    departs, lacks = len(found.departures), not found.card.complete
    return not found.is_named, not is_ours, departs, lacks, not elsewhere, -count, age


def measure(card: ResultCard, value: str, row: Row) -> Measured | None:
    """The card's number of a row's value with its interval; None where it holds none."""
    selection = row.selection
    if selection == "best_of_1" and card.selection.get("attempts") == 1:
        selection = "mean"  # of one attempt they are the same
    try:
        score = card.score(value, selection=selection, subset=row.subset)
    except KeyError:
        return None
    if score.value is None:
        return None
    interval = score.ci95
    has_one = interval.low is not None and interval.high is not None
    return Measured(
        value=score.value,
        low=interval.low if has_one else None,
        high=interval.high if has_one else None,
        method=interval.method if has_one else None,
        no_interval=None if has_one else interval.reason,
        n=score.n,
        unit=score.unit,
        higher_is_better=score.higher_is_better,
    )
