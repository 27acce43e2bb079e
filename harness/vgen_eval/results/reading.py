"""Runs as those read them who compare: result cards, and per-sample numbers without the data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vgen_eval.engine.plan import Job
from vgen_eval.errors import NotRunnable, VgenEvalError
from vgen_eval.results.card import ResultCard, read_card
from vgen_eval.results.identity import facts
from vgen_eval.results.lines import check_counts, open_lines
from vgen_eval.results.summarise import Summary
from vgen_eval.results.table import AttemptTable
from vgen_eval.store.run import RunStore

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Run", "name_apart", "read_run", "read_runs", "say_fault"]


class Run:
    """A finished run: its card, and what its scores hold of each sample."""

    def __init__(self, path: Path, card: ResultCard) -> None:
        self.path = path
        self.card = card
        self.name = path.name
        """Its id, with the folder where that is needed: of the runs read with it none has it."""
        self._job: Job | None = None

    @property
    def task(self) -> str:
        """task@protocol."""
        return f"{self.card.task}@{self.card.protocol}"

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What its result hangs on."""
        return facts(self.card)

    @cached_property
    def groups(self) -> Mapping[str, str]:
        """Sample -> the image or scene it is of, as the run wrote it down; {} where it did not."""
        items = RunStore(self.path).samples()
        return {} if items is None else {item.id: item.group for item in items}

    def open(self, catalog: Catalog) -> Job:
        """Its job without the data, its lines those of its card; NotRunnable as `open_lines`."""
        if self._job is None:
            self._job = open_lines(self.path, self.card, catalog)
        return self._job

    def summary(self, catalog: Catalog) -> Summary:
        """Its numbers sample by sample; the data of the task need not be there.

        NotRunnable where its lines are not those of its card, or of other components.
        """
        job = self.open(catalog)
        table = AttemptTable(job.task.metrics, job.rows())
        table.fill(RunStore(self.path).scores(job.score_digest, job.rows()))
        return Summary(job, table)


def read_run(path: Path, catalog: Catalog | None = None) -> Run:
    """The run in that directory; NotRunnable, with the cure, where it cannot be read.

    Its record and its card are whole, and it has as many lines as its card counts. With a
    `catalog` its lines are, one by one, those of its card, and its numbers can be read.
    """
    path = path.resolve()
    try:
        with os.scandir(path):
            pass
    except (FileNotFoundError, NotADirectoryError):
        pass  # what is missing is told by whoever looks for it
    except OSError as exc:
        raise NotRunnable(
            f"{path}: cannot be read: {exc.strerror or exc}", cure="mend its permissions"
        ) from exc
    try:
        card = read_card(path)
        _ = RunStore(path).asked
        run = Run(path, card)
        check_counts(path, card)
        if catalog is not None:
            run.open(catalog)
    except NotRunnable as exc:
        raise NotRunnable(exc.what, cure=exc.cure or f"vgen-eval score {path}") from exc
    return run


def read_runs(paths: Iterable[Path], catalog: Catalog | None = None) -> tuple[list[Run], list[str]]:
    """The runs in these directories, each once, and why others cannot be read, a line each.

    As `read_run` reads them; no two of the runs have the same name.
    """
    runs, faults = [], []
    for path in dict.fromkeys(path.resolve() for path in paths):
        try:
            runs.append(read_run(path, catalog))
        except NotRunnable as exc:
            faults.append(say_fault(exc))
    name_apart(runs)
    return runs, faults


def say_fault(exc: VgenEvalError) -> str:
    """What is wrong and the cure, on one line."""
    return f"{exc.what}; {exc.cure}" if exc.cure else exc.what


def name_apart(runs: Sequence[Run]) -> None:
    """Gives each run the shortest name that no other of them has.

    Its id; its folder below the results folder; its id and what tells the results folders apart.
    """
    kinds: list[Callable[[Run], str]] = [
        lambda run: run.path.name,
        lambda run: run.card.run,
        _namer(runs),
    ]
    left = list(runs)
    for kind in kinds:
        names = {id(run): kind(run) for run in left}
        count = Counter(names.values())
        for run in left:
            run.name = names[id(run)]
        left = [run for run in left if count[run.name] > 1]


def _namer(runs: Sequence[Run]) -> Callable[[Run], str]:
    """Id and the part of the path in which runs of that id differ."""
    alike: dict[str, list[tuple[str, ...]]] = {}
    for run in runs:
        alike.setdefault(run.path.name, []).append(run.path.parts)

    def name(run: Run) -> str:
        paths = alike[run.path.name]
        first = _common(paths)
        last = _common([parts[first:][::-1] for parts in paths])
        # of nested folders the outer one has a name too
        last = min(last, min(map(len, paths)) - first - 1)
        between = run.path.parts[first : len(run.path.parts) - last]
        return f"{run.path.name} in {'/'.join(between)}"

    return name


def _common(paths: Sequence[Sequence[str]]) -> int:
    """How many parts all of them begin with."""
    return len(list(takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))))
