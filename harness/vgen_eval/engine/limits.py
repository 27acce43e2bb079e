"""Limits of a service: how many calls at once, how many a minute, and waits that it asks for.

One gate stands before each pair of host and key, for all jobs of a command. It finds out how much
the service bears as TCP does (slow start, then additive increase, multiplicative decrease), and
closes for everybody when a 429 says for how long.
"""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections import deque
from collections.abc import Callable

from vgen_eval.engine.stopping import Stop
from vgen_eval.errors import RateLimited, Transient

__all__ = ["MAX_WAIT_S", "Gate", "Pace", "Window", "asked_wait", "backoff"]

log = logging.getLogger(__name__)

MAX_WAIT_S = 120.0
"""The longest wait before another try, whatever a service asks for."""

MOST_BACKOFF_S = 60.0
"""The longest wait after a 429 that asks for none: a minute is what services count in."""

MOST_SLEEP_S = 3600.0
"""Longer waits are slept through in parts: an operating system does not bear any number."""

FIRST = 2
"""Calls at once with which a service is met."""

MINUTE_S = 60.5
"""In what time `per_minute` calls may start: half a second for what shifts them on their way."""

RECENT = 15
"""Latencies whose median counts; fewer than a third of them say nothing."""

SLOW = 2.0
"""Times the best median at which a service counts as slowed down by us."""


def asked_wait(fault: BaseException | None) -> float | None:
    """Seconds that a 429 asks to wait, at most MAX_WAIT_S; None where it asks for nothing.

    A negative or unreadable number asks for nothing; a longer wait is cut, and the log says so.
    """
    if not isinstance(fault, RateLimited):
        return None
    try:
        # anyone's class: its own __init__ may have set nothing
        seconds = float(getattr(fault, "retry_after", None))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not math.isfinite(seconds) or seconds < 0:
        return None
    if seconds > MAX_WAIT_S:
        log.warning("asked to wait %g s before another call: cut to %g s", seconds, MAX_WAIT_S)
    return min(seconds, MAX_WAIT_S)


def backoff(first_s: float, times: int, most_s: float = MAX_WAIT_S) -> float:
    """Seconds to wait after so many failures: doubled for each, up to a tenth longer by chance."""
    return min(first_s * 2.0 ** min(times - 1, 30) * random.uniform(1.0, 1.1), most_s)


class Window:
    """How many calls a service bears at once, by what became of those before. Holds no lock.

    It opens by one an answer, which doubles it each round, until a 429: that halves it, once for
    all calls that were on their way then, and from there it opens by one a round. It stays as it
    is while it was not full, and while calls have grown slow: the median of the last 15 latencies
    is over twice the best such median seen.
    """

    def __init__(self) -> None:
        self.most = 1
        self.size = float(FIRST)
        self._turn = math.inf  # where doubling ends
        self._cut_at = -math.inf
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._best = math.inf

    def begin(self, most: int) -> None:
        """Another job begins: what it found out of the service stays, latencies do not."""
        self.most = most
        self._recent.clear()
        self._best = math.inf

    @property
    def room(self) -> int:
        """Calls that may be in flight."""
        return max(1, min(int(self.size), self.most))

    def answered(self, seconds: float, *, full: bool) -> None:
        """A call gave its answer; `full`: no other could have been made beside it."""
        slow = self._is_slow(seconds)
        if full and not slow and self.size < self.most:
            self.size += 1.0 if self.size < self._turn else 1.0 / self.size

    def _is_slow(self, seconds: float) -> bool:
        self._recent.append(seconds)
        if len(self._recent) < RECENT // 3:
            return False
        median = sorted(self._recent)[len(self._recent) // 2]
        self._best = min(self._best, median)
        return median > SLOW * self._best

    def limited(self, begun: float, now: float) -> None:
        """A call that began then was refused as one too many."""
        if begun < self._cut_at:
            return  # it was on its way before the service had room to say so
        self.size = self._turn = max(1.0, min(self.size, self.most) / 2)
        self._cut_at = now


class Pace:
    """When the next call may start, so that no minute holds more than are allowed. No lock.

    Calls are spread evenly from the first on: services count in seconds as well as in minutes, and
    a burst at the start would be refused by those that do.
    """

    def __init__(self) -> None:
        self._gap = 0.0
        self._next = -math.inf

    def begin(self, per_minute: float | None) -> None:
        """Another job begins, whose card allows so many."""
        self._gap = MINUTE_S / per_minute if per_minute else 0.0

    def wait(self, now: float) -> float:
        """Seconds until a call may start."""
        return max(0.0, self._next - now)

    def start(self, now: float) -> None:
        """One starts."""
        self._next = now + self._gap


class Gate:
    """Lets calls to one service through; safe to use from any number of threads.

    Of those that wait, one waits for the service and the others for that one: a call that may
    begin wakes a single thread.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._door = threading.Lock()
        self._changed = threading.Condition()
        self._window = Window()
        self._pace = Pace()
        self._adapts = True
        self._flying = 0
        self._closed_until = -math.inf
        self._refused_at = -math.inf
        self.refused = 0
        """Rounds of calls in a row that came to nothing but 429s."""

    def begin(self, *, most: int, per_minute: float | None, adapts: bool) -> None:
        """A job begins: `most` calls at once; without `adapts` always as many."""
        with self._changed:
            self._adapts = adapts
            self.refused = 0  # another model may have calls left
            self._window.begin(most)
            self._pace.begin(per_minute)

    def enter(self, stop: Stop) -> float | None:
        """Waits for its turn; gives the moment at which the call begins, None when stopped."""
        with self._door, self._changed:
            while not stop.soft.is_set():
                now = self._clock()
                wait = self._wait(now)
                if wait <= 0:
                    self._flying += 1
                    self._pace.start(now)
                    return now
                self._changed.wait(None if math.isinf(wait) else min(wait, MOST_SLEEP_S))
        return None

    def _wait(self, now: float) -> float:
        """Seconds until a call may begin; inf: one must end first."""
        room = self._window.room if self._adapts else self._window.most
        if self._flying >= room:
            return math.inf
        return max(self._pace.wait(now), self._closed_until - now)

    def leave(
        self,
        begun: float,
        fault: BaseException | None,
        *,
        seconds: float,
        wait_s: float | None,
        backoff_s: float = 0.0,
    ) -> None:
        """A call ended, by a fault or none, after so many seconds.

        `wait_s` it asks all to wait. A 429 that asks for nothing, or follows one after which
        nothing was answered, closes the gate for `backoff_s`, doubled for each in a row.
        """
        with self._changed:
            now = self._clock()
            full = self._flying >= self._window.room
            self._flying -= 1
            if isinstance(fault, RateLimited):
                self._close(begun, now, wait_s, backoff_s)
            elif self.refused and not isinstance(fault, (Transient, TimeoutError)):
                self.refused = 0
            if self._adapts and fault is None:
                self._window.answered(seconds, full=full)
            elif self._adapts and isinstance(fault, RateLimited):
                self._window.limited(begun, now)
            self._changed.notify()

    def _close(self, begun: float, now: float, asked: float | None, backoff_s: float) -> None:
        if begun >= self._refused_at:  # not on its way already when the last one was refused
            self.refused += 1
            self._refused_at = now
        wait = asked or 0.0
        if asked is None or self.refused > 1:
            wait = max(wait, backoff(backoff_s, self.refused, MOST_BACKOFF_S))
        self._closed_until = max(self._closed_until, now + wait)

    def wake(self) -> None:
        """Makes those who wait look whether they are still to wait."""
        with self._changed:
            self._changed.notify_all()
