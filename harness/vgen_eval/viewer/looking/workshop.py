"""Work that may hang: each in a thread of its own, with a limit on how long others wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from vgen_eval.errors import NotRunnable

__all__ = ["Busy", "Piece", "Room", "Workshop"]

PATIENCE_S = 30.0
"""Seconds for which it is waited for a piece of work."""
SOFT_S = 5.0
"""Seconds after which a run's further pieces are waited for no longer, when some are so late."""
MOST_LATE = 3
"""Pieces of one run that are waited for beyond `SOFT_S`."""
MOST_HANGING = 2
"""Pieces of one run that may hang: the run's others are not begun any more."""
MOST_THREADS = 24
"""Pieces that are at work at one time, hanging ones with them."""

T = TypeVar("T")


class Busy(NotRunnable):
    """It is still being made, or hangs; or too much else does."""


class Room:
    """So much may be in hand at one time, by weight: memory, above all.

    What weighs more than all there is goes in alone.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._changed = threading.Condition()

    def enter(self, weight: int, *, patience_s: float | None = None) -> bool:
        """Waits for the room; False where it did not come in time. `leave` gives it back."""
        weight = min(weight, self._most)
        with self._changed:
            if not self._changed.wait_for(lambda: self._taken + weight <= self._most, patience_s):
                return False
            self._taken += weight
            return True

    def leave(self, weight: int) -> None:
        """Gives back what `enter` took."""
        with self._changed:
            self._taken -= min(weight, self._most)
            self._changed.notify_all()

    @contextmanager
    def taken(self, weight: int, *, patience_s: float = PATIENCE_S) -> Iterator[None]:
        """In the room, for as long as the block lasts; Busy where none came in time."""
        if not self.enter(weight, patience_s=patience_s):
            raise Busy("too much is being drawn at once", cure="load the page again")
        try:
            yield
        finally:
            self.leave(weight)


class Piece(Generic[T]):
    """A piece of work, and the room that it has taken."""

    def __init__(self, group: str, room: Room) -> None:
        self.group = group
        self.begun = time.monotonic()
        self.done = threading.Event()
        self.found: Any = None
        self.fault: BaseException | None = None
        self.is_late = False
        self.is_hanging = False
        self._room = room
        self._lock = threading.Lock()
        self._weight = 0
        self._is_free = False
        self.is_queued = False
        """Does it wait for room?"""

    @contextmanager
    def room(self, weight: int) -> Iterator[None]:
        """In the room, until it is done or was waited for too long."""
        with self._lock:
            is_free = self._is_free
        if is_free:  # nobody waits for it any more
            raise Busy("it was not begun in time", cure="load the page again")
        self.is_queued = True
        self._room.enter(weight)
        with self._lock:
            self._weight, self.is_queued = weight, False
        try:
            if self._is_free:
                raise Busy("it was not begun in time", cure="load the page again")
            yield
        finally:
            self.give_back()

    def give_back(self, *, for_good: bool = False) -> None:
        """Others may have its room: it is done, or hangs."""
        with self._lock:
            weight, self._weight = self._weight, 0
            self._is_free = self._is_free or for_good
        if weight:
            self._room.leave(weight)


class Workshop:
    """Does each piece of work once, in a daemon thread: one that hangs keeps nothing from ending.

    What hangs gives its room back, and a run of which pieces hang is told to be busy.
    """

    def __init__(
        self, room: Room, *, patience_s: float = PATIENCE_S, soft_s: float = SOFT_S
    ) -> None:
        """`room`: what `make` may take its part of."""
        self._room = room
        self._patience_s = patience_s
        self._soft_s = min(soft_s, patience_s)
        self._lock = threading.Lock()
        self._pieces: dict[str, Piece[Any]] = {}

    def ask(self, key: str, group: str, make: Callable[[Piece[T]], T]) -> T:
        """What `make` gives, or raises; Busy where it does not come in time.

        `group`: the run, of which no more than a few pieces may be late.
        """
        piece = self._begin(key, group, make)
        self._wait(piece)
        if not piece.done.is_set():
            raise Busy(
                f"still being made, or hangs: {time.monotonic() - piece.begun:.0f} s by now",
                cure="load the page again; where it stays so, a view, a decoder or a reader hangs",
            )
        if piece.fault is not None:
            raise piece.fault
        found: T = piece.found
        return found

    def _begin(self, key: str, group: str, make: Callable[[Piece[T]], T]) -> Piece[T]:
        with self._lock:
            found = self._pieces.get(key)
            if found is not None:
                return found
            hanging = sum(p.is_hanging for p in self._pieces.values() if p.group == group)
            if hanging >= MOST_HANGING or len(self._pieces) >= MOST_THREADS:
                of_what = "others of this run hang" if hanging else "too much is being made"
                raise Busy(f"busy: {of_what}", cure="load the page again, or start the viewer anew")
            piece: Piece[T] = Piece(group, self._room)
            self._pieces[key] = piece
        thread = threading.Thread(
            target=self._work, args=(key, piece, make), name="looking", daemon=True
        )
        thread.start()
        return piece

    def _work(self, key: str, piece: Piece[T], make: Callable[[Piece[T]], T]) -> None:
        try:
            piece.found = make(piece)
        except BaseException as exc:  # whoever asked has it: no thread of the user's ends here
            piece.fault = exc
        finally:
            with self._lock:
                self._pieces.pop(key, None)
            piece.done.set()

    def _wait(self, piece: Piece[Any]) -> None:
        left = piece.begun + self._soft_s - time.monotonic()
        if piece.done.wait(max(0.0, left)):
            return
        with self._lock:
            late = [p.group for p in self._pieces.values() if p.is_late and p is not piece]
            if late.count(piece.group) >= MOST_LATE:
                return
            piece.is_late = True
        if len(late) < MOST_LATE:  # others need not wait for it
            piece.give_back()
        left = piece.begun + self._patience_s - time.monotonic()
        if not piece.done.wait(max(0.0, left)):
            piece.is_hanging = not piece.is_queued
            piece.give_back(for_good=True)
