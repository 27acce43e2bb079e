"""Where the viewer keeps what it derives: beside the results, or in a cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FOLDER", "candidates", "is_writable", "view_folder"]

FOLDER = ".view"
"""Below the results folder; deleting it loses nothing."""


def candidates(results: Path) -> Iterator[Path]:
    """Folders to keep derived files in, the best first.

    Nothing is put into a run or among runs, and no folder of results is made.
    """
    if _may_hold(results):
        yield results / FOLDER
    given = os.environ.get("XDG_CACHE_HOME", "")
    with contextlib.suppress(RuntimeError):  # no home
        cache = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
        name = hashlib.sha256(os.fsencode(results)).hexdigest()[:16]
        yield cache / "vgen-eval" / "view" / name


def _may_hold(results: Path) -> bool:
    try:
        is_run = (results / "run.json").exists()
        is_among_runs = "runs" in results.parts and not (results / "runs").is_dir()
        return results.is_dir() and not is_run and not is_among_runs
    except OSError:
        return False


def is_writable(folder: Path) -> bool:
    """Whether a file can be made there; the folder is made where it is missing.

    A link that leads elsewhere is none of ours.
    """
    probe = folder / f".{secrets.token_hex(4)}.tmp"
    try:
        if folder.is_symlink():
            return False
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def view_folder(results: Path) -> Path | None:
    """The first of `candidates` that can be written to; None where there is none."""
    return next((place for place in candidates(results) if is_writable(place)), None)
