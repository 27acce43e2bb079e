"""Who writes a run now, found out without taking its lock."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Collection
from pathlib import Path

__all__ = ["LockedFiles", "holder_of", "locked_files", "named_elsewhere"]

LockedFiles = frozenset[tuple[int, int, int]]
"""(major, minor, inode) of every file that a process of this machine holds a flock on."""

_LOCK = re.compile(r"\bFLOCK\b.*?\s([0-9a-f]+):([0-9a-f]+):(\d+)\s")
_NAMED = re.compile(r"process (\d+) on (\S+)")
_LONGEST = 200


def locked_files(table: Path = Path("/proc/locks")) -> LockedFiles | None:
    """The kernel's table of locks; None where there is none, or it may not be read.

    Read once for many runs.
    """
    try:
        text = table.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = (_LOCK.search(line) for line in text.splitlines() if "->" not in line)
    return frozenset((int(m[1], 16), int(m[2], 16), int(m[3])) for m in found if m)


def holder_of(run: Path, locked: Collection[tuple[int, int, int]] | None = None) -> str | None:
    """Who writes the run in that folder now ("process 12 on host"), or None.

    A lock that is tried for would keep a writer out that comes in that moment, so it is not:
    the kernel's table tells (`locked`, where that was read already), or else whether the process
    named in the lock file lives on this host and has the file open. A writer on another host that
    shares the disk is not seen: `named_elsewhere`.
    """
    path = run / "lock"
    table = locked_files() if locked is None else locked
    try:
        stat = path.stat()
        inodes = None if table is None else {inode for _, _, inode in table}
        if inodes is not None and stat.st_ino not in inodes:
            return None
        said = _said(path)
    except OSError:
        return None
    # a file system of several devices shows its inodes under another one: then ask further
    if table and (os.major(stat.st_dev), os.minor(stat.st_dev), stat.st_ino) in table:
        return said or "another process"
    return said if _lives(said, stat.st_dev, stat.st_ino) else None


def named_elsewhere(run: Path) -> str | None:
    """Who wrote the run last, where that was on another host ("process 12 on host"), or None.

    Whether it still does cannot be told from here.
    """
    try:
        said = _said(run / "lock")
    except OSError:
        return None
    named = _NAMED.fullmatch(said)
    return said if named is not None and named[2] != socket.gethostname() else None


def _said(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LONGEST).decode("utf-8", "replace").strip()


def _lives(said: str, device: int, inode: int) -> bool:
    """Does the process that a lock file names live here, with that file open?"""
    named = _NAMED.fullmatch(said)
    if named is None or named[2] != socket.gethostname():
        return False
    pid = int(named[1])
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass  # it lives, and is another user's
    except (OSError, OverflowError):
        return False
    try:
        for opened in Path(f"/proc/{pid}/fd").iterdir():
            try:
                stat = opened.stat()
            except OSError:
                continue
            if (stat.st_dev, stat.st_ino) == (device, inode):
                return True
    except OSError:
        return True  # its files cannot be seen
    return False
