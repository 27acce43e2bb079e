"""The gate before a service: what it lets through, when, and what makes it change its mind."""

from __future__ import annotations

import itertools
import math
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval import RateLimited, Transient
from vgen_eval.engine.limits import Gate, Pace, Window
from vgen_eval.engine.stopping import Stop


def window(most: int = 64) -> Window:
    made = Window()
    made.begin(most)
    return made


def play(made: Window, rounds: int, *, seconds: float = 1.0) -> list[int]:
    """The room at the start of each round, in which every call that has room is answered."""
    seen = []
    for _ in range(rounds):
        seen.append(made.room)
        for _ in range(made.room):
            made.answered(seconds, full=True)
    return seen


# --- how many at once ---------------------------------------------------------------------


def test_room_doubles_each_round_up_to_what_is_allowed() -> None:
    assert play(window(24), 6) == [2, 4, 8, 16, 24, 24]


def test_a_model_that_allows_one_call_never_gets_two() -> None:
    assert play(window(1), 4) == [1, 1, 1, 1]


def test_a_refused_call_halves_the_room_and_it_then_grows_by_one_a_round() -> None:
    made = window()
    play(made, 4)
    assert made.room == 32
    made.limited(begun=10.0, now=11.0)
    seen = play(made, 12)
    assert seen[0] == 16
    assert 26 <= seen[-1] <= 27
    assert all(0 <= after - before <= 1 for before, after in itertools.pairwise(seen))


def test_calls_that_were_on_their_way_together_halve_it_once() -> None:
    made = window()
    play(made, 4)
    for begun in (10.0, 10.1, 10.2, 10.3):
        made.limited(begun=begun, now=11.0 + begun / 100)
    assert made.room == 16
    made.limited(begun=12.0, now=13.0)
    assert made.room == 8


def test_it_never_closes_altogether() -> None:
    made = window()
    for number in range(20):
        made.limited(begun=number, now=number + 0.5)
    assert made.room == 1


def test_room_that_is_not_used_does_not_grow() -> None:
    made = window()
    for _ in range(100):
        made.answered(1.0, full=False)
    assert made.room == 2


def test_calls_that_grow_slow_hold_the_room_and_those_that_recover_free_it() -> None:
    made = window()
    play(made, 3)
    assert made.room == 16
    for _ in range(8):  # most of the last 15 are slow now
        made.answered(2.5, full=False)
    assert play(made, 2, seconds=2.5) == [16, 16]
    for _ in range(8):
        made.answered(1.2, full=False)
    assert play(made, 2, seconds=1.2)[1] > 16


def test_latencies_of_an_earlier_job_say_nothing_of_the_next() -> None:
    made = window()
    play(made, 2, seconds=0.1)
    made.begin(64)
    assert play(made, 3, seconds=9.0) == [8, 16, 32]


# --- how many a minute --------------------------------------------------------------------


@given(
    st.floats(0.5, 2000.0),
    st.lists(st.floats(0.0, 30.0), min_size=20, max_size=200),
)
def test_no_minute_holds_more_calls_than_are_allowed(per_minute: float, idle: list[float]) -> None:
    pace, now, starts = Pace(), 0.0, []
    pace.begin(per_minute)
    for pause in idle:  # however long nobody calls in between
        now += pause * (pause > 15.0)
        now += pace.wait(now)
        pace.start(now)
        starts.append(now)
    first = 0
    for last, moment in enumerate(starts):
        while moment - starts[first] >= 60.0:
            first += 1
        assert last - first + 1 <= math.ceil(per_minute)


def test_calls_come_evenly_from_the_first_on() -> None:
    pace, now = Pace(), 100.0
    pace.begin(60)
    for _ in range(5):
        assert pace.wait(now) <= 1.01
        now += pace.wait(now)
        pace.start(now)
    assert 4.0 <= now - 100.0 <= 4.1


# --- the gate -----------------------------------------------------------------------------


class Crowd:
    """Threads that go through a gate again and again, and what they saw."""

    def __init__(self, gate: Gate, stop: Stop, *, work_s: float = 0.002) -> None:
        self.gate, self.stop, self.work_s = gate, stop, work_s
        self.inside = self.most = self.passed = 0
        self.begun: list[float] = []
        self.lock = threading.Lock()
        self.threads: list[threading.Thread] = []

    def send(self, count: int, times: int) -> None:
        self.threads = [threading.Thread(target=self._go, args=(times,)) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def _go(self, times: int) -> None:
        for _ in range(times):
            begun = self.gate.enter(self.stop)
            if begun is None:
                return
            with self.lock:
                self.inside += 1
                self.most = max(self.most, self.inside)
                self.passed += 1
                self.begun.append(time.monotonic())
            time.sleep(self.work_s)
            with self.lock:
                self.inside -= 1
            self.gate.leave(begun, None, seconds=self.work_s, wait_s=None)

    def join(self) -> None:
        for thread in self.threads:
            thread.join(20)
            assert not thread.is_alive()


def gate(most: int = 8, per_minute: float | None = None, *, adapts: bool = True) -> Gate:
    made = Gate()
    made.begin(most=most, per_minute=per_minute, adapts=adapts)
    return made


@pytest.mark.parametrize("adapts", [True, False])
def test_of_many_threads_never_more_are_inside_than_allowed(*, adapts: bool) -> None:
    crowd = Crowd(gate(8, adapts=adapts), Stop())
    crowd.send(64, 6)
    crowd.join()
    assert crowd.passed == 64 * 6
    assert 4 <= crowd.most <= 8


def test_a_pace_holds_for_models_on_this_machine_too() -> None:
    crowd = Crowd(gate(8, per_minute=1200, adapts=False), Stop())
    crowd.send(8, 2)
    crowd.join()
    assert max(crowd.begun) - min(crowd.begun) >= 15 * 0.0504 - 0.02


def test_a_wait_that_one_call_is_told_closes_the_gate_to_all() -> None:
    made, stop = gate(), Stop()
    begun = made.enter(stop)
    assert begun is not None
    made.leave(begun, RateLimited(), seconds=0.1, wait_s=0.3)
    start = time.monotonic()
    crowd = Crowd(made, stop)
    crowd.send(4, 1)
    crowd.join()
    assert min(crowd.begun) - start >= 0.29


def closed_for(made: Gate, *, asked: float | None, backoff_s: float = 1.0) -> float:
    """How long a 429 of one more call closes the gate, whose clock stands still."""
    now = made._clock()
    made._closed_until = -math.inf
    made._flying += 1
    made.leave(now, RateLimited(), seconds=0.1, wait_s=asked, backoff_s=backoff_s)
    return made._closed_until - now


def still() -> Gate:
    moments = itertools.count(1000.0, 1e-6)  # a call begins after the one before was refused
    made = Gate(lambda: next(moments))
    made.begin(most=4, per_minute=None, adapts=True)
    return made


def test_refusals_that_ask_for_nothing_close_the_gate_longer_and_longer() -> None:
    made = still()
    seen = [closed_for(made, asked=None) for _ in range(8)]
    for wait, least in zip(seen, (1, 2, 4, 8, 16, 32, 60, 60), strict=True):
        assert least <= wait <= min(1.1 * least, 60.0) + 0.001
    assert made.refused == 8
    made._flying += 1
    made.leave(made._clock(), None, seconds=0.1, wait_s=None)
    assert made.refused == 0
    assert closed_for(made, asked=None) < 1.2


@pytest.mark.parametrize("asked", [0.0, 0.5, 5.0])
def test_a_wait_that_did_not_do_is_not_kept_to_again(asked: float) -> None:
    made = still()
    seen = [closed_for(made, asked=asked) for _ in range(4)]
    assert seen[0] == pytest.approx(asked, abs=0.001)
    for wait, least in zip(seen[1:], (2, 4, 8), strict=True):
        assert max(asked, least) - 0.001 <= wait <= max(asked, 1.1 * least) + 0.001


def test_calls_refused_together_count_as_one_round() -> None:
    made = still()
    begun = made._clock()
    for _ in range(4):
        made._flying += 1
        made.leave(begun, RateLimited(), seconds=0.1, wait_s=None, backoff_s=1.0)
    assert made.refused == 1


def test_a_fault_between_two_refusals_neither_adds_to_them_nor_forgets_them() -> None:
    made = still()
    closed_for(made, asked=None)
    made._flying += 1
    made.leave(made._clock(), Transient("500"), seconds=0.1, wait_s=None, backoff_s=1.0)
    assert made.refused == 1


def test_a_wait_beyond_all_clocks_is_waited_for_and_ends_with_the_run() -> None:
    made, stop = gate(per_minute=1e-12), Stop()
    assert made.enter(stop) is not None
    crowd = Crowd(made, stop)
    with stop.heard_by(made.wake):
        crowd.send(1, 1)
        time.sleep(0.05)
        stop.ask()
        crowd.join()
    assert crowd.passed == 0


def test_a_fault_that_is_no_refusal_changes_nothing() -> None:
    made, stop = gate(), Stop()
    for _ in range(50):
        begun = made.enter(stop)
        assert begun is not None
        made.leave(begun, Transient("500"), seconds=0.1, wait_s=None)
    entered = [made.enter(stop) for _ in range(2)]
    assert None not in entered


@pytest.mark.parametrize("closed", [False, True])
def test_a_stop_wakes_all_who_wait_at_once(*, closed: bool) -> None:
    made, stop = gate(1, per_minute=None if closed else 0.5), Stop()
    begun = made.enter(stop)
    assert begun is not None
    if closed:
        made.leave(begun, RateLimited(), seconds=0.1, wait_s=100.0)
    crowd = Crowd(made, stop)
    with stop.heard_by(made.wake):
        crowd.send(32, 1)
        time.sleep(0.05)
        start = time.monotonic()
        stop.ask()
        crowd.join()
    assert time.monotonic() - start < 1.0
    assert crowd.passed == 0


def test_a_stop_that_was_asked_before_is_heard() -> None:
    stop, heard = Stop(), []
    stop.ask()
    with stop.heard_by(lambda: heard.append(1)):
        assert heard == [1]


def test_a_run_that_ends_by_itself_still_drops_calls_only_when_asked_twice() -> None:
    stop = Stop()
    stop.finish()
    stop.ask()
    assert not stop.hard.is_set()
    stop.ask()
    assert stop.hard.is_set()


def test_waiting_costs_no_processor_time() -> None:
    made, stop = gate(1), Stop()
    begun = made.enter(stop)
    assert begun is not None
    crowd = Crowd(made, stop)
    crowd.send(64, 1)
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.1
    with stop.heard_by(made.wake):
        stop.ask()
    crowd.join()
