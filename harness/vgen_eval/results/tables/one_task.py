"""The runs of the one task that a name, or a part of one, means."""

from __future__ import annotations

from collections.abc import Sequence

from vgen_eval.errors import UsageError, nearest
from vgen_eval.results.reading import Run

__all__ = ["listed", "of_task"]

MOST_NAMED = 6


def of_task(runs: Sequence[Run], task: str | None) -> list[Run]:
    """Those of `task`: NAME or NAME@PROTOCOL, or a part that means one; all where None.

    UsageError where none is, or where the part means several.
    """
    if task is None:
        return list(runs)
    known = sorted({run.card.task for run in runs})
    name, at, protocol = task.partition("@")
    name = _meant(name, known)
    found = [run for run in runs if run.card.task == name and protocol in ("", run.card.protocol)]
    if not found:
        labels = sorted({run.task for run in runs})
        raise UsageError(
            f"no run here is of '{name}{at}{protocol}'.{nearest(task, labels)}",
            cure=f"there are: {listed(labels)}",
        )
    return found


def _meant(name: str, known: Sequence[str]) -> str:
    """The one task of which the name is the end, or else a part; UsageError where it is several."""
    if name in known or not name:
        return name
    ends = [task for task in known if task.endswith(f"/{name}")]
    found = ends or [task for task in known if name in task]
    if len(found) > 1:
        raise UsageError(f"'{name}' may be {listed(found)}", cure=f"--task {found[0]}")
    return found[0] if found else name


def listed(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
