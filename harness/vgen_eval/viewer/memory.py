"""Gives memory of pictures back to the system as soon as they are dropped."""

from __future__ import annotations

import ctypes
import sys

__all__ = ["keep_small"]

# malloc.h of the GNU C library
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
LARGE = 128 * 1024
"""Bytes from which on a piece of memory is the system's again once it is dropped.

Left to itself the library raises this to 32 MB with the first large picture, and keeps what it
held: for each of the threads that answer requests apart.
"""
ARENAS = 2


def keep_small() -> None:
    """For all of this process; nothing where the C library is another one."""
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return
    for name, value in ((_MMAP_THRESHOLD, LARGE), (_TRIM_THRESHOLD, LARGE), (_ARENA_MAX, ARENAS)):
        mallopt(name, value)
