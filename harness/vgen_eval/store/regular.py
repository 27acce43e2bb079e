"""Opens files of a run that may be anything by now: pipes, devices, links that lead elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

__all__ = ["open_regular", "read_regular"]


def open_regular(path: Path, *, within: Path | None = None) -> BufferedReader:
    """The file to read; OSError, saying why, for what is no file of bytes: a pipe is waited for.

    `within`: the folder that its real place must lie under, links followed.
    """
    if within is not None and not _lies_in(path, within):
        raise PermissionError(errno.EPERM, f"is a link that leads out of {within.name}", str(path))
    # a pipe without a writer would be waited for without end
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "is no file of bytes", str(path))
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def read_regular(path: Path, *, within: Path | None = None) -> bytes:
    """All of its bytes; OSError as `open_regular`."""
    with open_regular(path, within=within) as file:
        return file.read()


def _lies_in(path: Path, folder: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(folder.resolve())
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError):  # a link to itself
        return False
