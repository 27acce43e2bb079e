"""Calls: whatever an adapter does becomes the status of its request and of no other."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from callkit import Acting, answer, call_all, raising, statuses
from vgen_eval import BaseAdapter, NoOptions, Output, RateLimited, Refused, Request, Transient
from vgen_eval.engine.stopping import Stop
from vgen_eval.errors import NoPrediction

# --- batches ------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", range(8))
@pytest.mark.parametrize("first", [True, False])
def test_one_bad_request_among_eight_costs_the_others_nothing(bad: int, *, first: bool) -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        if request.id == f"r{bad}":
            raise RuntimeError("bad pixels")
        yield from answer(request)

    class AllOrNothing(Acting):
        def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
            return iter(list(super().generate(requests)))

    adapter = (AllOrNothing if first else Acting)(act)
    found = call_all(adapter, 8)
    assert statuses(found) == {f"r{n}": "error" if n == bad else "ok" for n in range(8)}
    (fault,) = [call for call in found if call.status == "error"]
    assert fault.reason == "RuntimeError: bad pixels"
    assert len(adapter.calls) <= 7  # 1 + 2 log2(8)


def test_a_batch_in_which_all_are_bad_costs_at_most_two_calls_a_request() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise RuntimeError("down")
        yield

    adapter = Acting(act)
    assert set(statuses(call_all(adapter, 8)).values()) == {"error"}
    assert len(adapter.calls) == 15


def test_a_rate_limit_that_does_not_end_is_not_hammered_request_by_request() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise RateLimited(retry_after=0.0)
        yield

    adapter = Acting(act)
    found = call_all(adapter, 8, tries=3)
    assert set(statuses(found).values()) == {"error"}
    assert {call.kind for call in found} == {"RateLimited"}
    assert len(adapter.calls) == 3


def test_answers_given_before_a_fault_are_kept_and_not_asked_again() -> None:
    def act(request: Request, number: int) -> Iterator[Output]:
        if request.id == "r2" and number == 1:
            raise Transient("dropped")
        yield from answer(request)

    adapter = Acting(act)
    found = call_all(adapter, 4)
    assert set(statuses(found).values()) == {"ok"}
    assert adapter.calls == [["r0", "r1", "r2", "r3"], ["r2", "r3"]]
    assert [call.tries for call in found] == [1, 1, 2, 2]


def test_times_of_a_batch_add_up_to_the_call() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        time.sleep(0.02)
        yield from answer(request)

    start = time.perf_counter()
    found = call_all(Acting(act), 5)
    whole = time.perf_counter() - start
    assert 0.1 <= sum(call.seconds for call in found) <= whole


# --- retries ------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Transient("500"), RateLimited(retry_after=0.0), RateLimited()])
def test_a_fault_that_passes_is_tried_again(fault: Exception) -> None:
    def act(request: Request, number: int) -> Iterator[Output]:
        if number < 3:
            raise fault
        yield from answer(request)

    (call,) = call_all(Acting(act), tries=3)
    assert (call.status, call.tries) == ("ok", 3)


def test_a_fault_that_does_not_pass_is_an_error_after_the_last_try() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise Transient("still 500")
        yield

    adapter = Acting(act)
    (call,) = call_all(adapter, tries=4)
    assert (call.status, call.kind, call.tries) == ("error", "Transient", 4)
    assert call.reason == "Transient: still 500"
    assert len(adapter.calls) == 4


def test_a_pause_that_a_stop_cuts_leaves_the_request_unmade() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        raise RateLimited(retry_after=100.0)
        yield

    stop, start = Stop(), time.monotonic()
    threading.Timer(0.1, stop.ask).start()
    assert call_all(Acting(act), 3, stop=stop) == []
    assert 0.1 <= time.monotonic() - start < 1.0


# --- what else an adapter may do ----------------------------------------------------------


class Nasty(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


FAULTS: list[tuple[BaseException, str, str]] = [
    (Refused("not  this\none"), "refused", "not this one"),
    (NoPrediction("nothing there"), "missing", "nothing there"),
    (TimeoutError("socket"), "timeout", "socket"),
    (RuntimeError("x" * 900), "error", "RuntimeError: " + "x" * 500),
    (RuntimeError(), "error", "RuntimeError"),
    (SystemExit(3), "error", "SystemExit: 3"),
    (MemoryError("CUDA"), "error", "MemoryError: CUDA"),
    (RuntimeError("\ud800"), "error", "RuntimeError: ?"),
    (Nasty(), "error", "Nasty: (its message raised ValueError)"),
]


@pytest.mark.parametrize("timeout_s", [None, 5.0])
# the ids are numbers: a lone surrogate in one would break the wire of pytest-xdist
@pytest.mark.parametrize(("fault", "status", "reason"), FAULTS, ids=map(str, range(len(FAULTS))))
def test_what_is_raised_becomes_a_status_with_its_reason(
    fault: BaseException, status: str, reason: str, timeout_s: float | None
) -> None:
    (call,) = call_all(Acting(raising(fault)), timeout_s=timeout_s)
    assert (call.status, call.kind, call.reason) == (status, type(fault).__name__, reason)


@pytest.mark.parametrize("timeout_s", [None, 5.0])
@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (None, "TypeError"),
        (5, "TypeError"),
        ([], "NoOutput"),
        (["an answer"], "TypeError"),
        ([None], "TypeError"),
        ([Output(id="someone", answer="a")], "NoOutput"),
        ([Output(id=None, answer="a")], "NoOutput"),  # type: ignore[arg-type]
        ([Output(id=[], answer="a")], "TypeError"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_output_for_the_request_is_an_error(
    given: Any, kind: str, timeout_s: float | None
) -> None:
    class Giving(BaseAdapter):
        def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
            return given  # type: ignore[no-any-return]

    (call,) = call_all(Giving(NoOptions()), timeout_s=timeout_s)
    assert (call.status, call.kind) == ("error", kind)


def test_an_answer_given_twice_counts_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = call_all(Acting(lambda request, _n: answer(request) * 2), 2)
    assert statuses(found) == {"r0": "ok", "r1": "ok"}
    assert "'r0', which is not asked or answered already" in caplog.text


def test_answers_in_any_order_find_their_requests() -> None:
    class Backwards(BaseAdapter):
        def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
            yield from (output for r in reversed(requests) for output in answer(r))

    for call in call_all(Backwards(NoOptions()), 5):
        assert call.output is not None
        assert call.output.answer == call.request.id


def test_a_call_that_hangs_is_a_timeout_and_what_it_gave_before_is_kept() -> None:
    def act(request: Request, _number: int) -> Iterator[Output]:
        if request.id == "r2":
            time.sleep(1.0)
        yield from answer(request)

    start = time.monotonic()
    found = call_all(Acting(act), 4, timeout_s=0.05)
    assert time.monotonic() - start < 0.6
    assert statuses(found) == {"r0": "ok", "r1": "ok", "r2": "timeout", "r3": "timeout"}
    assert found[-1].reason == "no answer within 0.2 s"
    time.sleep(0.9)  # the call that was left behind ends before the test does


def test_an_adapter_that_prints_says_nothing_into_its_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def act(request: Request, _number: int) -> list[Output]:
        print("loading weights")
        return answer(request)

    (call,) = call_all(Acting(act))
    assert call.output is not None
    assert call.output.answer == "r0"
    assert capsys.readouterr().out == "loading weights\n"
