"""Whether the index's file may be opened: never through a link, never another program's."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from vgen_eval.viewer.index.schema import OURS

__all__ = ["Refused", "check_file", "is_locked_by_builder"]

_MAGIC = b"SQLite format 3\0"
_ID_AT = 68
"""Of the application id in the header, 4 bytes big-endian (SQLite's file format, section 1.3)."""


class Refused(Exception):
    """Nothing is read from there or written to it; the message says why, with the cure."""


def check_file(path: Path) -> None:
    """Raises Refused for a link, and for a database of another program.

    What is new, ours, or no database at all passes; so does what is no file, which SQLite refuses.
    """
    if path.parent.is_symlink():
        raise Refused(f"{path.parent} is a link: nothing is written through it; delete it")
    for suffix in ("", "-journal", "-wal", "-shm"):
        beside = path.with_name(path.name + suffix)
        if beside.is_symlink():
            raise Refused(f"{beside} is a link: nothing is written through it; delete it")
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        mode = os.fstat(fd).st_mode
        head = os.read(fd, 100) if stat.S_ISREG(mode) else b""
    finally:
        os.close(fd)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise Refused(f"{path} is no file; move it away")
    own = OURS.to_bytes(4, "big")
    if head.startswith(_MAGIC) and head[_ID_AT : _ID_AT + 4] != own:
        raise Refused(f"{path} is another program's database; move it away")


def is_locked_by_builder(folder: Path) -> bool:
    """Does a viewer build the index now, in this process or another?"""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(folder / "index.lock", flags)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False
