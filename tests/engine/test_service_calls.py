"""Calls of a service: how long is waited, what is tried again, what it is billed for."""

from __future__ import annotations

import email.utils
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pytest
from callkit import Acting, Served, answer, call_all, raising, requests, statuses
from vgen_eval import Output, RateLimited, Refused, Request, Transient, Usage
from vgen_eval.cards.records import Limits, Price
from vgen_eval.engine.budget import Account, Purse
from vgen_eval.engine.calls import MOST_TOLD, Caller
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.stopping import Stop
from vgen_eval.engine.tries import Call
from vgen_eval.errors import AccessDenied, MissingExtra, MissingKey
from vgen_eval.remote import retry_after

# --- waits --------------------------------------------------------------------------------


class Unhurried(threading.Event):
    """Never set; notes how long it is waited for, and waits not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits.append(timeout)
        return False


def waits(fault: Exception, **limits: Any) -> list[float]:
    """How long each pause between tries of a request that always fails so is."""
    stop = Stop()
    stop.soft = pauses = Unhurried()
    call_all(Acting(raising(fault)), stop=stop, **limits)
    return pauses.waits


def test_pauses_double_with_a_tenth_of_jitter() -> None:
    seen = waits(Transient("500"), backoff_s=1.0, tries=5)
    assert len(seen) == 4
    for number, pause in enumerate(seen):
        assert 2**number <= pause <= 1.1 * 2**number + 0.01


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (30.0, 30.0), (86_400.0, 120.0)])
def test_what_a_provider_asks_for_is_waited_within_bounds(asked: float, waited: float) -> None:
    seen = waits(RateLimited(retry_after=asked), backoff_s=1.0, tries=3)
    assert seen == [waited, waited]


@pytest.mark.parametrize("asked", [0.0, 0.3])
def test_what_is_asked_for_holds_once_and_then_no_pause_is_shorter_than_unasked(
    asked: float,
) -> None:
    first, *more = waits(RateLimited(retry_after=asked), backoff_s=1.0, tries=12)
    assert first == asked
    for number, pause in enumerate(more, 1):
        assert min(60.0, 2**number) <= pause <= min(60.0, 1.1 * 2**number)


@pytest.mark.parametrize("asked", [-5.0, float("nan"), float("inf"), "soon", None])
def test_a_wait_that_means_nothing_is_the_ordinary_pause(asked: Any) -> None:
    first, second = waits(RateLimited(retry_after=asked), backoff_s=1.0, tries=3)
    assert 1.0 <= first <= 1.1
    assert 2.0 <= second <= 2.2


def test_a_wait_that_is_cut_is_said_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        waits(RateLimited(retry_after=86_400.0), tries=2)
    assert "asked to wait 86400 s before another call: cut to 120 s" in caplog.text


NOW = "Wed, 09 Sep 2026 12:00:00 GMT"
BACKOFF = None
HEADERS: list[tuple[dict[str, str], float | None]] = [
    ({"retry-after": "5"}, 5.0),
    ({"Retry-After": "Wed, 09 Sep 2026 12:00:59 GMT"}, 59.0),
    ({"retry-after-ms": "4321"}, 4.321),
    ({"retry-after": "Wed, 09 Sep 2026 11:00:00 GMT"}, 0.0),
    ({"retry-after": "-7"}, BACKOFF),
    ({"retry-after": "soon"}, BACKOFF),
    ({"retry-after": "86400"}, 120.0),
    ({}, BACKOFF),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after": "nan"}, BACKOFF),
]


@pytest.mark.parametrize(("headers", "waited"), HEADERS)
def test_every_form_of_retry_after_leads_to_its_wait(
    headers: dict[str, str], waited: float | None
) -> None:
    now = email.utils.parsedate_to_datetime(NOW).timestamp()
    fault = RateLimited(retry_after=retry_after(headers, now=now))
    seen = waits(fault, backoff_s=0.25, tries=4)
    unasked = [0.25, 0.5, 1.0]
    wanted = unasked if waited is BACKOFF else [waited, *(max(waited, w) for w in unasked[1:])]
    for pause, least in zip(seen, wanted, strict=True):
        assert least - 0.01 <= pause <= 1.1 * least + 0.01


def test_pauses_are_capped() -> None:
    assert max(waits(Transient("500"), backoff_s=50.0, tries=6)) == 120.0


# --- services -----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "tries"), [(Served, 3), (Acting, 1)])
def test_only_a_service_that_gives_no_answer_in_time_is_asked_again(
    kind: type[Acting], tries: int
) -> None:
    adapter = kind(raising(TimeoutError("slow")))
    (call,) = call_all(adapter, tries=3)
    assert (call.status, call.tries, len(adapter.calls)) == ("timeout", tries, tries)


def test_a_service_that_answers_late_has_answered() -> None:
    def act(request: Request, number: int) -> Iterator[Output]:
        if number < 3:
            raise TimeoutError("slow")
        yield from answer(request)

    (call,) = call_all(Served(act), tries=3)
    assert (call.status, call.tries) == ("ok", 3)


def hang(request: Request, _number: int) -> Iterator[Output]:
    time.sleep(0.4)
    yield from answer(request)


class Patient(Acting):
    @property
    def timeout(self) -> float | None:
        return 0.05


class WithMethod(Acting):
    def timeout(self) -> float:  # type: ignore[override]
        """Somebody's own idea of the word."""
        return 0.01


class Bare:
    """No subclass of ours: the four things that are asked of an adapter, and no more."""

    max_batch, concurrency, deterministic = 1, 1, True

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        for request in requests:
            yield from hang(request, 0)


@pytest.mark.parametrize(
    ("adapter", "limit", "status"),
    [
        (Patient(hang), None, "timeout"),
        (Patient(hang), 5.0, "ok"),
        (WithMethod(hang), None, "ok"),
        (WithMethod(hang), 0.05, "timeout"),
        (Bare(), None, "ok"),
        (Bare(), 0.05, "timeout"),
    ],
)
def test_the_card_says_how_long_a_call_may_take_and_else_the_adapter(
    adapter: Any, limit: float | None, status: str
) -> None:
    (call,) = call_all(adapter, timeout_s=limit)
    assert call.status == status
    if status == "timeout":
        time.sleep(0.4)  # the call that was left behind ends before the test does


def test_an_adapter_that_keeps_its_own_limit_is_given_time_to_end_its_call() -> None:
    class Punctual(Served):
        timeout_s = 0.05

    def act(request: Request, _number: int) -> Iterator[Output]:
        time.sleep(0.2)  # an SDK is never quite on time
        raise TimeoutError("our own words")
        yield

    (call,) = call_all(Punctual(act), tries=1, timeout_s=0.05)
    assert call.reason == "our own words"


@pytest.mark.parametrize("timeout_s", [None, 5.0])
@pytest.mark.parametrize("fault", [AccessDenied("401"), MissingExtra("toys"), MissingKey("A_KEY")])
def test_a_model_that_cannot_go_on_says_so_and_what_it_gave_before_is_kept(
    fault: Exception, timeout_s: float | None
) -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        if request.id == "r2":
            raise fault
        yield from answer(request)

    found: list[Call] = []
    caller = Caller(Acting(act), Limits(timeout_s=timeout_s))
    with pytest.raises(type(fault)):
        found.extend(caller(requests(4)))
    assert statuses(found) == {"r0": "ok", "r1": "ok"}


def test_what_tries_were_billed_that_failed_is_added_to_the_attempt() -> None:
    faults = [
        Transient("502", usage=Usage(input_tokens=100, output_tokens=1), request_id="a"),
        RateLimited(retry_after=0.0),
        CallErrorOfAnother("odd"),
    ]

    def act(request: Request, number: int) -> Iterator[Output]:
        if number <= 2:
            raise faults[number - 1]
        yield Output(id=request.id, answer="x", usage=Usage(input_tokens=50, output_tokens=2))

    price = Price(per_million_input_usd=1.0, per_million_output_usd=10.0)
    caller = Caller(Acting(act), Limits(tries=5, backoff_s=0.0), price=price)
    (call,) = caller(requests(1))
    assert [usage.input_tokens for usage in call.usage] == [100, 50]
    assert call.cost == Decimal("0.00018")
    assert call.failed_ids == ("a",)


class CallErrorOfAnother(Transient):
    """Its author forgot about ours."""

    def __init__(self, what: str) -> None:
        Exception.__init__(self, what)


def test_an_error_of_ours_that_was_made_without_our_hand_is_one_all_the_same() -> None:
    (call,) = call_all(Acting(raising(CallErrorOfAnother("odd"))))
    assert (call.status, call.reason) == ("error", "CallErrorOfAnother: odd")


def test_a_call_that_failed_for_good_bears_what_it_was_billed() -> None:
    fault = Refused("no", usage=Usage(cost_usd=0.02), request_id="b")
    (call,) = call_all(Acting(raising(fault)))
    assert (call.status, call.cost, call.failed_ids) == ("refused", Decimal("0.02"), ("b",))


def test_what_nobody_priced_is_not_taken_to_be_free() -> None:
    fault = Refused("no", usage=Usage(input_tokens=10))
    (call,) = call_all(Acting(raising(fault)))
    assert ([usage.input_tokens for usage in call.usage], call.cost) == ([10], None)

    def act(request: Request, number: int) -> Iterator[Output]:
        if number == 1:
            raise Transient("502", usage=Usage(input_tokens=10))
        yield Output(id=request.id, answer="a", usage=Usage(cost_usd=0.02))

    (call,) = call_all(Acting(act))
    assert ([usage.input_tokens for usage in call.usage], call.cost) == ([10, None], None)


def test_faults_that_name_their_sample_leave_no_traceback_each(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise ValueError(request.id)
        yield

    assert len(call_all(Acting(act), 2 * MOST_TOLD)) == 2 * MOST_TOLD
    assert sum(record.exc_info is not None for record in caplog.records) == MOST_TOLD
    assert len(caplog.records) == 2 * MOST_TOLD


def test_tries_of_what_a_stop_leaves_unmade_are_not_forgotten() -> None:
    stop = Stop()

    def act(request: Request, _number: int) -> Iterator[Output]:
        stop.ask()
        raise Transient("502", usage=Usage(cost_usd=0.02))
        yield

    caller = Caller(Acting(act), Limits(backoff_s=0.0), stop=stop)
    assert list(caller(requests(1))) == []
    (tries,) = caller.unfinished
    assert (tries.count, tries.cost) == (1, Decimal("0.02"))


def test_tries_are_not_forgotten_of_what_stood_behind_a_denial() -> None:
    def act(_request: Request, number: int) -> Iterator[Output]:
        raise Transient("502") if number == 1 else AccessDenied("401")
        yield

    stop = Stop()
    purse = Purse(Settings(tasks=("t",), max_calls=4), stop)
    account = Account("m", form="text", cost=None, charges=True)
    caller = Caller(Acting(act), Limits(backoff_s=0.0), stop=stop, purse=purse, account=account)
    with pytest.raises(AccessDenied):
        list(caller(requests(3)))  # all three, then one: there are no more calls
    assert [tries.count for tries in caller.unfinished] == [2, 1, 1]


def test_a_budget_below_the_price_of_one_call_says_so() -> None:
    stop = Stop()
    purse = Purse(Settings(tasks=("t",), max_cost=0.01), stop)
    account = Account("m", form="image", cost=Decimal("0.04"), charges=True)
    assert purse.reserve(account, 1, stop) is None
    assert stop.soft.is_set()
    assert purse.reason == "stopped: $0.01 is less than one call takes: --max-cost must be more"
