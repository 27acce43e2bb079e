"""Pictures of a release that gives their addresses: fetched, compared with their sha256, kept."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
from vgen_eval.errors import Transient, Undecodable
from vgen_eval.imaging import decode_image, read_bytes
from vgen_eval.remote import fetch

from vgen_eval_plugins.datasets.prepared_counts import IMAGES, suffix_of, write_atomic

__all__ = ["Fetched", "Fetcher", "Wanted"]

WORKERS = 8
"""Pictures fetched at one time."""
TRIES = 2
PAUSE_S = 0.5
TIMEOUT_S = 30.0
LARGEST = 1 << 26
"""Bytes of one picture."""
TELL_EVERY = 50
LOST_TOLD = 1000
SUFFIXES = ("jpg", "png", "webp", "gif", "bmp", "tif", "ppm", "bin")


class Wanted(msgspec.Struct, frozen=True):
    """A picture and where it may be had."""

    sha256: str
    urls: tuple[str, ...]


class Fetched(msgspec.Struct, frozen=True):
    """A picture that is there."""

    sha256: str
    suffix: str
    size: tuple[int, int]
    """(width, height) as it is shown."""


class _Lost(msgspec.Struct, frozen=True):
    kind: str
    why: str


class Fetcher:
    """Brings pictures into `root`/images and counts those that could not be had.

    `trusted`: an origin, http://host:port, that may be plain http and private; every other
    address is asked over https alone, one that says http too.
    """

    def __init__(self, root: Path, *, trusted: str | None = None) -> None:
        self.folder = root / IMAGES
        self.trusted = trusted
        self.lost: list[dict[str, str]] = []
        self.counts: Counter[str] = Counter()
        """Pictures left out, by the kind of fault."""

    def bring(
        self, wanted: Iterable[Wanted], *, count: int | None, say: Callable[[str], None]
    ) -> Iterator[Fetched]:
        """The first `count` of the wanted that can be had, in their order; None: all of them.

        What lies there with the right bytes is not fetched. At most 2 x WORKERS are under way
        beyond those that were given out.
        """
        source = iter(wanted)
        given = 0
        pool = ThreadPoolExecutor(WORKERS)
        try:
            window: deque[tuple[Wanted, Future[Fetched | _Lost]]] = deque()
            while count is None or given < count:
                # no more at once than are wanted: the rest would be fetched for nothing
                room = 2 * WORKERS if count is None else min(2 * WORKERS, count - given)
                for one in itertools.islice(source, max(0, room - len(window))):
                    window.append((one, pool.submit(self._bring_one, one)))
                if not window:
                    return
                one, future = window.popleft()
                found = future.result()
                if isinstance(found, _Lost):
                    self._note(one, found)
                    continue
                given += 1
                if given % TELL_EVERY == 0:
                    say(f"{given}{'' if count is None else f' of {count}'} pictures")
                yield found
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _note(self, one: Wanted, found: _Lost) -> None:
        self.counts[found.kind] += 1
        if len(self.lost) < LOST_TOLD:
            url = one.urls[0] if one.urls else ""
            self.lost.append({"sha256": one.sha256, "url": url, "why": found.why})

    def _bring_one(self, one: Wanted) -> Fetched | _Lost:
        there = self._find(one.sha256)
        if there is not None:
            return there
        lost = _Lost("dead links", "no address is given")
        for url in one.urls:
            try:
                data = self._fetch(url)
            except (Undecodable, Transient) as exc:
                lost = _Lost("dead links", str(exc))
                continue
            if hashlib.sha256(data).hexdigest() != one.sha256:
                lost = _Lost("other pictures", "its sha256 is not the one that the release gives")
                continue
            try:
                return self._keep(one.sha256, data)
            except Undecodable as exc:
                lost = _Lost("unreadable pictures", exc.what)
        return lost

    def _fetch(self, url: str) -> bytes:
        own = self.trusted is not None and url.startswith(self.trusted.rstrip("/") + "/")
        if url[:7].lower() == "http://" and not own:
            url = f"https://{url[7:]}"
        for left in reversed(range(TRIES)):
            try:
                return fetch(url, trusted=self.trusted, limit=LARGEST, timeout=TIMEOUT_S)
            except Transient:
                if not left:
                    raise
                time.sleep(PAUSE_S)
        raise AssertionError("TRIES is 1 or more")

    def _find(self, sha256: str) -> Fetched | None:
        """The picture that lies there already, if it has the right bytes."""
        for suffix in SUFFIXES:
            path = self.folder / f"{sha256}.{suffix}"
            if not path.is_file():
                continue
            try:
                data = read_bytes(path, limit=LARGEST)
                if hashlib.sha256(data).hexdigest() == sha256:
                    return Fetched(sha256, suffix, _size_of(data, path.name))
            except Undecodable:
                continue
        return None

    def _keep(self, sha256: str, data: bytes) -> Fetched:
        """Undecodable for what is no picture."""
        suffix = suffix_of(data)
        name = f"{sha256}.{suffix}"
        size = _size_of(data, name)
        write_atomic(self.folder / name, data)
        return Fetched(sha256, suffix, size)


def _size_of(data: bytes, what: str) -> tuple[int, int]:
    height, width = decode_image(data, what=what).shape[:2]
    return width, height
