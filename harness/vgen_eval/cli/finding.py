"""Which run directory a word means: a path, a path below the runs folder, or the start of an id."""

from __future__ import annotations

from pathlib import Path

from vgen_eval.errors import UsageError, nearest
from vgen_eval.store.run import find_runs

__all__ = ["find_run", "match_runs"]

SHORTEST = 4
"""Letters of an id at least: less is more often a slip than meant."""


def match_runs(word: str, output: Path) -> list[Path]:
    """The run directories that the word may mean."""
    path = Path(word).expanduser()
    if (path / "run.json").is_file():
        return [path]
    below = output / "runs" / word
    if ".." not in path.parts and not path.is_absolute() and (below / "run.json").is_file():
        return [below]
    if "/" in word or len(word) < SHORTEST:
        return []
    runs = list(find_runs(output))
    exact = [run for run in runs if run.name == word]
    return exact or [run for run in runs if run.name.startswith(word)]


def find_run(word: str, output: Path) -> Path:
    """The one run that the word means; UsageError with the nearest, or the candidates."""
    found = match_runs(word, output)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"'{word}' is the start of {len(found)} runs: {', '.join(map(str, found[:3]))}"
            + (", ..." if len(found) > 3 else ""),
            cure="give more of the id, or the path",
        )
    names = [run.name for run in find_runs(output)]
    raise UsageError(
        f"no run '{word}' in {output / 'runs'}.{nearest(word, names)}",
        cure="vgen-eval runs list shows them all",
    )
