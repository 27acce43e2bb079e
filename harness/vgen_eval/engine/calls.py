"""Calls a model: batches, retries, timeouts; whatever an adapter does becomes data.

A batch that raises is cut in half until the request at fault stands alone, so one bad sample
never takes its neighbours down. Retries live here and nowhere else.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from vgen_eval.answers import clean
from vgen_eval.cards.records import Limits
from vgen_eval.errors import CallError, NoPrediction, RateLimited, Refused, Transient
from vgen_eval.types import Adapter, Output, Request, Status

__all__ = ["Call", "Caller"]

log = logging.getLogger(__name__)

MAX_WAIT_S = 120.0
"""The longest wait before another try, whatever a provider asks for."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What one request came to: an output, or a status and its reason."""

    request: Request
    output: Output | None = None
    status: Status = "ok"
    kind: str = ""
    """Name of the exception, for counting."""
    reason: str = ""
    tries: int = 1
    seconds: float = 0.0
    """Model time since the output before it: over a batch they add up to the call's."""
    batch: int = 1


class Caller:
    """Calls one adapter under the limits of its model card."""

    def __init__(
        self, adapter: Adapter, limits: Limits, *, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self._adapter = adapter
        self._limits = limits
        self._stopping = stopping
        self._told: set[str] = set()

    def __call__(self, requests: Sequence[Request]) -> Iterator[Call]:
        """One Call for each request, as they come; never raises for what the adapter does."""
        yield from self._attempt(list(requests), tries=1)

    def _attempt(self, requests: list[Request], *, tries: int) -> Iterator[Call]:
        open_requests = {request.id: request for request in requests}
        since = time.perf_counter()
        fault: BaseException | None = None
        try:
            for output in self._outputs(requests):
                request = self._match(output, open_requests)
                if request is None:
                    continue
                yield Call(
                    request=request,
                    output=output,
                    tries=tries,
                    seconds=time.perf_counter() - since,
                    batch=len(requests),
                )
                since = time.perf_counter()
        except GeneratorExit:  # our own caller listens no longer
            raise
        # an adapter may raise anything: SystemExit, asyncio.CancelledError. No signal arrives
        # here, since this is never the main thread
        except BaseException as exc:
            fault = exc
        left = list(open_requests.values())
        if left:
            seconds = (time.perf_counter() - since) / len(left)
            yield from self._settle(left, fault, tries=tries, seconds=seconds)

    def _match(self, output: Any, open_requests: dict[str, Request]) -> Request | None:
        if not isinstance(output, Output):
            raise TypeError(f"the adapter gave {type(output).__name__}, not an Output")
        request = open_requests.pop(output.id, None)
        if request is None:
            log.warning(
                "%s answered '%s', which is not asked or answered already: passed over",
                type(self._adapter).__name__,
                output.id,
            )
        return request

    def _settle(
        self, left: list[Request], fault: BaseException | None, *, tries: int, seconds: float
    ) -> Iterator[Call]:
        if isinstance(fault, (RateLimited, Transient)) and tries < self._limits.tries:
            if self._wait(fault, tries):
                yield from self._attempt(left, tries=tries + 1)
            return  # stopped while it waited: not made, so that a resume makes it
        if len(left) > 1 and not isinstance(fault, (RateLimited, TimeoutError, type(None))):
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                yield from self._attempt(part, tries=tries)
            return
        status, kind, reason = _describe(fault)
        if status == "error" and fault is not None and not isinstance(fault, CallError):
            # one traceback tells as much as a thousand equal ones
            log.warning(
                "%s: %s", left[0].id, reason, exc_info=None if reason in self._told else fault
            )
            self._told.add(reason)
        for request in left:
            yield Call(
                request=request, status=status, kind=kind, reason=reason, tries=tries,
                seconds=seconds, batch=len(left),
            )  # fmt: skip

    def _wait(self, fault: CallError, tries: int) -> bool:
        """Sleeps before another try; False when the run is being stopped."""
        wait = self._limits.backoff_s * 2 ** (tries - 1) * random.uniform(1.0, 1.1)
        if isinstance(fault, RateLimited) and fault.retry_after is not None:
            wait = max(0.0, fault.retry_after)
        deadline = time.monotonic() + min(wait, MAX_WAIT_S)
        while (left := deadline - time.monotonic()) > 0:
            if self._stopping():
                return False
            time.sleep(min(left, 0.1))
        return not self._stopping()

    def _outputs(self, requests: list[Request]) -> Iterator[Output]:
        timeout = self._limits.timeout_s
        if timeout is None:
            yield from self._adapter.generate(requests)
            return
        yield from _within(lambda: self._adapter.generate(requests), timeout * len(requests))


def _within(call: Callable[[], Iterator[Output]], seconds: float) -> Iterator[Output]:
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
    deadline = time.monotonic() + seconds
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


def _describe(fault: BaseException | None) -> tuple[Status, str, str]:
    if fault is None:
        return "error", "NoOutput", "the adapter gave no output for this request"
    kind = type(fault).__name__
    reason = _words(fault) or kind
    if isinstance(fault, Refused):
        return "refused", kind, reason
    if isinstance(fault, NoPrediction):
        return "missing", kind, reason
    if isinstance(fault, TimeoutError):
        return "timeout", kind, reason
    return "error", kind, f"{kind}: {reason}" if reason != kind else kind


def _words(fault: BaseException) -> str:
    """The message on one line; anyone's exception, so it may even fail to be written."""
    try:
        return clean(" ".join(str(fault).split())[:500])
    except Exception as exc:
        return f"(its message raised {type(exc).__name__})"
