"""Makes ahead what is likely to be asked for next, while nobody asks for anything."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from vgen_eval.errors import VgenEvalError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from vgen_eval.viewer.site import Site

__all__ = ["Noting", "Warmer", "load_ahead"]

log = logging.getLogger(__name__)

MOST = 64
"""Pictures that wait to be made: a page of a gallery."""
LIBRARIES = ("numpy", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "vgen_eval.results.contrast")
QUIET_S = 0.5
"""After the last request; a page's own pictures come within it."""

Job = Callable[[], object]


class Warmer:
    """One thread that does what it was given last, one by one, between requests."""

    def __init__(self, *, quiet_s: float = QUIET_S) -> None:
        self._quiet_s = quiet_s
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._serving = 0
        self._free_at = 0.0
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        """While a request is answered no job is begun."""
        with self._changed:
            self._serving += 1
        try:
            yield
        finally:
            with self._changed:
                self._serving -= 1
                self._free_at = time.monotonic()
                self._changed.notify()

    def put(self, jobs: Iterable[Job]) -> None:
        """In the place of those that wait: whoever turned a page wants the next one, not the old.

        What a job raises is dropped: a request for the same thing will tell of it.
        """
        kept = deque(islice(jobs, MOST))
        with self._changed:
            self._waiting = kept
            if kept and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="warming", daemon=True)
                self._thread.start()

    @property
    def is_idle(self) -> bool:
        """Is nothing left to be made?"""
        with self._changed:
            return self._thread is None

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except Exception as exc:
                log.debug("not made ahead: %s", exc)

    def _next(self) -> Job | None:
        """Waits for a quiet moment; None where nothing is left, and the thread is given up."""
        with self._changed:
            while self._waiting:
                left = self._free_at + self._quiet_s - time.monotonic()
                if not self._serving and left <= 0:
                    return self._waiting.popleft()
                self._changed.wait(None if self._serving else left)
            self._thread = None
            return None


class Noting:
    """Tells a Warmer of every request."""

    def __init__(self, app: ASGIApp, warmer: Warmer) -> None:
        self.app = app
        self.warmer = warmer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        with self.warmer.serving():
            await self.app(scope, receive, send)


def load_ahead(site: Site) -> threading.Thread:
    """Loads the libraries that the first page with pictures, or the first test, asks for.

    The thread that does it has begun.
    """
    thread = threading.Thread(target=partial(_load, site), name="loading", daemon=True)
    thread.start()
    return thread


def _load(site: Site) -> None:
    from vgen_eval.results.published import load_published

    for name in LIBRARIES:
        import_module(name)

    load_published()
    # the components of one run, and what they are made with
    run = max(site.index.runs(), key=lambda row: (bool(row.ended), row.changed), default=None)
    if run is None:
        return
    sample = next(site.index.all_samples(run), None)
    if sample is not None:
        with contextlib.suppress(VgenEvalError):  # its page will tell
            site.looker.stamp(Path(site.results) / run.path, sample.id)
