"""What is seen while a plan runs: bars on a terminal, a line a task in a log, or nothing."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from vgen_eval._version import __version__
from vgen_eval.cli import outcome, terminal
from vgen_eval.cli.numbers import duration, number
from vgen_eval.distributions import name_with
from vgen_eval.statistics import MIN_GROUPS
from vgen_eval.types import STATUS_GROUP
from vgen_eval.wording import part_of

if TYPE_CHECKING:
    from vgen_eval.engine.plan import Job, Plan
    from vgen_eval.results.card import ResultCard

__all__ = ["Bars", "Lines", "Quiet", "make_reporter"]

HEARTBEAT_S = 30.0
NUMBER_WIDTH = 7
INTERVAL_WIDTH = 16
REDRAW_S = 0.1


def make_reporter(*, quiet: bool) -> Quiet:
    """Bars where stderr is a terminal, else lines on stdout: they are the table itself."""
    if quiet:
        return Quiet()
    return Bars() if terminal.is_terminal(sys.stderr) else Lines()


class Quiet:
    """Remembers the cards and says nothing; the others build on it. Used as a context."""

    prints_table = False
    """Whether the lines of the table were printed as the runs ended."""

    def __init__(self) -> None:
        self.cards: list[ResultCard] = []
        self.found = 0
        """Attempts that were finished before."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """The plan has ended, one way or another."""

    def plan(self, plan: Plan) -> None:
        """The plan is about to be run."""

    def job_start(self, job: Job, finished: int) -> None:  # noqa: ARG002
        """A run begins."""
        self.found += finished

    def attempt(self, job: Job, status: str) -> None:
        """An attempt is scored; called from several threads."""

    def job_end(self, job: Job, card: ResultCard) -> None:  # noqa: ARG002
        """A run has its card."""
        self.cards.append(card)


class _Count:
    """How far a run is."""

    def __init__(self, job: Job, finished: int) -> None:
        self.job = job
        self.total = job.size
        self.found = finished
        self.done = finished
        self.failed = 0
        self.started = time.monotonic()
        self._lock = threading.Lock()

    def add(self, status: str) -> None:
        """Takes one scored attempt in."""
        with self._lock:
            self.done += 1
            group = STATUS_GROUP[status]
            self.failed += group in ("model_failure", "infrastructure") or status == "bad_sample"

    def pace(self) -> str:
        """Failures, rate and time left, as far as they are known."""
        parts = [f"{self.failed:,} failed"] if self.failed else []
        fresh, seconds = self.done - self.found, time.monotonic() - self.started
        if fresh and seconds > 0.5:
            rate = fresh / seconds
            parts.append(f"{number(rate)}/s" if rate >= 1 else f"{number(60 * rate)}/min")
            if self.done < self.total:
                parts.append(f"{duration((self.total - self.done) / rate)} left")
        return ", ".join(parts)


class Lines(Quiet):
    """For a log file: the table, a line when a task ends, and a sign of life while one is long."""

    prints_table = True

    def __init__(self, heartbeat_s: float = HEARTBEAT_S) -> None:
        super().__init__()
        self._heartbeat_s = heartbeat_s
        self._plan: Plan | None = None
        self._count: _Count | None = None
        self._closed = threading.Event()
        self._table = outcome.Table(models=True, prompts=True, wide=True)
        self._widths: Sequence[int] = ()
        self._head: Sequence[str] | None = None
        """Names of the columns, until a line stands below them."""

    def __enter__(self) -> Lines:
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def plan(self, plan: Plan) -> None:
        terminal.say(terminal.clean(_headline(plan)), "")
        self._plan = plan
        jobs = plan.jobs
        if not jobs:
            return
        models = len({job.model.qualified for job in jobs}) > 1
        prompts = len({job.variant for job in jobs}) > 1
        wide = any(len({item.group for item in job.items}) >= MIN_GROUPS for job in jobs)
        self._table = outcome.Table(models=models, prompts=prompts, wide=wide)
        most = f"{max(job.size for job in jobs):,}"
        primaries = [job.task.primary for job in jobs]
        longest = [
            max(len(job.task.ref.label) for job in jobs),
            max(len(_model(job)) for job in jobs) if models else 0,
            max(len(job.codec.answer.form) for job in jobs),
            max(len(job.variant or "-") for job in jobs) if prompts else 0,
            len(f"{most}/{most}"),
            0,
            max(len(primary.name) for primary in primaries),
            NUMBER_WIDTH,
            max(len(primary.unit) for primary in primaries),
            INTERVAL_WIDTH if wide else 0,
            NUMBER_WIDTH,
            NUMBER_WIDTH,
        ]
        head = self._table.head()
        self._widths = [max(pair) for pair in zip(longest, map(len, head), strict=True)]
        self._head = head

    def _say_row(self, row: Sequence[str]) -> None:
        terminal.say(
            *terminal.layout([row], right=outcome.Table.RIGHT, indent="  ", least=self._widths)
        )

    def _beat(self) -> None:
        while not self._closed.wait(self._heartbeat_s):
            count = self._count
            if count is not None:
                text = f"{count.done:,}/{count.total:,}"
                pace = count.pace()
                label = _label(count.job, self._plan)
                terminal.say(terminal.clean(f"  {label}   {text}{', ' if pace else ''}{pace}"))

    def job_start(self, job: Job, finished: int) -> None:
        super().job_start(job, finished)
        self._count = _Count(job, finished)

    def attempt(self, job: Job, status: str) -> None:  # noqa: ARG002
        if self._count is not None:
            self._count.add(status)

    def job_end(self, job: Job, card: ResultCard) -> None:
        super().job_end(job, card)
        self._count = None
        if self._head is not None:
            self._say_row(self._head)
            self._head = None
        self._say_row(self._table.row(card))

    def close(self) -> None:
        self._closed.set()


class Bars(Quiet):
    """For a terminal: a growing line a task with bar, rate and time left."""

    def __init__(self) -> None:
        super().__init__()
        self._plan: Plan | None = None
        self._progress: Any = None
        self._counts: dict[int, tuple[_Count, Any]] = {}
        self._shown: list[Any] = []
        self._drawn = 0.0

    def plan(self, plan: Plan) -> None:
        terminal.note(_headline(plan), "")
        self._plan = plan

    def _start(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        progress = Progress(
            TextColumn("  {task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}", markup=False),
            console=Console(stderr=True, highlight=False),
            # the final table takes their place, unless it goes elsewhere
            transient=terminal.is_terminal(),
        )
        progress.start()
        return progress

    def job_start(self, job: Job, finished: int) -> None:
        super().job_start(job, finished)
        self._progress = self._progress or self._start()
        count = _Count(job, finished)
        bar = self._progress.add_task(
            terminal.clean(_label(job, self._plan)), total=count.total, completed=finished, pace=""
        )
        self._counts[id(job)] = (count, bar)
        self._shown.append(bar)
        # what does not fit is cropped at the bottom, where the current one stands
        while len(self._shown) > max(shutil.get_terminal_size().lines - 4, 1):
            self._progress.update(self._shown.pop(0), visible=False)

    def attempt(self, job: Job, status: str) -> None:
        count, bar = self._counts[id(job)]
        count.add(status)
        now = time.monotonic()
        if now - self._drawn > REDRAW_S:  # drawing costs more than many a sample
            self._drawn = now
            self._progress.update(bar, completed=count.done, pace=count.pace())

    def job_end(self, job: Job, card: ResultCard) -> None:
        super().job_end(job, card)
        count, bar = self._counts.pop(id(job))
        score = card.score()
        result = terminal.clean(f"{card.primary} {number(score.value)} {score.unit}".rstrip())
        failed = f"{count.failed:,} failed, " if count.failed else ""
        self._progress.update(bar, completed=count.done, pace=failed + result)
        self._progress.stop_task(bar)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()


def _headline(plan: Plan) -> str:
    models = list(dict.fromkeys((job.model.name, job.model.distribution) for job in plan.jobs))
    if len(models) == 1:
        name, distribution = models[0]
        who = f"model {name}" + ("" if distribution == "local" else f" ({distribution})")
    else:
        who = terminal.plural(len(models), "model")
    tasks = len({job.task.ref.label for job in plan.jobs})
    # one call a sample is the plain case; several models, prompts or attempts make it calls
    plain = len(plan.jobs) == tasks and all(job.attempts == 1 for job in plan.jobs)
    calls = terminal.plural(sum(job.size for job in plan.jobs), "call")
    if plain:
        there = sum(job.task.promised for job in plan.jobs)
        calls = part_of(sum(len(job.items) for job in plan.jobs), there, "sample")
    parts = [f"vgen-eval {__version__}", who, f"{terminal.plural(tasks, 'task')}, {calls}"]
    if plan.skipped:
        parts.append(f"{len(plan.skipped)} skipped")
    return "   ".join(parts)


def _model(job: Job) -> str:
    """The model as `suites.model_label` names it in the table's lines."""
    return name_with(job.model.distribution, job.model.name)


def _label(job: Job, plan: Plan | None) -> str:
    """What tells the job from the others of its plan."""
    parts = [job.task.ref.label]
    if plan is None:  # a run that is scored again
        return f"{parts[0]} {job.model.name}"
    if len({other.model.qualified for other in plan.jobs}) > 1:
        parts.append(_model(job))
    if len({other.variant for other in plan.jobs}) > 1:
        parts.append(job.variant or "-")
    return " ".join(parts)
