"""Which run directory a word means: a path, a path below the runs folder, or the start of an id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vgen_eval.errors import UsageError, nearest
from vgen_eval.store.run import find_runs, runs_below

__all__ = ["find_run", "find_run_paths", "match_runs"]

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


def find_run_paths(words: Sequence[str], output: Path) -> list[Path]:
    """The run directories that the words mean, each once; no word: those of the results folder.

    A word is one run, as `find_run` takes it, or a folder: a results folder, or one that holds
    runs, below `runs/` too. UsageError where there is none.
    """
    if not words:
        found = list(find_runs(output))
        if not found:
            raise UsageError(
                f"no runs in {output / 'runs'}", cure="vgen-eval run makes some; --output DIR"
            )
        return found
    paths: dict[Path, None] = {}
    for word in words:
        if match_runs(word, output):
            paths[find_run(word, output)] = None
            continue
        folder = Path(word).expanduser()
        places = [folder / "runs", folder, output / "runs" / word]
        inside = next((runs for runs in map(list, map(runs_below, places)) if runs), None)
        paths.update(dict.fromkeys(inside or [find_run(word, output)]))
    return list(paths)
