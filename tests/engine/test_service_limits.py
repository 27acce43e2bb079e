"""Calls of a service: numbers that are none, services that go away, and what a budget lets out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from callkit import Acting, Served, answer, call_all, raising, requests, statuses
from vgen_eval import Output, RateLimited, Refused, Request, Transient, Usage
from vgen_eval.cards.records import Limits, Price
from vgen_eval.engine.budget import Account, Purse, Spent
from vgen_eval.engine.calls import Caller
from vgen_eval.engine.limits import Gate
from vgen_eval.engine.settings import Settings
from vgen_eval.engine.stopping import Stop
from vgen_eval.engine.tries import Call
from vgen_eval.errors import NotRunnable
from vgen_eval.secrets import read_secret

# --- numbers that are none ----------------------------------------------------------------

NONSENSE: list[Any] = [
    10**400, 10**30, 2**63, -1, True, "9" * 400, float("nan"), float("inf"), 10**5000, [5],
]  # fmt: skip


@pytest.mark.parametrize("amount", NONSENSE, ids=map(str, range(len(NONSENSE))))
@pytest.mark.parametrize("field", ["input_tokens", "cost_usd", "video_seconds"])
def test_a_number_of_no_sense_is_passed_over_and_the_answer_kept(field: str, amount: Any) -> None:
    usage = Usage(**{"output_tokens": 5, field: amount})

    def act(request: Request, number: int) -> Iterator[Output]:
        if number == 1:
            raise Transient("502", usage=usage)
        yield Output(id=request.id, answer="a", usage=usage)

    price = Price(per_million_output_usd=1.0, per_million_input_usd=1.0)
    caller = Caller(Acting(act), Limits(backoff_s=0.0), price=price)
    (call,) = caller(requests(1))
    assert (call.status, call.tries) == ("ok", 2)
    assert call.usage == (Usage(output_tokens=5), Usage(output_tokens=5))


def test_a_cost_beyond_all_money_is_not_known() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        yield Output(id=request.id, answer="a", usage=Usage(output_tokens=2**50))

    (call,) = Caller(Acting(act), Limits(), price=Price(per_million_output_usd=1e308))(requests(1))
    assert (call.status, call.cost) == ("ok", None)


def test_a_fault_whose_attributes_raise_is_a_fault_like_any() -> None:
    class Hollow(Refused):
        @property
        def usage(self) -> Usage:  # type: ignore[override]
            raise RuntimeError("no usage here")

        @usage.setter
        def usage(self, value: Any) -> None:
            """Takes it and forgets it."""

    (call,) = call_all(Acting(raising(Hollow("no"))))
    assert (call.status, call.reason) == ("refused", "no")


def test_an_answer_whose_cost_cannot_be_reckoned_still_has_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ArithmeticError("odd")

    monkeypatch.setattr("vgen_eval.engine.calls.cost_of", fail)

    def act(request: Request, _number: int) -> Iterator[Output]:
        yield Output(id=request.id, answer="a", usage=Usage(output_tokens=1))

    found = call_all(Acting(act), 3)
    assert statuses(found) == dict.fromkeys(("r0", "r1", "r2"), "error")
    assert found[0].reason == "ArithmeticError: odd"


# --- a service that goes away -------------------------------------------------------------


def served_by(act: Any, *, stop: Stop | None = None, **limits: Any) -> Caller:
    """A caller of a service behind a gate, without a pause between tries."""
    gate = Gate()
    gate.begin(most=4, per_minute=None, adapts=True)
    read = Limits(**{"backoff_s": 0.0, "tries": 2, **limits})
    return Caller(Served(act), read, stop=stop, gate=gate)


def one_by_one(caller: Caller, count: int) -> tuple[list[Call], NotRunnable | None]:
    found: list[Call] = []
    try:
        for request in requests(count):
            found += caller([request])
    except NotRunnable as exc:
        return found, exc
    return found, None


@pytest.mark.parametrize("fault", [Transient("502"), TimeoutError("slow"), RateLimited()])
@pytest.mark.parametrize(("answered", "most"), [(0, 3), (5, 8)])
def test_a_service_that_answers_no_more_ends_the_run(
    fault: Exception, answered: int, most: int
) -> None:
    def act(request: Request, number: int) -> Iterator[Output]:
        if number > answered:
            raise fault
        yield from answer(request)

    found, end = one_by_one(served_by(act), 100)
    assert isinstance(end, NotRunnable)
    assert [call.status == "ok" for call in found[:answered]] == [True] * answered
    assert len(found) <= answered + most
    assert "service.example has answered no" in end.what


def test_a_service_that_answers_now_and_then_is_there() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        if int(request.id[1:]) % 8:
            raise Transient("502")
        yield from answer(request)

    found, end = one_by_one(served_by(act), 64)
    assert (len(found), end) == (64, None)


def test_a_service_that_refuses_is_there() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise Transient("502") if int(request.id[1:]) % 3 else Refused("no")
        yield

    found, end = one_by_one(served_by(act), 30)
    assert (len(found), end) == (30, None)


def test_nothing_but_429_ends_the_run_and_leaves_what_is_open_to_a_resume() -> None:
    def act(_request: Request, _number: int) -> Iterator[Output]:
        raise RateLimited(retry_after=0.0)
        yield

    caller = served_by(act, tries=9)
    found, end = one_by_one(caller, 5)
    assert isinstance(end, NotRunnable)
    assert "nothing but 429" in end.what
    assert len(found) <= 1
    assert sum(call.tries for call in found) + sum(t.count for t in caller.unfinished) <= 10


@pytest.mark.parametrize(
    ("refusals", "status", "tries"), [(12, "ok", 13), (20, "ok", 21), (100, "error", 22)]
)
def test_a_429_uses_up_no_try_while_others_are_answered(
    refusals: int, status: str, tries: int
) -> None:
    left = refusals

    def act(request: Request, _number: int) -> Iterator[Output]:
        nonlocal left
        if request.id == "r0" and left:
            left -= 1
            list(caller(requests(2)[1:]))  # another is answered meanwhile
            raise RateLimited(retry_after=0.0)
        yield from answer(request)

    caller = Caller(Served(act), Limits(tries=2, backoff_s=0.0))
    (call,) = caller(requests(1))
    assert (call.status, call.tries) == (status, tries)


# --- money --------------------------------------------------------------------------------


def spend(costs: list[str], *, account: Account, budget: float, at_once: int = 32) -> list[Decimal]:
    """What is spent when calls cost so much, as many at once as there is room for."""
    stop = Stop()
    purse = Purse(Settings(tasks=("t",), max_cost=budget), stop)
    left, lock, spent = iter(costs), threading.Lock(), []

    def call() -> None:
        while (reserved := purse.reserve(account, 1, stop)) is not None:
            with lock:
                cost = Decimal(next(left))
                spent.append(cost)
            time.sleep(0.001)
            purse.settle(reserved, [Spent(10 if cost else 0, cost, answered=True)])

    threads = [threading.Thread(target=call) for _ in range(at_once)]
    with stop.heard_by(purse.wake):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
    return spent


def test_answers_for_nothing_do_not_open_the_purse() -> None:
    account = Account("m", form="text", cost=None, charges=True)
    spent = spend(["0"] * 6 + ["0.11"] * 200, account=account, budget=0.5)
    assert sum(spent) == Decimal("0.44")


def test_a_cheap_first_answer_does_not_lower_what_the_card_says() -> None:
    account = Account("m", form="image", cost=Decimal("0.10"), charges=True)
    spent = spend(["0.01"] * 3 + ["0.10"] * 200, account=account, budget=0.5)
    assert Decimal("0.40") < sum(spent) <= Decimal("0.50")


def test_what_the_card_says_is_free_needs_no_telling() -> None:
    account = Account("m", form="text", cost=None, charges=True, free=True)
    account.learn(Spent(0, Decimal(0), answered=True))
    assert account.cost == 0
    paid = Account("m", form="text", cost=None, charges=True)
    paid.learn(Spent(0, Decimal(0), answered=True))
    assert (paid.cost, paid.tokens) == (None, None)


def test_an_unknown_cost_stops_only_a_run_with_something_left_to_do() -> None:
    stop = Stop()
    purse = Purse(Settings(tasks=("t",), max_cost=1.0), stop)
    account = Account("m", form="text", cost=None, charges=True)
    reserved = purse.reserve(account, 1, stop)
    assert reserved is not None
    purse.settle(reserved, [Spent(5, None, answered=True)])
    assert purse.reason is None
    assert not stop.soft.is_set()
    assert purse.reserve(account, 1, stop) is None
    assert stop.soft.is_set()
    assert "what an answer of m costs is not known" in (purse.reason or "")


def test_half_a_key_is_not_shown_where_words_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUT_KEY", "sk-cut-0123456789-0123456789")
    fault = RuntimeError("x" * 480 + read_secret("CUT_KEY"))
    (call,) = call_all(Acting(raising(fault)))
    assert "sk-cut" not in call.reason
