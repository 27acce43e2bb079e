"""Which run directories a word means: a path, the start of an id, a folder, a model's name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vgen_eval.distributions import bare_name
from vgen_eval.errors import NotRunnable, UsageError, nearest
from vgen_eval.store.run import RunStore, find_runs, is_folder, is_run, runs_below

__all__ = ["find_run", "find_run_paths", "match_runs", "runs_of"]

SHORTEST = 4
"""Letters of an id at least: less is more often a slip than meant."""
MOST_NAMED = 3


def match_runs(word: str, output: Path) -> list[Path]:
    """The run directories that the word may mean by itself."""
    path = Path(word).expanduser()
    if is_run(path):
        return [path]
    if ".." not in path.parts and not path.is_absolute():
        for place in (output / word, output / "runs" / word):  # as cards and exports name runs
            if is_run(place):
                return [place]
    if "/" in word or len(word) < SHORTEST:
        return []
    runs = list(find_runs(output))
    exact = [run for run in runs if run.name == word]
    return exact or [run for run in runs if run.name.startswith(word)]


def runs_of(word: str, output: Path) -> list[Path]:
    """The runs in the folder that the word names, or else those of the model.

    `[distribution:]NAME`, or with `/TASK` after it. UsageError where models of several
    distributions have the name.
    """
    folder = Path(word).expanduser()
    places = [folder / "runs", folder]
    if ".." not in folder.parts and not folder.is_absolute():
        places += [output / word, output / "runs" / word]
    inside = next((runs for runs in map(list, map(runs_below, places)) if runs), None)
    if inside is not None:
        return inside
    found: dict[str, list[Path]] = {}
    for run in find_runs(output):
        model, task = _asked(run)
        names = (model, model.partition(":")[2])
        tasks = ("", f"/{task}", f"/{task.partition('@')[0]}")
        if task and word.rstrip("/") in {f"{name}{part}" for name in names for part in tasks}:
            found.setdefault(model, []).append(run)
    if len(found) > 1:
        raise UsageError(
            f"'{word}' is a model of several distributions: {', '.join(found)}",
            cure="give its distribution",
        )
    return next(iter(found.values()), [])


def find_run(word: str, output: Path) -> Path:
    """The one run that the word means; UsageError with the nearest, or the candidates."""
    found = match_runs(word, output)
    is_start = bool(found)
    found = found or runs_of(word, output)
    if len(found) == 1:
        return found[0]
    if found:
        what = "is the start of" if is_start else "holds"
        raise UsageError(
            f"'{word}' {what} {len(found)} runs: {', '.join(map(str, found[:MOST_NAMED]))}"
            + (", ..." if len(found) > MOST_NAMED else ""),
            cure="give more of the id" if is_start else "name one of them",
        )
    raise _no_run(word, output)


def find_run_paths(words: Sequence[str], output: Path, *, task: str | None = None) -> list[Path]:
    """The run directories that the words mean, each once; no word: those of the results folder.

    A word is one run, as `find_run` takes it, or a folder: a results folder, or one that holds
    runs, below `runs/` too; or a model. `task`: NAME or NAME@PROTOCOL, of which alone runs are
    wanted. UsageError where there is none.
    """
    paths: dict[Path, None] = {}
    for word in words:
        found = [find_run(word, output)] if match_runs(word, output) else runs_of(word, output)
        if not found:
            raise _no_run(word, output)
        paths.update(dict.fromkeys(found))
    if not words:
        paths = dict.fromkeys(find_runs(output))
    if not paths:
        raise UsageError(
            f"no runs in {output / 'runs'}", cure="vgen-eval run makes some; --output DIR"
        )
    return list(paths) if task is None else _of_task(list(paths), task)


def _of_task(paths: Sequence[Path], task: str) -> list[Path]:
    """The runs of that task, and those that do not tell theirs: whoever reads them says why."""
    tasks = [_asked(path)[1] for path in paths]
    if not any(_is_of(known, task) for known in tasks):
        here = sorted(set(filter(None, tasks)))
        raise UsageError(
            f"--task: none of these runs is of '{task}'.{nearest(task, here)}",
            cure=f"they are of {', '.join(here[:8])}{', ...' if len(here) > 8 else ''}",
        )
    return [p for p, known in zip(paths, tasks, strict=True) if not known or _is_of(known, task)]


def _is_of(known: str, task: str) -> bool:
    """Is task@protocol the one that NAME, the end of it after a slash, or NAME@PROTOCOL means?"""
    name, _, protocol = known.partition("@")
    wanted, _, part = task.partition("@")
    return f"/{name}".endswith(f"/{wanted}") and part in ("", protocol)


def _asked(run: Path) -> tuple[str, str]:
    """distribution:model and task@protocol of a run; "" where its record is damaged."""
    try:
        record = RunStore(run).record
    except NotRunnable:
        return "", ""
    return str(record.get("model", "")), str(record.get("task", ""))


def _no_run(word: str, output: Path) -> UsageError:
    for folder in (Path(word).expanduser(), output / word, output / "runs" / word):
        if is_folder(folder):
            return UsageError(
                f"the folder '{word}' holds no runs",
                cure="vgen-eval runs list --output DIR shows those of a results folder",
            )
    return UsageError(
        f"no run '{word}' in {output / 'runs'}.{_nearest(word, output)}",
        cure="vgen-eval runs list shows them all",
    )


def _nearest(word: str, output: Path) -> str:
    """What the word may have been meant as: an id where it looks like one, else a model or task."""
    ids, names = [], set()
    for run in find_runs(output):
        ids.append(run.name)
        model, task = _asked(run)
        bare, name = model.partition(":")[2], bare_name(model)
        if task:
            names |= {name, bare, f"{name}/{task}"} if "/" in word else {name, bare}
    is_id = len(word) >= SHORTEST and set(word) <= set("0123456789abcdef")
    first, second = (ids, names) if is_id else (names, ids)
    return nearest(word, first) or nearest(word, second)
