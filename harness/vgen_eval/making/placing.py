"""Files put into somebody's folder: none over another unasked, none left of a failure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vgen_eval.errors import StorageError, UsageError
from vgen_eval.store.run import write_atomic

__all__ = ["placed", "refuse_to_overwrite"]


def refuse_to_overwrite(paths: Mapping[str, Path], *, force: bool) -> None:
    """UsageError for a file that is there already, unless it may be written over."""
    there = [path for path in paths.values() if path.exists() or path.is_symlink()]
    if there and not force:
        raise UsageError(f"{there[0]} is there already", cure="--force writes over it")
    odd = [path for path in there if path.is_symlink() or not path.is_file()]
    if odd:
        raise UsageError(f"{odd[0]} is no plain file, and is not written over")


@contextlib.contextmanager
def placed(files: Mapping[Path, bytes], *, later: Iterable[Path] = ()) -> Iterator[None]:
    """The files are written; what was there before is put back when anything goes wrong after.

    `later`: files that are written while this is entered, by others.
    """
    before = {path: _read(path) for path in later}
    try:
        for path, data in files.items():
            before[path] = _read(path)
            write_atomic(path, data)
        yield
    except BaseException:
        for path, old in before.items():
            if old is None:
                path.unlink(missing_ok=True)
            else:
                write_atomic(path, old)
        raise


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise StorageError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
