"""Calls a model: batches, retries, timeouts; whatever an adapter does becomes data.

A batch that raises is cut in half until the request at fault stands alone, so one bad sample
never takes its neighbours down. Retries live here and nowhere else. Each try first gets its share
of the purse, then its turn at the gate of the service.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import msgspec

from vgen_eval.answers import clean
from vgen_eval.cards.records import Limits, Price
from vgen_eval.engine.budget import Account, Purse, Reserved, Spent
from vgen_eval.engine.faults import describe
from vgen_eval.engine.limits import MOST_BACKOFF_S, Gate, asked_wait, backoff
from vgen_eval.engine.pricing import cost_of
from vgen_eval.engine.stopping import Stop
from vgen_eval.engine.time_limit import grace_of, read_timeout, within
from vgen_eval.engine.tries import Call, Refusals, Tries
from vgen_eval.engine.usage import MOST_USD, count_tokens, read_usage
from vgen_eval.errors import CallError, NotRunnable, RateLimited, Transient
from vgen_eval.types import Adapter, Output, Request, Usage
from vgen_eval.wording import plural

__all__ = ["Caller"]

log = logging.getLogger(__name__)

MOST_LOST = 3
"""Requests that a service which never answered may fail before its run ends."""

MOST_LOST_IN_A_ROW = 8
"""Requests in a row that a service may fail which has answered before."""

MOST_REFUSED = 8
"""Rounds of 429s in a row, with no answer between: after two minutes there is no more to come."""

MOST_FREE = 20
"""429s of one attempt at most that use up no try, while others are answered."""

MOST_TOLD = 100
"""Faults whose traceback is logged: words that name their sample differ for each of 100,000."""


NEVER = Refusals()


class Caller:
    """Calls one adapter under the limits of its model card; many threads may share it."""

    def __init__(
        self,
        adapter: Adapter,
        limits: Limits,
        *,
        price: Price | None = None,
        stop: Stop | None = None,
        gate: Gate | None = None,
        purse: Purse | None = None,
        account: Account | None = None,
    ) -> None:
        self._adapter = adapter
        self._limits = limits
        self._price = price
        self._stop = stop or Stop()
        self._gate = gate
        self._purse = purse
        self._account = account
        self._serves = getattr(adapter, "endpoint", None) is not None
        self._timeout = read_timeout(adapter, limits)
        self._grace = grace_of(adapter)
        self._told: set[str] = set()
        self._lock = threading.Lock()
        self._lost = 0
        """Requests in a row that failed by no fault of theirs, while nothing was answered."""
        self._answered_at = -math.inf
        self._is_gone = False
        self.unfinished: list[Tries] = []
        """Tries of attempts that were then not made, because the run was stopped."""

    def __call__(self, requests: Sequence[Request]) -> Iterator[Call]:
        """One Call for each request, as they come; none for those that a stop left unmade.

        Raises NotRunnable where the adapter does, and nothing else that it raises.
        """
        yield from self._attempt(list(requests), tries=1, past={})

    # --- one try --------------------------------------------------------------------------

    def _attempt(
        self,
        requests: list[Request],
        *,
        tries: int,
        past: dict[str, Tries],
        refused: Refusals = NEVER,
    ) -> Iterator[Call]:
        """`tries`: which try of these requests it is; `past`: what those before came to."""
        while requests:
            reserved: Reserved | None = None
            granted = len(requests)
            if self._purse is not None and self._account is not None:
                reserved = self._purse.reserve(self._account, granted, self._stop)
                if reserved is None:
                    break
                granted = reserved.calls
            begun = self._gate.enter(self._stop) if self._gate is not None else 0.0
            if begun is None:
                self._settle_account(reserved, None)
                break
            now, requests = requests[:granted], requests[granted:]
            try:
                yield from self._try(now, begun, reserved, tries=tries, past=past, refused=refused)
            except NotRunnable:
                self._give_up(requests, past, made=tries - 1)
                raise
        self._give_up(requests, past, made=tries - 1)

    def _try(
        self,
        requests: list[Request],
        begun: float,
        reserved: Reserved | None,
        *,
        tries: int,
        past: dict[str, Tries],
        refused: Refusals,
    ) -> Iterator[Call]:
        open_requests = {request.id: request for request in requests}
        spent: list[Spent] = []
        busy = 0.0
        began = since = time.perf_counter()
        fault: BaseException | None = None
        try:
            for output in self._outputs(requests):
                request = self._match(output, open_requests)
                if request is None:
                    continue
                now = time.perf_counter()
                seconds = now - since
                busy += seconds
                self._answered_at = now
                self._lost = 0
                usage = read_usage(output.usage, request.id)
                cost = self._cost(usage, request, answered=output.answer is not None)
                if reserved is not None:
                    spent.append(_spent(usage, cost, answered=True))
                before = past.get(request.id) if past else None
                call = Call(
                    request=request,
                    output=output,
                    tries=tries,
                    seconds=seconds,
                    batch=len(requests),
                    usage=_joined(before, usage),
                    cost=cost if before is None else _added(before.cost, cost),
                    failed_ids=() if before is None else before.ids,
                )
                del open_requests[request.id]  # whatever goes wrong before, it gets its line
                yield call
                since = time.perf_counter()
        except GeneratorExit:  # our own caller listens no longer
            raise
        # an adapter may raise anything: SystemExit, asyncio.CancelledError. No signal arrives
        # here, since this is never the main thread
        except BaseException as exc:
            fault = exc
            if open_requests:
                spent += self._remember(next(iter(open_requests.values())), fault, past)
        finally:
            asked = asked_wait(fault)
            if self._gate is not None:
                busy = busy or time.perf_counter() - since
                self._gate.leave(
                    begun, fault, seconds=busy, wait_s=asked, backoff_s=self._limits.backoff_s
                )
            self._settle_account(reserved, spent)
        left = list(open_requests.values())
        if isinstance(fault, NotRunnable) and left:
            self._give_up(left, past, made=tries)
            raise fault
        if left:
            seconds = (time.perf_counter() - since) / len(left)
            refused = self._count(refused, fault, began)
            yield from self._settle(
                left, fault, asked, tries=tries, seconds=seconds, past=past, refused=refused
            )

    def _match(self, output: Any, open_requests: dict[str, Request]) -> Request | None:
        if not isinstance(output, Output):
            raise TypeError(f"the adapter gave {type(output).__name__}, not an Output")
        request = open_requests.get(output.id)
        if request is None:
            log.warning(
                "%s answered '%s', which is not asked or answered already: passed over",
                type(self._adapter).__name__,
                output.id,
            )
        return request

    # --- what it cost ---------------------------------------------------------------------

    def _cost(self, usage: Usage | None, request: Request, *, answered: bool) -> Decimal | None:
        if usage is None and self._price is None:
            return None
        cost = cost_of(usage, self._price, form=request.form, answered=answered)
        return None if cost is not None and cost > MOST_USD else cost

    def _remember(
        self, request: Request, fault: BaseException, past: dict[str, Tries]
    ) -> list[Spent]:
        """Notes what a try was billed for that failed; of a batch its first request bears it."""
        if not isinstance(fault, CallError):
            return []
        try:  # anyone's class: its attributes may raise
            usage = read_usage(getattr(fault, "usage", None), request.id)
            name = getattr(fault, "request_id", None)
            name = None if name is None else clean(str(name))
        except Exception:
            log.warning("%s: what its fault was billed cannot be read", request.id, exc_info=True)
            return []
        if usage is None and name is None:
            return []
        # a try that names no usage is taken to have cost nothing
        cost = Decimal(0) if usage is None else self._cost(usage, request, answered=False)
        before = past.get(request.id) or Tries()
        past[request.id] = Tries(
            usage=_joined(before, usage),
            cost=_added(before.cost, cost),
            ids=before.ids if name is None else (*before.ids, name),
        )
        return [] if usage is None else [_spent(usage, cost, answered=False)]

    def _settle_account(self, reserved: Reserved | None, spent: list[Spent] | None) -> None:
        if reserved is not None and self._purse is not None:
            self._purse.settle(reserved, spent)

    def _give_up(self, requests: list[Request], past: dict[str, Tries], *, made: int) -> None:
        """Leaves them unmade, so that a resume makes them; what was tried was billed for."""
        for request in requests if made else ():
            before = past.get(request.id) or Tries()
            self.unfinished.append(msgspec.structs.replace(before, count=made))

    # --- faults ---------------------------------------------------------------------------

    def _settle(
        self,
        left: list[Request],
        fault: BaseException | None,
        asked: float | None,
        *,
        tries: int,
        seconds: float,
        past: dict[str, Tries],
        refused: Refusals,
    ) -> Iterator[Call]:
        may_pass = self._may_pass(fault)
        if may_pass and tries - refused.free < self._limits.tries:
            if isinstance(fault, RateLimited):
                self._end_if_shut(left, past, made=tries)
            if self._wait(fault, asked, tries, refused):
                yield from self._attempt(left, tries=tries + 1, past=past, refused=refused)
            else:
                self._give_up(left, past, made=tries)
            return
        if len(left) > 1 and not isinstance(fault, (RateLimited, TimeoutError, type(None))):
            half = len(left) // 2
            for part in (left[:half], left[half:]):
                yield from self._attempt(part, tries=tries, past=past, refused=refused)
            return
        if may_pass and self._is_gone:  # no fault of theirs: they are left to a resume
            self._give_up(left, past, made=tries)
            return
        status, kind, reason = describe(fault)
        if status == "error" and fault is not None and not isinstance(fault, CallError):
            # one traceback tells as much as a thousand equal ones
            is_new = reason not in self._told and len(self._told) < MOST_TOLD
            log.warning("%s: %s", left[0].id, reason, exc_info=fault if is_new else None)
            if is_new:
                self._told.add(reason)
        for request in left:
            before = past.get(request.id) or Tries()
            yield Call(
                request=request, status=status, kind=kind, reason=reason, tries=tries,
                seconds=seconds, batch=len(left), usage=before.usage,
                cost=before.cost if before.usage else None, failed_ids=before.ids,
            )  # fmt: skip
        if self._serves and may_pass:
            self._end_if_lost(len(left), reason)
        elif isinstance(fault, CallError):
            self._lost = 0  # a word of the service's own: it is there

    def _end_if_lost(self, lost: int, reason: str) -> None:
        """NotRunnable where a service has failed some requests and answered none since: it is not
        there, or no more, and a thousand others would be told the same, slowly."""
        is_new = self._answered_at < 0
        with self._lock:
            self._lost += lost
            lost = self._lost
        if lost >= (MOST_LOST if is_new else MOST_LOST_IN_A_ROW):
            self._is_gone = True
            which = plural(lost, "request") if is_new else f"the last {plural(lost, 'request')}"
            raise NotRunnable(
                f"{getattr(self._adapter, 'endpoint', None)} has answered none of {which}, "
                f"{plural(self._limits.tries, 'try', 'tries')} each: {reason}",
                cure="start or mend it, or name another: -M base_url=...; "
                "then the same command with --retry-failed",
            )

    def _end_if_shut(self, left: list[Request], past: dict[str, Tries], *, made: int) -> None:
        """NotRunnable where a service has said nothing but 429 for a long time."""
        rounds = self._gate.refused if self._gate is not None and self._serves else 0
        if rounds < max(MOST_REFUSED, self._limits.tries):
            return
        self._is_gone = True
        self._give_up(left, past, made=made)
        raise NotRunnable(
            f"{getattr(self._adapter, 'endpoint', None)} has answered nothing but 429 "
            f"(too many requests), {rounds} times in a row, with longer and longer waits between",
            cure="the same command goes on, once the service takes calls again; "
            "--set limits.per_minute=... keeps to what it allows",
        )

    def _count(self, refused: Refusals, fault: BaseException | None, began: float) -> Refusals:
        """One more, where it is a 429: free if others were answered since the try before it."""
        if not isinstance(fault, RateLimited):
            return Refusals(refused.count, refused.free, began)
        is_free = self._answered_at > min(began, refused.last) and refused.free < MOST_FREE
        return Refusals(refused.count + 1, refused.free + is_free, began)

    def _may_pass(self, fault: BaseException | None) -> bool:
        """Is it worth another try? A model on this machine that hangs would only hang again."""
        if isinstance(fault, TimeoutError):
            return self._serves
        return isinstance(fault, (RateLimited, Transient))

    def _wait(
        self, fault: BaseException | None, asked: float | None, tries: int, refused: Refusals
    ) -> bool:
        """Waits before another try; False when the run is being stopped.

        What the first 429 asks for is kept to; then none waits less than it would unasked: a
        service that asks for 0 s again and again would burn all tries at once.
        """
        if not isinstance(fault, RateLimited):
            wait = backoff(self._limits.backoff_s, tries)
        elif refused.count > 1:
            wait = max(asked or 0.0, backoff(self._limits.backoff_s, refused.count, MOST_BACKOFF_S))
        elif self._gate is not None:
            wait = 0.0  # the gate is closed for as long, to everybody
        elif asked is not None:
            wait = asked
        else:
            wait = backoff(self._limits.backoff_s, 1)
        return not self._stop.soft.wait(wait)

    def _outputs(self, requests: list[Request]) -> Iterator[Output]:
        if self._timeout is None:
            yield from self._adapter.generate(requests)
            return
        yield from within(
            lambda: self._adapter.generate(requests),
            self._timeout * len(requests),
            grace=self._grace,
        )


def _spent(usage: Usage | None, cost: Decimal | None, *, answered: bool) -> Spent:
    return Spent(None if usage is None else count_tokens([usage]), cost, answered)


def _added(before: Decimal | None, cost: Decimal | None) -> Decimal | None:
    return None if before is None or cost is None else before + cost


def _joined(before: Tries | None, usage: Usage | None) -> tuple[Usage, ...]:
    earlier = () if before is None else before.usage
    return earlier if usage is None else (*earlier, usage)
