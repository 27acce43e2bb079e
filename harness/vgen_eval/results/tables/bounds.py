"""The runs of the ceiling and the floor beside the runs that were named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vgen_eval.results.reading import Run, name_apart, read_runs
from vgen_eval.store.run import is_run

__all__ = ["with_bounds"]


def with_bounds(runs: Sequence[Run]) -> list[Run]:
    """The runs, and after them those that their cards name as ceiling and floor and that exist."""
    paths: dict[Path, None] = {}
    for run in runs:
        depth = len(Path(run.card.run).parts)
        if len(run.path.parts) <= depth or run.path.parts[-depth:] != Path(run.card.run).parts:
            continue  # moved out of its results folder, so its bounds are not beside it
        root = Path(*run.path.parts[:-depth])
        for bound in (run.card.ceiling, run.card.floor):
            if bound is not None and is_run(root / bound.run):
                paths[(root / bound.run).resolve()] = None
    known = {run.path for run in runs}
    more, _ = read_runs(path for path in paths if path not in known)
    found = [*runs, *more]
    name_apart(found)
    return found
