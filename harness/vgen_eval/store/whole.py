"""A file that a user names a place for: written beside it, synced, renamed, there whole or not."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from vgen_eval.errors import StorageError

__all__ = ["refusal", "sweep", "whole_file", "write_fault"]

LEFT_BY_KILLED = ".vgen-eval-????????.tmp"
"""Names of unfinished files; short, since that of the file may be as long as a name can be."""

_CURES = {
    errno.ENOSPC: "make room, or give another -o",
    errno.EDQUOT: "make room, or give another -o",
    errno.EACCES: "mend the folder's permissions, or give another -o",
    errno.EPERM: "mend the folder's permissions, or give another -o",
    errno.ENOTDIR: "a file stands where a folder is wanted: give another -o",
    errno.EEXIST: "a file stands where a folder is wanted: give another -o",
    errno.ENAMETOOLONG: "give a shorter name",
}


def refusal(path: Path) -> str | None:
    """Why what stands at `path` is not written over; None where nothing forbids it.

    Even root, whom no mode stops, spares a file that nobody may write. OSError for a place that
    cannot be looked at.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        return "is a folder"
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        return "is a disk" if stat.S_ISBLK(mode) else "is a socket"
    if not os.access(path, os.W_OK) or (stat.S_ISREG(mode) and not mode & 0o222):
        return "is write-protected"
    return None


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A stream whose bytes are at `path` once the block is left; not even a part of them before.

    Symbolic links are to be resolved before. A file that is there gives its mode to the new one.
    OSError for what the disk refuses.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside, fd = _open_beside(path.parent)
    try:
        with os.fdopen(fd, "wb") as out:
            _keep_mode(path, fd)
            yield out
            out.flush()
            os.fsync(fd)
            beside.replace(path)
    except BaseException:  # a signal too: no half of a file is left
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _open_beside(folder: Path) -> tuple[Path, int]:
    """A new file there, locked for as long as it is open: that tells the living from the killed."""
    while True:
        beside = folder / LEFT_BY_KILLED.replace("????????", secrets.token_hex(4))
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(fd, fcntl.LOCK_EX)
        if os.fstat(fd).st_nlink:
            return beside, fd
        os.close(fd)  # swept away before it was locked


def _keep_mode(path: Path, fd: int) -> None:
    try:
        there = path.stat()
    except FileNotFoundError:
        return
    with contextlib.suppress(OSError):  # only root gives files to others
        os.fchown(fd, there.st_uid, there.st_gid)
    with contextlib.suppress(OSError):  # a file system without modes
        os.fchmod(fd, stat.S_IMODE(there.st_mode))


def sweep(folder: Path) -> None:
    """Removes what killed processes left unfinished; files that are being written stay."""
    for beside in folder.glob(LEFT_BY_KILLED):
        # no link is followed, and a fifo is not waited for
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            fd = os.open(beside, flags)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                beside.unlink()
            finally:
                os.close(fd)


def write_fault(path: Path, exc: OSError) -> StorageError:
    """What a failed write to the place that -o names becomes: cause, place and cure."""
    cure = _CURES.get(exc.errno or 0, "give another -o")
    return StorageError(f"cannot write {path}: {exc.strerror or exc}", cure=cure)
