"""Exports runs: finds the exporter, writes its files below the target, tells what was left out."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vgen_eval import cards
from vgen_eval.engine.models import HOME
from vgen_eval.errors import (
    BrokenPlugin,
    CardError,
    StorageError,
    UsageError,
    VgenEvalError,
    nearest,
)
from vgen_eval.exporting import Exporter, File, LeftOut
from vgen_eval.paths import confined
from vgen_eval.results.kept import Kept, open_kept
from vgen_eval.wording import describe

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Exported", "Written", "export"]

Thing = TypeVar("Thing")


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an export."""

    path: str
    """Below the target."""
    bytes: int
    sha256: str


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What an export came to."""

    format: str
    """distribution:name."""
    target: str
    runs: tuple[str, ...]
    """The runs that are in the files."""
    files: tuple[Written, ...]
    left_out: tuple[str, ...]
    """Why other runs are not in them, a line each."""


def export(
    name: str,
    paths: Iterable[Path],
    *,
    target: Path,
    options: Mapping[str, Any],
    catalog: Catalog,
) -> Exported:
    """Writes the runs in these directories below `target` in the format `[distribution:]name`.

    Each file is there whole or not at all, and one that is there already is written anew.
    UsageError for an unknown format, option or target; BrokenPlugin for an exporter that fails;
    StorageError when the disk does.
    """
    component = catalog.component("exporter", name, home=HOME)
    exporter = _build(component.obj, options, component.qualified)
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is a file", cure="-o names a folder, which is made if need be")
    runs, left_out = open_kept(paths, catalog)
    gone: set[int] = set()
    files: list[Written] = []
    what = f"exporter '{component.qualified}'"
    for given in _guarded(lambda: exporter.export(runs), what) if runs else ():
        if isinstance(given, LeftOut):
            gone.add(id(given.run))
            cure = f"; {given.cure}" if given.cure else ""
            left_out.append(f"{_path(given, runs, what)}: {given.reason}{cure}")
        elif isinstance(given, File):
            if given.path in {file.path for file in files}:
                raise BrokenPlugin(f"{what} writes {given.path!r:.200} twice")
            files.append(_write(given, target, what))
        else:
            raise BrokenPlugin(f"{what} yields {given!r:.80}; a File or a LeftOut wanted")
    return Exported(
        format=component.qualified,
        target=str(target),
        runs=tuple(run.card.run for run in runs if id(run) not in gone),
        files=tuple(files),
        left_out=tuple(left_out),
    )


def _build(kind: Any, options: Mapping[str, Any], qualified: str) -> Exporter:
    known = {field.name for field in msgspec.structs.fields(kind.Options)}
    for key in options:
        if key not in known:
            told = ", ".join(sorted(known)) or "it has none"
            raise UsageError(
                f"'{qualified}' has no option '{key}'.{nearest(key, known)}",
                cure=f"options of {qualified}: {told}",
            )
    try:
        read = cards.convert(kind.Options, options, file=qualified)
    except CardError as exc:
        problem = exc.problems[0]
        raise UsageError(f"'{qualified}': {problem.path}: {problem.message}") from exc
    exporter: Exporter = _call(lambda: kind(read), f"exporter '{qualified}'")
    return exporter


def _path(given: LeftOut, runs: Sequence[Kept], what: str) -> Path:
    """The directory of the run that is left out."""
    for run in runs:
        if run is given.run:
            return run.path
    raise BrokenPlugin(f"{what} leaves out a run that it was not given")


def _guarded(action: Callable[[], Iterable[Thing]], what: str) -> Iterator[Thing]:
    """What anyone's iterable gives; its faults name the exporter."""
    entries = iter(_call(action, what))
    while True:
        try:
            entry = _call(lambda: next(entries), what)
        except StopIteration:
            return
        yield entry


def _call(action: Callable[[], Thing], what: str) -> Thing:
    try:
        return action()
    except (VgenEvalError, StopIteration):
        raise
    # an exporter is anyone's code
    except (Exception, SystemExit) as exc:
        raise BrokenPlugin(f"{what}: {describe(exc)}", cure="vgen-eval list plugins") from exc


def _write(file: File, target: Path, what: str) -> Written:
    """Writes one file: beside, synced, renamed."""
    try:
        path = confined(target, file.path)
    except ValueError as exc:
        raise BrokenPlugin(f"{what}: {exc}") from exc
    beside = path.with_name(f".{path.name[:200]}.{os.getpid()}.tmp")
    digest, size = hashlib.sha256(), 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as out:
            for part in _guarded(lambda: file.parts, what):
                out.write(part)
                digest.update(part)
                size += len(part)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    except BaseException as exc:  # a signal too: no half of a file is left
        with contextlib.suppress(OSError):
            beside.unlink()
        if isinstance(exc, OSError):
            reason = exc.strerror or exc
            raise StorageError(
                f"cannot write {path}: {reason}", cure="make room, or give another -o"
            ) from exc
        raise
    return Written(path=file.path, bytes=size, sha256=digest.hexdigest())
