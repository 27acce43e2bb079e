"""How long a call may take, and what becomes of one that takes longer."""

from __future__ import annotations

import numbers
import queue
import threading
import time
from collections.abc import Callable, Iterator

from vgen_eval.cards.records import Limits
from vgen_eval.types import Adapter, Output

__all__ = ["GRACE_S", "grace_of", "read_timeout", "within"]

GRACE_S = 5.0
"""How much longer than an adapter's own limit is waited for it to end its call by itself."""


def read_timeout(adapter: Adapter, limits: Limits) -> float | None:
    """Seconds a request may take: the card's limit, or the adapter's own where it has one."""
    if limits.timeout_s is not None:
        return limits.timeout_s
    own = getattr(adapter, "timeout", None)  # of other authors' classes it may be a method
    if not isinstance(own, numbers.Real) or isinstance(own, bool):
        return None
    return float(own) if float(own) > 0 else None


def grace_of(adapter: Adapter) -> float:
    """Seconds beyond the limit: for an adapter that ends its calls itself, should it fail to."""
    own = (getattr(adapter, "endpoint", None), getattr(adapter, "timeout_s", None))
    return 0.0 if own == (None, None) else GRACE_S


def within(
    call: Callable[[], Iterator[Output]], seconds: float, *, grace: float
) -> Iterator[Output]:
    """The call's outputs, TimeoutError when they take longer in all.

    A thread cannot be ended from outside: one that hangs is left behind and its answers are
    not heard.
    """
    outputs: queue.SimpleQueue[tuple[Output | None, BaseException | None]] = queue.SimpleQueue()
    over = StopIteration()

    def work() -> None:
        try:
            for output in call():
                outputs.put((output, None))
            outputs.put((None, over))
        except BaseException as exc:
            outputs.put((None, exc))

    threading.Thread(target=work, daemon=True, name="model-call").start()
    deadline = time.monotonic() + seconds + grace
    while True:
        try:
            output, end = outputs.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        if end is over:
            return
        if end is not None:
            raise end
        yield output  # type: ignore[misc]  # whatever it is: the caller looks at it
