"""Small pictures kept on disk: made once, by content, the oldest dropped above a limit."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from vgen_eval.store.regular import read_regular
from vgen_eval.viewer.remembered import Remembered

__all__ = ["Thumbs", "cache_folder"]

MOST_BYTES = 512 * 2**20
MOST_HELD = 8 * 2**20
"""Bytes of them that are kept in memory: the only ones where no folder can be written."""
MOST_BRIEF = 4 * 2**20
"""Bytes of those that may look otherwise soon."""
BRIEF_S = 60.0
"""Seconds for which a picture is kept that may look otherwise soon: its data may come back."""
STRIPES = 64
HEX = frozenset("0123456789abcdef")


class Thumbs:
    """Thumbnails by key, below `<results>/.view/thumbs`, or a cache folder where that is closed.

    Deleting the folder is always safe, and so are two viewers at once: a file is there whole or
    not at all. Where neither folder can be written they are kept in memory.
    """

    def __init__(
        self, results: Path, *, place: Path | None = None, most_bytes: int = MOST_BYTES
    ) -> None:
        """`place`: the folder, in the place of those named above."""
        self._most_bytes = most_bytes
        places = [place] if place else [results / ".view" / "thumbs", cache_folder(results)]
        self.place: Path | None = next((each for each in places if _is_open(each)), None)
        self._lock = threading.Lock()
        self._making = [threading.Lock() for _ in range(STRIPES)]
        self._held: Remembered[bytes] = Remembered(MOST_HELD, weigh=len, keeps_last=True)
        self._brief: Remembered[tuple[float, bytes]] = Remembered(
            MOST_BRIEF, weigh=lambda made: len(made[1]), keeps_last=True
        )
        self._size: int | None = None
        """Bytes on disk; None: not counted yet."""

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        """The picture of that key (hex); `make` is called once, whoever asks at the same time."""
        if len(key) < 8 or not HEX.issuperset(key):
            raise ValueError(f"'{key}' is no key")
        found = self.find(key)
        if found is not None:
            return found
        with self._making[int(key[:8], 16) % STRIPES]:
            found = self.find(key)
            if found is None:
                found = make()
                self._keep(key, found)
            return found

    def find(self, key: str) -> bytes | None:
        """The picture where it was made before."""
        held = self._held.find(key)
        if held is not None:
            return held
        path = self._path(key)
        if path is None:
            return None
        try:
            data = read_regular(path)
        except OSError:
            return None
        if not data.startswith(b"RIFF"):  # cut off by a full disk, or not ours
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the one that was asked for last goes last
        self._held.put(key, data)
        return data

    def get_brief(self, key: str, make: Callable[[], bytes]) -> bytes:
        """As `get`, for what may look otherwise soon: kept for `BRIEF_S`, in memory alone."""
        found = self.find_brief(key)
        if found is None:
            found = make()
            self._brief.put(key, (time.monotonic(), found))
        return found

    def find_brief(self, key: str) -> bytes | None:
        """What was made briefly before."""
        made_at, found = self._brief.find(key) or (0.0, None)
        return found if time.monotonic() - made_at < BRIEF_S else None

    def _path(self, key: str) -> Path | None:
        return None if self.place is None else self.place / key[:2] / f"{key}.webp"

    def _keep(self, key: str, data: bytes) -> None:
        self._held.put(key, data)
        path = self._path(key)
        # a folder that a link took the place of is none of ours
        if path is None or any(each.is_symlink() for each in path.parents[:3]):
            return
        beside = path.with_name(f".{key}.{os.getpid()}-{threading.get_ident()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # not synced: what a power cut takes is made again
            beside.write_bytes(data)
            beside.replace(path)
        except OSError:  # a full disk, a folder deleted meanwhile: it is kept in memory
            with contextlib.suppress(OSError):
                beside.unlink()
            return
        self._count(len(data))

    def _count(self, added: int) -> None:
        """Keeps the folder below its limit."""
        with self._lock:
            if self._size is None:
                self._size = sum(size for _, size, _ in self._files())
            else:
                self._size += added
            if self._size <= self._most_bytes:
                return
            files = sorted(self._files())
            self._size = sum(size for _, size, _ in files)
            for _, size, path in files:
                # a good part at once: the folder is not listed again for each new one
                if self._size <= self._most_bytes * 0.8:
                    break
                with contextlib.suppress(OSError):
                    path.unlink()
                    self._size -= size

    def _files(self) -> list[tuple[float, int, Path]]:
        """When each was asked for last, its bytes, its place."""
        found: list[tuple[float, int, Path]] = []
        assert self.place is not None
        for folder in HEX:
            for path in self.place.glob(f"{folder}[0-9a-f]/*.webp"):
                with contextlib.suppress(OSError):
                    status = path.stat()
                    found.append((status.st_mtime, status.st_size, path))
        return found


def cache_folder(results: Path) -> Path:
    """Where what is derived of a results folder lies that cannot be written."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    name = hashlib.sha256(os.fsencode(results.resolve())).hexdigest()[:16]
    return Path(base).expanduser() / "vgen-eval" / "view" / name / "thumbs"


def _is_open(folder: Path) -> bool:
    """Can it be written? A results folder that is not there is not made."""
    try:
        if folder.parent.name == ".view" and not folder.parent.parent.is_dir():
            return False
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)
