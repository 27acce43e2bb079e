"""The runs that words mean, read; those that cannot be read are told on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgen_eval.results.reading import Run

__all__ = ["open_runs"]


def open_runs(words: Sequence[str], output: Path) -> tuple[list[Run], int]:
    """The runs, and the exit code so far: 3 where one that was named cannot be read.

    NotRunnable when none of them can be read; UsageError when there is none.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.finding import find_run_paths, match_runs
    from vgen_eval.errors import NotRunnable
    from vgen_eval.results.reading import read_runs

    runs, faults = read_runs(find_run_paths(words, output))
    if not runs:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise NotRunnable(
            f"no run can be read: {faults[0]}{more}", cure="vgen-eval score RUN makes its card anew"
        )
    terminal.note(*(f"left out: {fault}" for fault in faults))
    named = [path.resolve() for word in words for path in match_runs(word, output)]
    unread = set(named) - {run.path for run in runs}
    return runs, 3 if unread else 0
