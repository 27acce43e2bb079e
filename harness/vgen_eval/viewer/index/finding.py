"""Run folders below the results folder, with stamps of what the index reads; no link leads out."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vgen_eval.store.locking import holder_of, named_elsewhere
from vgen_eval.viewer.index.lines import Stamp, stamp_of
from vgen_eval.viewer.index.places import FOLDER

__all__ = ["Found", "find_runs", "is_written"]

FILES = ("run.json", "samples.jsonl", "predictions.jsonl", "result_card.json")
DEEPEST = 40
"""Folders within one another, at most."""
STILL_S = 120.0
"""A run of another host counts as running for so long after its last line."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A place where a run lies, or should."""

    path: str
    """Below the results folder; what is no text in it is written as escapes."""
    folder: Path
    fault: str = ""
    """Why nothing of it is read, with the cure."""
    stamps: dict[str, Stamp] = {}
    """Name below the run -> stamp; `scores/<digest>.jsonl` among them."""


def find_runs(results: Path) -> list[Found]:
    """Every run, and every folder that may hold some and is not read, in order of path.

    `results` is resolved: links lie in it, and lead out of it, as seen from there.
    """
    found: list[Found] = []
    try:
        _walk(results, results, found, 0)
    except (FileNotFoundError, NotADirectoryError):  # no results yet
        return []
    return sorted(found, key=lambda run: run.path)


def _walk(folder: Path, results: Path, found: list[Found], depth: int) -> None:
    """OSError only for the results folder itself, when it is not there."""
    try:
        with os.scandir(folder) as listed:
            entries = {entry.name: entry for entry in listed}
    except OSError as exc:
        if isinstance(exc, FileNotFoundError | NotADirectoryError):
            if folder == results:
                raise
            return  # it went meanwhile
        found.append(_faulty(folder, results, f"cannot be read: {exc.strerror or exc}; {_MODE}"))
        return
    if "run.json" in entries:
        found.append(_look(folder, results, entries))
        return
    if depth == DEEPEST:
        return
    for name, entry in entries.items():
        if name == FOLDER:
            continue
        path = folder / name
        try:
            if entry.is_symlink():
                found += _linked(path, results)
            elif entry.is_dir(follow_symlinks=False):
                _walk(path, results, found, depth + 1)
        except OSError as exc:
            found.append(_faulty(path, results, f"cannot be read: {exc.strerror or exc}; {_MODE}"))


_MODE = "mend its permissions"
_OUT = (
    "a symbolic link leads out of the results folder: copy what it leads to, or view the folder "
    "where that lies"
)


def _linked(path: Path, results: Path) -> Iterator[Found]:
    """A link to a folder: one that stays within is found where that lies; others are refused."""
    if path.is_dir() and not _is_within(path, results):
        yield _faulty(path, results, _OUT)


def _is_within(path: Path, results: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(results)
    except (OSError, RuntimeError):
        return False


def _look(folder: Path, results: Path, entries: dict[str, os.DirEntry[str]]) -> Found:
    stamps: dict[str, Stamp] = {}
    try:
        for name in FILES:
            if name in entries:
                if entries[name].is_symlink() and not _is_within(folder / name, results):
                    return _faulty(folder, results, f"{name}: {_OUT}")
                seen = entries[name].stat()
                if not stat.S_ISREG(seen.st_mode):
                    return _faulty(folder, results, f"{name} is no file: move it away")
                stamps[name] = stamp_of(seen)
        if "scores" in entries:
            if entries["scores"].is_symlink() and not _is_within(folder / "scores", results):
                return _faulty(folder, results, f"scores: {_OUT}")
            fault = _look_at_scores(folder, results, stamps)
            if fault:
                return _faulty(folder, results, fault)
    except OSError as exc:
        what = exc.filename or folder
        return _faulty(folder, results, f"{what}: cannot be read: {exc.strerror or exc}; {_MODE}")
    path = os.fsencode(folder.relative_to(results))
    try:
        return Found(path=path.decode(), folder=folder, stamps=stamps)
    except UnicodeDecodeError:
        return _faulty(folder, results, "its path is no UTF-8 text: rename the folder")


def _look_at_scores(folder: Path, results: Path, stamps: dict[str, Stamp]) -> str:
    """What is wrong with a link among the scores; "" for nothing."""
    try:
        with os.scandir(folder / "scores") as listed:
            for entry in listed:
                if not entry.name.endswith(".jsonl") or entry.name.startswith("."):
                    continue
                if entry.is_symlink() and not _is_within(folder / "scores" / entry.name, results):
                    return f"scores/{entry.name}: {_OUT}"
                seen = entry.stat()
                if stat.S_ISREG(seen.st_mode):
                    stamps[f"scores/{entry.name}"] = stamp_of(seen)
    except (FileNotFoundError, NotADirectoryError):
        pass
    return ""


def _faulty(folder: Path, results: Path, fault: str) -> Found:
    path = os.fsencode(folder.relative_to(results)).decode("utf-8", "backslashreplace")
    return Found(
        path=path,
        folder=folder,
        fault=fault.encode("utf-8", "backslashreplace").decode(),
    )


def is_written(found: Found, locked: frozenset[tuple[int, int, int]] | None) -> bool:
    """Does a process write it now, as far as can be told?"""
    if found.fault:
        return False
    if holder_of(found.folder, locked) is not None:
        return True
    times = [stamp[0] for name, stamp in found.stamps.items() if name.endswith(".jsonl")]
    is_fresh = bool(times) and time.time() - max(times) / 1e9 < STILL_S
    return is_fresh and named_elsewhere(found.folder) is not None
