"""What was made lately, under keys: the least used is dropped."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["Remembered"]

Found = TypeVar("Found")


class Remembered(Generic[Found]):
    """So many things at most; may be used from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, Found] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Found]) -> Found:
        """What is remembered under the key, made where nothing is."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = make()
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found
