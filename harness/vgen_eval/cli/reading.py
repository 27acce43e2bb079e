"""The runs that words mean, read; those that cannot be read are told on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.reading import Run

__all__ = ["open_runs"]


def open_runs(
    words: Sequence[str],
    output: Path,
    *,
    task: str | None = None,
    catalog: Catalog | None = None,
) -> tuple[list[Run], int]:
    """The runs, and the exit code so far: 3 where one that was named cannot be read.

    `task`: NAME or NAME@PROTOCOL, of which alone runs are wanted. `catalog`: for those who read
    numbers of single samples; a run whose lines are not those of its card is not read then.
    NotRunnable when none of them can be read; UsageError when there is none.
    """
    from vgen_eval.cli import terminal
    from vgen_eval.cli.finding import find_run_paths, match_runs
    from vgen_eval.errors import NotRunnable
    from vgen_eval.results.reading import read_runs

    paths = find_run_paths(words, output, task=task)
    runs, faults = read_runs(paths, catalog)
    if not runs:
        what, _, cure = faults[0].partition("; ")
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise NotRunnable(f"no run can be read: {what}{more}", cure=cure or None)
    terminal.note(*(f"left out: {fault}" for fault in faults))
    named = [path.resolve() for word in words for path in match_runs(word, output)]
    unread = set(named) & {path.resolve() for path in paths} - {run.path for run in runs}
    return runs, 3 if unread else 0
