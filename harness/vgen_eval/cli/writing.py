"""Writes a file that the command line names."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_file"]


def write_file(path: Path, data: bytes) -> None:
    """The file is there whole or not at all.

    UsageError for a folder, StorageError where it cannot be written.
    """
    from vgen_eval.errors import UsageError
    from vgen_eval.store.run import write_atomic

    path = path.expanduser()
    if path.is_dir():
        raise UsageError(f"{path} is a folder", cure="name a file in it")
    write_atomic(path, data)
