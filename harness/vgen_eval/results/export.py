"""Exports runs: finds the exporter, writes its files below the target, tells what was left out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from vgen_eval import cards
from vgen_eval.distributions import HOME
from vgen_eval.errors import (
    BrokenPlugin,
    CardError,
    NotRunnable,
    StorageError,
    UsageError,
    nearest,
)
from vgen_eval.exporting import Exporter, File, LeftOut
from vgen_eval.paths import confined
from vgen_eval.results.kept import Kept, open_kept
from vgen_eval.store.whole import refusal, sweep, whole_file, write_fault
from vgen_eval.wording import describe, plural

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog

__all__ = ["Exported", "Written", "export"]

CURE = "vgen-eval list plugins"

Thing = TypeVar("Thing")
_END: Any = object()


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
    try:
        is_file = target.exists() and not target.is_dir()
    except OSError as exc:
        raise write_fault(target, exc) from exc
    if is_file:
        raise UsageError(f"{target} is a file", cure="-o names a folder, which is made if need be")
    runs, left_out = open_kept(paths, catalog)
    gone: set[int] = set()
    what = f"exporter '{component.qualified}'"
    writer = _Writer(target, what)
    for given in _guarded(lambda: exporter.export(runs), what) if runs else ():
        if isinstance(given, LeftOut):
            gone.add(id(given.run))
            cure = f"; {given.cure}" if given.cure else ""
            left_out.append(f"{_path(given, runs, what)}: {given.reason}{cure}")
        elif isinstance(given, File):
            writer.write(given)
        else:
            raise BrokenPlugin(
                f"{what} yields {given!r:.80}; a File or a LeftOut wanted", cure=CURE
            )
    if len(gone) < len(runs) and not writer.written:
        raise BrokenPlugin(f"{what} gives no file of {plural(len(runs), 'run')}", cure=CURE)
    return Exported(
        format=component.qualified,
        target=str(target),
        runs=tuple(run.card.run for run in runs if id(run) not in gone),
        files=tuple(writer.written.values()),
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
    raise BrokenPlugin(f"{what} leaves out a run that it was not given", cure=CURE)


def _guarded(action: Callable[[], Iterable[Thing]], what: str) -> Iterator[Thing]:
    """What anyone's iterable gives; its faults name the exporter."""
    entries = _call(lambda: iter(action()), what)
    while True:
        entry = _call(lambda: next(entries, _END), what)
        if entry is _END:
            return
        yield entry


def _call(action: Callable[[], Thing], what: str) -> Thing:
    try:
        return action()
    except (UsageError, CardError, NotRunnable, StorageError, KeyboardInterrupt):
        raise
    # an exporter is anyone's code
    except BaseException as exc:
        raise BrokenPlugin(f"{what}: {describe(exc)}", cure=CURE) from exc


class _Writer:
    """Writes an exporter's files below the target, each place once."""

    def __init__(self, target: Path, what: str) -> None:
        self._target, self._what = target, what
        self.written: dict[Path, Written] = {}
        self._swept: set[Path] = set()

    def write(self, file: File) -> None:
        """One file: beside, synced, renamed."""
        path = self._place(file)
        digest, size = hashlib.sha256(), 0
        try:
            with whole_file(path) as out:
                for part in self._parts(file):
                    out.write(part)
                    digest.update(part)
                    size += len(part)
        except OSError as exc:
            raise write_fault(path, exc) from exc
        if path.parent not in self._swept:
            self._swept.add(path.parent)
            sweep(path.parent)
        self.written[path] = Written(path=file.path, bytes=size, sha256=digest.hexdigest())

    def _place(self, file: File) -> Path:
        """Where it goes; BrokenPlugin for a name that leads out, or to another of its files."""
        name, what = file.path, self._what
        if not isinstance(name, str) or not name.isprintable():
            raise BrokenPlugin(f"{what}: {name!a:.200} is no name of a file", cure=CURE)
        try:
            path = confined(self._target, name)
        except ValueError as exc:
            raise BrokenPlugin(f"{what}: {exc}", cure=CURE) from exc
        for other, known in self.written.items():
            if path == other:
                also = "" if known.path == name else f", as {known.path!r:.200} too"
                raise BrokenPlugin(f"{what} writes {name!r:.200} twice{also}", cure=CURE)
            if path in other.parents or other in path.parents:
                raise BrokenPlugin(
                    f"{what}: {name!r:.200} and {known.path!r:.200}: one is a folder of the other",
                    cure=CURE,
                )
        try:
            reason = refusal(path)
            if reason is None and path.exists() and not path.is_file():
                reason = "is no file that could be written anew"
        except OSError as exc:
            raise write_fault(path, exc) from exc
        if reason is not None:
            raise UsageError(f"{path} {reason}", cure="move it away, or give another -o")
        return path

    def _parts(self, file: File) -> Iterator[bytes]:
        name = f"{self._what}: parts of {file.path!r:.200}"
        if isinstance(file.parts, (str, bytes, bytearray, memoryview)):
            kind = type(file.parts).__name__
            raise BrokenPlugin(f"{name} are one {kind}; an iterable of bytes wanted", cure=CURE)
        for part in _guarded(lambda: file.parts, self._what):
            if not isinstance(part, (bytes, bytearray)):
                kind = type(part).__name__
                raise BrokenPlugin(f"{name} are of {kind}; bytes wanted", cure=CURE)
            yield part
