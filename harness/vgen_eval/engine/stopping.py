"""How a run is asked to stop: once for its calls in flight to be finished, twice to drop them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

__all__ = ["Stop"]


class Stop:
    """Asked once: calls in flight are finished. Asked twice: they are dropped."""

    def __init__(self) -> None:
        self.soft = threading.Event()
        self.hard = threading.Event()
        self._asked = False
        self._listeners: list[Callable[[], None]] = []
        self._inside: set[int] = set()
        """Threads that are telling it just now."""

    def ask(self) -> None:
        """Stops; the second time at once."""
        if self._asked:
            self.hard.set()
        self._asked = True
        self.finish()

    def finish(self) -> None:
        """Stops once the calls in flight are over, however often it is said."""
        thread = threading.get_ident()
        if thread in self._inside:
            return  # a signal came in the middle of this: its handler would wait for itself
        self._inside.add(thread)
        try:
            self.soft.set()
            for listener in tuple(self._listeners):
                listener()
        finally:
            self._inside.discard(thread)

    @contextlib.contextmanager
    def heard_by(self, *listeners: Callable[[], None]) -> Iterator[None]:
        """Within, these are called when it is asked; at once when that was before.

        They may be called in a signal handler: they set flags and wake others, and wait for none.
        """
        self._listeners += listeners
        try:
            if self.soft.is_set():
                self.finish()
            yield
        finally:
            for listener in listeners:
                self._listeners.remove(listener)
