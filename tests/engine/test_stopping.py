"""Stops and threads: calls in flight are kept or dropped as asked, and nothing is left running."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import kit
import pytest
import vgen_eval
from vgen_eval import Request
from vgen_eval.cli import signals
from vgen_eval.engine.pipeline import Stop
from vgen_eval.errors import StorageError


def wait_for(condition: Any, seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class Gate:
    """A model whose calls wait until they are let through."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.open = threading.Event()

    def __call__(self, request: Request) -> str:
        self.begun.append(request.sample)
        self.open.wait(10)
        return "1"


GATES: list[Gate] = []


def pass_gate(request: Request) -> str:
    """The last gate, as a function: what an object counts would make it another model."""
    return GATES[-1](request)


def in_background(target: Any) -> tuple[threading.Thread, list[Any]]:
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(target()))
    thread.start()
    return thread, outcome


@pytest.mark.parametrize("workers", [1, 3])
def test_no_thread_is_left_after_an_evaluation(toys: Path, workers: int) -> None:
    before = set(threading.enumerate())
    card = {"limits": {"timeout_s": 5.0, "backoff_s": 0.0}}
    model = kit.model(toys, card=card, fail=["s001"], batch=2, at_once=3)
    vgen_eval.evaluate(
        tasks=[kit.task(toys), "samples/counting"], models=[model, "blind"], workers=workers,
        output=str(toys / "out"), answer="text",
    )  # fmt: skip
    wait_for(lambda: set(threading.enumerate()) <= before, 1.0)


def test_only_calls_that_timed_out_are_left_behind(toys: Path) -> None:
    before = set(threading.enumerate())
    card = {"limits": {"timeout_s": 0.05, "backoff_s": 0.0}}
    found = kit.run(
        toys, tasks=kit.task(toys, n=2), model=kit.model(toys, card=card, delay_s=0.4), workers=1
    )
    assert found.counts.statuses == {"timeout": 2}
    left = set(threading.enumerate()) - before
    assert {thread.name for thread in left} <= {"model-call"}
    for thread in left:
        thread.join(2)


def test_a_soft_stop_keeps_the_calls_in_flight_and_starts_no_other(toys: Path) -> None:
    gate, stop = Gate(), Stop()
    GATES.append(gate)
    task = kit.task(toys, n=20)
    arguments = {"tasks": task, "model": pass_gate, "forms": ["text"], "model_name": "gate"}
    thread, outcome = in_background(
        lambda: vgen_eval.evaluate(  # type: ignore[arg-type]
            stop=stop, bounds=False, output=str(toys / "out"), **arguments
        )
    )
    wait_for(lambda: gate.begun)
    stop.ask()
    gate.open.set()
    thread.join(5)
    (results,) = outcome
    (card,) = results
    assert results.stopped
    assert results.exit_code() == 1
    assert not card.complete
    assert len(gate.begun) == 1
    assert card.counts.statuses == {"ok": 1}
    assert card.counts.not_run == 19
    assert [p["status"] for p in kit.predictions(toys, card)] == ["ok"]
    finished = kit.run(toys, **arguments)
    assert finished.complete
    assert len(gate.begun) == 20
    assert finished.run == card.run


def test_a_hard_stop_returns_at_once_and_what_comes_late_is_not_written(toys: Path) -> None:
    gate, stop = Gate(), Stop()
    thread, outcome = in_background(
        lambda: vgen_eval.evaluate(
            tasks=kit.task(toys, n=20), model=gate, forms=["text"], bounds=False, stop=stop,
            output=str(toys / "out"),
        )
    )  # fmt: skip
    wait_for(lambda: gate.begun)
    start = time.monotonic()
    stop.ask()
    stop.ask()
    thread.join(5)
    assert time.monotonic() - start < 2.0
    ((card,),) = outcome
    assert card.counts.not_run == 20
    gate.open.set()
    wait_for(
        lambda: not any(t.name in ("load", "generate", "score") for t in threading.enumerate())
    )
    assert not (kit.run_folder(toys, card) / "predictions.jsonl").exists()


def test_a_stop_before_the_start_loads_no_model(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    stop = Stop()
    build = toybench.parts.Numbers.load

    def stopping(self: Any, item: Any) -> Any:
        stop.ask()
        return build(self, item)

    loaded: list[int] = []
    monkeypatch.setattr(toybench.parts.Numbers, "load", stopping)
    monkeypatch.setattr(toybench.parts.Teller, "load", lambda self: loaded.append(1))
    results = vgen_eval.evaluate(
        tasks=kit.task(toys), model=kit.model(toys), stop=stop, output=str(toys / "out")
    )
    assert results.stopped
    assert loaded == []
    assert all(card.ceiling is None for card in results)


def test_jobs_after_a_stop_are_not_begun(toys: Path) -> None:
    stop = Stop()

    def model(request: Request) -> str:
        stop.ask()
        return "1"

    tasks = [kit.task(toys, name="one", n=3), kit.task(toys, name="two", n=4)]
    results = vgen_eval.evaluate(
        tasks=tasks, model=model, forms=["text"], bounds=False, stop=stop, output=str(toys / "out")
    )
    assert len(results) == 1


# --- what ends a run, and what does not ---------------------------------------------------


def test_a_disk_that_cannot_be_written_ends_the_run_with_its_cure(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(threading.enumerate())
    arguments = {"tasks": kit.task(toys, n=40), "model": kit.model(toys)}
    import os

    write, count = os.pwrite, 0

    def full(fd: int, data: Any, offset: int) -> int:
        nonlocal count
        count += 1
        if count > 20:
            raise OSError(28, "No space left on device")
        return write(fd, data, offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(StorageError, match="No space left") as caught:
            kit.run(toys, **arguments)
    assert "run the same command again" in (caught.value.cure or "")
    wait_for(lambda: set(threading.enumerate()) <= before)
    card = kit.run(toys, **arguments)
    assert card.complete
    assert card.content_digest == kit.run(toys / "elsewhere", **arguments).content_digest


def test_a_bad_sample_is_excluded_and_named(toys: Path) -> None:
    task = kit.task(toys, n=5, bad=["s001"], lose=["s002"])
    results = vgen_eval.evaluate(
        tasks=task, model=kit.model(toys, off=1), bounds=False, output=str(toys / "out")
    )
    (card,) = results
    assert results.exit_code() == 0
    assert card.counts.statuses == {"bad_sample": 2, "ok": 3}
    assert card.counts.data_fault == 2
    assert (card.score().value, card.score().n) == (1.0, 3)
    reasons = {p["sample"]: p.get("reason", "") for p in kit.predictions(toys, card)}
    assert "s001: no picture in it" in reasons["s001"]
    assert "AttributeError" in reasons["s002"]


def test_a_reader_that_gives_another_sample_than_asked_is_a_bad_sample(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import msgspec
    import toybench.parts

    load = toybench.parts.Numbers.load

    def shifted(self: Any, item: Any) -> Any:
        sample = load(self, item)
        return msgspec.structs.replace(sample, id="other") if item.id == "s001" else sample

    monkeypatch.setattr(toybench.parts.Numbers, "load", shifted)
    card = kit.run(toys, tasks=kit.task(toys, n=3), model=kit.model(toys))
    assert card.counts.statuses == {"bad_sample": 1, "ok": 2}
    assert card.complete
    kit.asked()
    kit.run(toys, tasks=kit.task(toys, n=3), model=kit.model(toys))
    assert kit.asked() == []


def test_a_library_that_a_reader_lacks_ends_the_run_and_spoils_no_sample(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    arguments = {"tasks": kit.task(toys, n=5), "model": kit.model(toys)}

    def load(self: Any, item: Any) -> Any:
        raise vgen_eval.MissingExtra("data")

    with monkeypatch.context() as patch:
        patch.setattr(toybench.parts.Numbers, "load", load)
        with pytest.raises(vgen_eval.MissingExtra, match="the extra 'data'"):
            kit.run(toys, **arguments)
    assert kit.run(toys, **arguments).counts.statuses == {"ok": 5}


def test_good_answers_outlive_a_sample_that_cannot_be_loaded_for_its_score(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts

    arguments = {"tasks": kit.task(toys, n=4), "model": kit.model(toys)}
    first = kit.run(toys, **arguments)
    written = (kit.run_folder(toys, first) / "predictions.jsonl").read_bytes()
    (file,) = (kit.run_folder(toys, first) / "scores").glob("*.jsonl")
    file.unlink()
    kit.asked()

    def load(self: Any, item: Any) -> Any:
        raise vgen_eval.BadSample("the disk hiccups")

    with monkeypatch.context() as patch:
        patch.setattr(toybench.parts.Numbers, "load", load)
        assert kit.run(toys, **arguments).counts.statuses == {"bad_sample": 4}
    again = kit.run(toys, **arguments)
    assert kit.asked() == []
    assert (kit.run_folder(toys, first) / "predictions.jsonl").read_bytes() == written
    assert again.content_digest == first.content_digest


@pytest.mark.parametrize("batch", [0, -3])
def test_an_adapter_that_claims_an_impossible_batch_is_asked_one_by_one(
    toys: Path, batch: int
) -> None:
    card = kit.run(toys, tasks=kit.task(toys, n=30), model=kit.model(toys, batch=batch))
    assert card.counts.statuses == {"ok": 30}


def test_duplicate_and_untextual_sample_ids_are_named(
    toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import toybench.parts
    from vgen_eval import Item
    from vgen_eval.errors import NotRunnable

    for ids, words in (
        (["7", "8", "7"], "two samples have the id '7'"),
        (["7", 7, "8"], "sample id 7 is no text"),
    ):
        items = [Item(id=name, group="g") for name in ids]  # type: ignore[arg-type]
        monkeypatch.setattr(toybench.parts.Numbers, "index", lambda self, items=items: items)
        with pytest.raises(NotRunnable, match=words):
            kit.run(toys, tasks=kit.task(toys), model=kit.model(toys))


def test_a_second_signal_in_the_middle_of_the_first_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signals, "_announce", lambda text: None)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    stop = Stop()
    heard: list[str] = []
    condition: Any = vars(stop.soft)["_cond"]
    notify = condition.notify_all

    def interrupted() -> None:
        if not heard:
            heard.append("interrupted")
            os.kill(os.getpid(), signal.SIGTERM)
        notify()

    monkeypatch.setattr(condition, "notify_all", interrupted)
    try:
        with stop.heard_by(lambda: heard.append("told")), signals.Signals(stop):
            os.kill(os.getpid(), signal.SIGINT)
            assert stop.soft.is_set()
            assert stop.hard.is_set()
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert heard == ["interrupted", "told"]
        # what is said last is not cut short
        assert {signal.getsignal(number) for number in before} == {signal.SIG_IGN}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_after_one_signal_those_that_follow_are_heard_as_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with signals.Signals(Stop()):
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
