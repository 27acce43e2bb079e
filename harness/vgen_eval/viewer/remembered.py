"""What was made lately, under keys: the least used is dropped."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Remembered"]

Found = TypeVar("Found")
_NOTHING: Any = object()


class Remembered(Generic[Found]):
    """So much at most, by weight; may be used from several threads."""

    def __init__(
        self, most: int, *, weigh: Callable[[Found], int] | None = None, keeps_last: bool = False
    ) -> None:
        """`weigh`: what a thing counts, asked once; None: each counts one.

        `keeps_last`: what was asked for last stays, be it ever so heavy. Without it a thing that
        is heavier than `most` is not kept, and puts nothing out.
        """
        self._most = most
        self._weigh = weigh or (lambda _: 1)
        self._keeps_last = keeps_last
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[Found, int]] = OrderedDict()
        self._held = 0

    def get(self, key: Any, make: Callable[[], Found]) -> Found:
        """What is remembered under the key, made where nothing is."""
        found: Found = self._find(key)
        if found is _NOTHING:
            found = make()
            self.put(key, found)
        return found

    def find(self, key: Any) -> Found | None:
        """What is remembered under the key; None where nothing is."""
        found = self._find(key)
        return None if found is _NOTHING else found

    def put(self, key: Any, found: Found) -> None:
        """In the place of what was under the key."""
        weight = self._weigh(found)
        with self._lock:
            _, old = self._kept.pop(key, (None, 0))
            self._held -= old
            if weight > self._most and not self._keeps_last:
                return
            self._kept[key] = (found, weight)
            self._held += weight
            while self._held > self._most and len(self._kept) > self._keeps_last:
                _, (_, freed) = self._kept.popitem(last=False)
                self._held -= freed

    def clear(self) -> None:
        """Nothing is remembered any more."""
        with self._lock:
            self._kept.clear()
            self._held = 0

    def _find(self, key: Any) -> Any:
        with self._lock:
            if key not in self._kept:
                return _NOTHING
            self._kept.move_to_end(key)
            return self._kept[key][0]

    @property
    def latest(self) -> Found | None:
        """What was asked for last; None where nothing is remembered."""
        with self._lock:
            found, _ = next(reversed(self._kept.values()), (None, 0))
            return found

    @property
    def held(self) -> int:
        """The weight of all that is remembered."""
        with self._lock:
            return self._held
