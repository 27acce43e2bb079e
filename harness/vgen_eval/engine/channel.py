"""A bounded queue between two stages: closes when its producers are done, or aborts at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

__all__ = ["Channel"]

T = TypeVar("T")


class Channel(Generic[T]):
    """Like queue.Queue, but with an end: `take` gives nothing more once all producers are done."""

    def __init__(
        self,
        size: int,
        *,
        producers: int = 1,
        consumers: int = 1,
        weight: Callable[[T], int] = lambda _: 0,
        most: int = 1,
    ) -> None:
        """Holds `size` items, and no more once their weights come to `most`."""
        self._size = size
        self._weigh = weight
        self._most = most
        self._held = 0
        self._consumers = consumers
        self._producers = producers
        self._items: deque[T] = deque()
        self._aborted = False
        lock = threading.Lock()
        self._room = threading.Condition(lock)
        self._filled = threading.Condition(lock)

    def put(self, item: T) -> bool:
        """Waits for room; False when the channel was aborted and the item went nowhere."""
        with self._room:
            while self._is_full() and not self._aborted:
                self._room.wait()
            if self._aborted:
                return False
            self._held += self._weigh(item)
            self._items.append(item)
            self._filled.notify()
            return True

    def _is_full(self) -> bool:
        return len(self._items) >= self._size or self._held >= self._most

    def take(self, count: int = 1, *, wait: bool = True) -> list[T]:
        """Waits for `count` items, or without `wait` for one; none when it is over.

        At the end there may be fewer.
        """
        taken: list[T] = []
        with self._filled:
            while len(taken) < count:
                while not self._items and self._producers > 0 and not self._aborted:
                    if taken and not wait:
                        return taken
                    self._filled.wait()
                if self._aborted or not self._items:
                    break
                taken.append(self._items.popleft())
                self._held -= self._weigh(taken[-1])
                self._room.notify()
        return [] if self._aborted else taken

    def __iter__(self) -> Iterator[T]:
        """Items as they come: each consumer takes its share of what waits, to lock less often."""
        while items := self.take(max(1, len(self._items) // self._consumers), wait=False):
            yield from items

    def done(self) -> None:
        """One producer will put nothing more."""
        with self._filled:
            self._producers -= 1
            self._filled.notify_all()

    def abort(self) -> None:
        """Everybody stops: waiting items are dropped."""
        with self._room:
            self._aborted = True
            self._items.clear()
            self._room.notify_all()
            self._filled.notify_all()
