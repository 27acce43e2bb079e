"""Efficiency: what is in the time and what is not, which calls count, and what the record says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pytest
from vgen_eval import Output, Refused, Request, Transient, Usage
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import Needs, Price
from vgen_eval.engine.bench import Asked, plan_bench, run_bench
from vgen_eval.engine.memory import MemoryWatch, accelerators, find_synchronise
from vgen_eval.engine.models import Model, from_function
from vgen_eval.engine.settings import Settings
from vgen_eval.errors import AccessDenied, MissingKey, NotRunnable, UsageError
from vgen_eval.plugins import Catalog
from vgen_eval.results.bench import (
    BenchRecord,
    json_schema,
    measured_rate,
    read_records,
    summarise_latency,
    summarise_times,
)
from vgen_eval.types import NoOptions

LOAD_S, CALL_S = 0.15, 0.03
LATE_S = 0.25
"""How much later than told a sleeper may wake on a busy machine."""
TASK = "samples/counting"


class Sleeper(BaseAdapter):
    """Takes its time to load and to answer; `script` says what the calls come to, in turn."""

    def __init__(self, script: Sequence[Any] = (), **facts: Any) -> None:
        super().__init__(NoOptions())
        self.script = list(script)
        self.asked: list[Request] = []
        self.closed = 0
        for name, value in facts.items():
            setattr(self, name, value)

    def load(self) -> None:
        time.sleep(LOAD_S)

    def generate(self, requests: Sequence[Request]) -> Iterator[Output]:
        (request,) = requests
        at = len(self.asked)
        self.asked.append(request)
        time.sleep(CALL_S)
        step = self.script[at] if at < len(self.script) else "3"
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, Output):
            step = msgspec.structs.replace(step, id=request.id)
            yield step
            return
        yield Output(id=request.id, answer=step)

    def close(self) -> None:
        self.closed += 1


def model_of(adapter: BaseAdapter, **card: Any) -> Model:
    """The adapter as a model that gives text."""
    made = from_function(lambda request: "", name="sleeper", forms=["text"])
    return msgspec.structs.replace(
        made, build=lambda _device: adapter, card=msgspec.structs.replace(made.card, **card)
    )


def bench(
    folder: Path, adapter: BaseAdapter, *, samples: int = 6, warmup: int = 3,
    long_side: int | None = None, card: Mapping[str, Any] | None = None, **settings: Any,
) -> BenchRecord:  # fmt: skip
    """Measures the adapter on the counting samples."""
    asked = Asked(samples=samples, warmup=warmup, long_side=long_side)
    read = Settings(tasks=(TASK,), output=str(folder), **settings)
    job, _ = plan_bench(read, Catalog.discover(), asked, models=[model_of(adapter, **(card or {}))])
    return run_bench(job, asked, read)[0]


def test_loading_and_warm_up_are_in_no_time(tmp_path: Path) -> None:
    adapter = Sleeper(["3", "3", "3"])
    record = bench(tmp_path, adapter, samples=6, warmup=4)
    assert len(adapter.asked) == 10
    assert adapter.closed == 1
    assert LOAD_S <= record.load_s < LOAD_S + LATE_S
    assert record.generate is not None
    assert record.generate.calls == 6
    assert 6 * CALL_S <= record.generate.total_s < 6 * CALL_S + LATE_S
    assert record.first_call_s is not None
    assert record.first_call_s >= CALL_S
    assert record.images_per_minute == pytest.approx(60 * 6 / record.generate.total_s)
    assert record.decode is not None
    assert record.images_per_minute_decoded == pytest.approx(
        60 * 6 / (record.generate.total_s + record.decode.total_s)
    )
    assert (record.batch, record.calls.warmup, record.latency) == (1, 4, None)


def test_the_rate_is_of_the_sum_and_not_the_mean_of_rates() -> None:
    times = summarise_times([1.0, 2.0, 6.0])
    assert times is not None
    assert (times.per_minute, times.mean_s, times.median_s) == (60 * 3 / 9.0, 3.0, 2.0)
    assert (times.min_s, times.max_s, times.total_s) == (1.0, 6.0, 9.0)
    assert summarise_times([]) is None


def test_percentiles_are_those_of_numpy() -> None:
    seconds = np.random.default_rng(3).exponential(size=37)
    late = summarise_latency(list(seconds))
    assert late is not None
    for share, got in ((50, late.p50_s), (90, late.p90_s), (99, late.p99_s)):
        assert got == pytest.approx(np.percentile(seconds, share), rel=1e-12)
    one = summarise_latency([0.4])
    assert one is not None
    assert (one.p50_s, one.p99_s, one.calls_per_minute) == (0.4, 0.4, 60 / 0.4)


def test_requests_go_one_by_one_and_a_repeated_sample_has_another_seed(tmp_path: Path) -> None:
    adapter = Sleeper()
    record = bench(tmp_path, adapter, samples=30)
    asked = [(request.sample, request.seed) for request in adapter.asked]
    assert len(asked) == 33
    assert len(set(asked)) == 33  # warm-up too has seeds of its own
    assert record.calls.samples == len({sample for sample, _ in asked[3:]}) < 30
    assert [one.sample for one in record.each] == [sample for sample, _ in asked[3:]]


def test_calls_without_an_answer_are_counted_and_in_no_time(tmp_path: Path) -> None:
    adapter = Sleeper(
        ["3"] * 3 + [
            Refused("not that one"), "4", Output(id="", answer=None, reason="SAFETY"),
            TimeoutError("no answer within 5 s"), ValueError("a shape"), "no number at all",
            Transient("status 500"), "5",
        ]
    )  # fmt: skip
    record = bench(tmp_path, adapter, samples=8)
    calls = record.calls
    assert (calls.asked, calls.answered, calls.failed, calls.undecodable) == (8, 3, 5, 1)
    assert calls.failures == {"refused": 1, "no_answer": 1, "timeout": 1, "error": 2}
    assert calls.reasons[0] == "not that one"
    assert "SAFETY" in calls.reasons
    assert record.generate is not None
    assert record.decode is not None
    assert (record.generate.calls, record.decode.calls) == (3, 2)
    assert record.generate.total_s < 3 * CALL_S + LATE_S
    assert len(adapter.asked) == 11  # none was tried again


def test_when_every_call_fails_there_is_no_rate_and_a_reason(tmp_path: Path) -> None:
    adapter = Sleeper([Refused("no")] * 9)
    record = bench(tmp_path, adapter, samples=6)
    assert (record.generate, record.images_per_minute, record.decode) == (None, None, None)
    assert record.reasons["images_per_minute"] == "no call was answered"
    assert record.calls.warmup_failed == 3
    assert record.first_call_s is None
    digest = record.model_info["identity_digest"]
    assert measured_rate(tmp_path, "sleeper", task=TASK, identity=digest) is None


def test_a_service_has_latency_and_no_throughput(tmp_path: Path) -> None:
    usage = Usage(input_tokens=1000, output_tokens=10)
    adapter = Sleeper([Output(id="", answer="3", usage=usage)] * 9, endpoint="api.example:8443")
    card = {"price": Price(per_million_input_usd=2.0, per_million_output_usd=100.0)}
    record = bench(tmp_path, adapter, samples=6, card=card)
    assert record.images_per_minute is None
    assert "latency, not its throughput" in record.reasons["images_per_minute"]
    assert record.latency is not None
    assert CALL_S <= record.latency.p50_s <= record.latency.p90_s <= record.latency.p99_s
    assert record.usage == {"input_tokens": 9000, "output_tokens": 90}
    assert record.cost_usd == pytest.approx(9 * (0.002 + 0.001))


def test_pictures_have_the_long_side_that_was_asked_small_ones_too(tmp_path: Path) -> None:
    adapter = Sleeper()
    record = bench(tmp_path, adapter, long_side=96)
    sides = {max(request.images[0].array.shape[:2]) for request in adapter.asked}
    assert sides == {96}
    assert record.input["asked_long_side"] == 96
    assert {max(height, width) for height, width, _ in record.input["seen"]} == {96}
    assert sum(count for _, _, count in record.input["seen"]) == 6
    own = Sleeper()
    bench(tmp_path, own, long_side=96, set={"protocol.input.long_side": 64})
    assert max(own.asked[0].images[0].array.shape[:2]) == 64  # what is said of the card wins


def test_the_adapter_says_when_the_device_is_done_and_what_it_holds(tmp_path: Path) -> None:
    waited: list[float] = []
    adapter = Sleeper(
        synchronize=lambda: waited.append(time.perf_counter()),
        memory=lambda: {"peak_mib": np.float32(12.5), "devices": 2},
    )
    record = bench(tmp_path, adapter, samples=5)
    assert record.synchronised == "adapter"
    assert len(waited) == 2 * (5 + 3)  # before the clock starts and before it stops
    assert record.memory.adapter == {"peak_mib": 12.5, "devices": 2}
    assert record.memory.resident_peak_mib is not None
    assert record.memory.resident_peak_mib > 10
    broken = Sleeper(memory=lambda: 1 / 0)
    told = bench(tmp_path, broken).memory.adapter
    assert told == {"error": "memory() raised ZeroDivisionError: division by zero"}


def test_memory_that_is_not_counted_has_its_reason() -> None:
    with MemoryWatch() as watch:
        memory = watch.read(object())
    for field in ("allocator_peak_mib", "nvml_process_peak_mib", "resident_peak_mib"):
        assert (getattr(memory, field) is None) == (field in memory.reasons)
    assert find_synchronise(object())[1]() is None


class Cuda:
    """What of torch.cuda is asked, of two devices that no test machine has."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    is_available = is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)

    def reset_peak_memory_stats(self, at: int) -> None:
        self.told.append(("reset", at))

    def synchronize(self, at: int) -> None:
        self.told.append(("wait", at))

    def max_memory_allocated(self, at: int) -> int:
        return (at + 1) * 3 * 2**20

    def get_device_name(self, at: int) -> str:
        return f"device {at}"


def test_the_allocators_peak_is_summed_over_the_devices_and_each_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = Cuda()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    who, wait = find_synchronise(object())
    wait()
    assert (who, cuda.told) == ("torch.cuda", [("wait", 0), ("wait", 1)])
    with MemoryWatch() as watch:
        assert cuda.told[2:] == [("reset", 0), ("reset", 1)]
        memory = watch.read(object())
    assert memory.allocator_peak_mib == 9.0
    assert "allocator_peak_mib" not in memory.reasons
    assert accelerators() == ["device 0", "device 1"]


def test_nvml_counts_this_process_and_those_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        held = {os.getpid(): 5, child.pid: 2, 1: 90, os.getppid(): 70}
        running = [SimpleNamespace(pid=pid, usedGpuMemory=mib * 2**20) for pid, mib in held.items()]
        running.append(SimpleNamespace(pid=os.getpid(), usedGpuMemory=None))
        nvml = SimpleNamespace(
            NVMLError=OSError, nvmlInit=lambda: None, nvmlShutdown=lambda: None,
            nvmlDeviceGetCount=lambda: 1, nvmlDeviceGetHandleByIndex=lambda at: at,
            nvmlDeviceGetComputeRunningProcesses=lambda _handle: running,
        )  # fmt: skip
        monkeypatch.setitem(sys.modules, "pynvml", nvml)
        with MemoryWatch() as watch:
            time.sleep(0.2)
            memory = watch.read(object())
        child.communicate(b"\n")
    assert memory.nvml_process_peak_mib == 7.0


def test_what_the_services_denial_or_a_wrong_argument_ends_is_closed(tmp_path: Path) -> None:
    for error in (AccessDenied("401"), UsageError("no argument 'stepz'")):
        adapter = Sleeper(["3", error])
        with pytest.raises(type(error)):
            bench(tmp_path, adapter)
        assert (len(adapter.asked), adapter.closed) == (2, 1)
    assert not (tmp_path / "bench").exists()


def test_an_interrupt_closes_the_model_and_writes_nothing(tmp_path: Path) -> None:
    adapter = Sleeper(["3"] * 5 + [KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        bench(tmp_path, adapter)
    assert (len(adapter.asked), adapter.closed) == (6, 1)
    assert not (tmp_path / "bench").exists()
    assert "nvml" not in {thread.name for thread in threading.enumerate()}


def test_a_model_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    class Unloadable(Sleeper):
        def load(self) -> None:
            raise ValueError("no weights")

    with pytest.raises(NotRunnable, match="cannot be loaded: ValueError: no weights"):
        bench(tmp_path, Unloadable())


def test_a_reader_or_decoder_that_raises_spoils_its_call_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, read = Asked(samples=4, long_side=None), Settings(tasks=(TASK,), output=str(tmp_path))
    model = model_of(Sleeper(["3"] * 4 + ["5"]))
    job, _ = plan_bench(read, Catalog.discover(), asked, models=[model])
    load, decode = job.task.dataset.load, job.codec.decoder.decode

    def torn(item: Any) -> Any:
        if item is job.items[2]:
            raise ValueError("torn")
        return load(item)

    def odd(answer: Any, scene: Any) -> Any:
        if answer == "5":
            raise RuntimeError("odd")
        return decode(answer, scene)

    monkeypatch.setattr(job.task.dataset, "load", torn)
    monkeypatch.setattr(job.codec.decoder, "decode", odd)
    record, _ = run_bench(job, msgspec.structs.replace(asked, warmup=3), read)
    assert [one.status for one in record.each] == ["ok", "ok", "bad_sample", "undecodable"]
    assert record.calls.reasons == ("ValueError: torn", "RuntimeError: odd")
    assert (record.calls.answered, record.calls.undecodable) == (3, 1)


def test_a_service_known_only_once_loaded_gets_no_key_that_nobody_allowed(tmp_path: Path) -> None:
    class Late(Sleeper):
        def load(self) -> None:
            self.endpoint = "late.example"

    model = model_of(Late(), needs=Needs(key_env="PATH"))
    model = msgspec.structs.replace(model, trusted=False)
    asked, read = Asked(long_side=None), Settings(tasks=(TASK,), output=str(tmp_path))
    job, _ = plan_bench(read, Catalog.discover(), asked, models=[model])
    with pytest.raises(NotRunnable, match=r"would send the key in PATH to late\.example"):
        run_bench(job, asked, read)


def test_the_record_keeps_to_its_schema_and_replaces_its_like(tmp_path: Path) -> None:
    first = bench(tmp_path, Sleeper())
    second = bench(tmp_path, Sleeper())
    folder = tmp_path / "bench" / "sleeper" / f"{TASK}@{first.protocol}"
    assert [path.name for path in folder.iterdir()] == [f"{first.digest}.json"]
    assert first.digest == second.digest
    assert bench(tmp_path, Sleeper(), samples=5).digest != first.digest
    text = (folder / f"{first.digest}.json").read_text()
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(text))
    assert msgspec.json.decode(text, type=BenchRecord) == second


def test_the_measured_rate_is_the_newest_of_the_task_or_of_any(tmp_path: Path) -> None:
    record = bench(tmp_path, Sleeper())
    assert record.generate is not None
    per_minute, digest = record.generate.per_minute, record.model_info["identity_digest"]
    own = f"{TASK}@{record.protocol}"

    def rate(task: str, model: str = "sleeper", identity: str = digest) -> float | None:
        return measured_rate(tmp_path, model, task=task, identity=identity)

    assert rate(own) == per_minute
    assert rate("depth/other@plain") == per_minute
    assert rate(own, model="another") is None
    assert rate(own, identity="0" * 64) is None
    folder = tmp_path / "bench" / "sleeper"
    newer = msgspec.structs.replace(
        record, digest="f" * 12, finished="2999-01-01T00:00:00Z",
        generate=summarise_times([0.5, 1.5]),
    )  # fmt: skip
    (folder / "newer.json").write_bytes(msgspec.json.encode(newer))
    (folder / "damaged.json").write_text("{")
    assert rate("depth/other@plain") == 60.0
    assert rate(own) == per_minute
    assert len(read_records(folder)) == 2


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (Asked(samples=0), "--samples: 0 must be from 1 to 1,000,000"),
        (Asked(samples=1_000_001), "--samples: 1000001 must be from 1 to 1,000,000"),
        (Asked(warmup=10**9), "--warmup: 1000000000 must be at least 3, and 1,000,000 at most"),
        (Asked(warmup=2), "--warmup: 2 must be at least 3"),
    ],
)
def test_numbers_that_cannot_be_are_usage(asked: Asked, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        plan_bench(Settings(tasks=(TASK,), models=("blind",)), Catalog.discover(), asked)


def test_one_pair_is_measured_at_a_time() -> None:
    catalog = Catalog.discover()
    with pytest.raises(UsageError, match="one pair is measured at a time, 2 are meant"):
        plan_bench(Settings(tasks=(TASK,), models=("blind", "copy")), catalog, Asked())
    with pytest.raises(NotRunnable, match="model gives text; the protocol takes"):
        plan_bench(
            Settings(tasks=("samples/depth",)), catalog, Asked(), models=[model_of(Sleeper())]
        )


def test_a_key_that_is_not_set_is_told_before_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    from vgen_eval.cards.records import Needs

    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    keyed = model_of(Sleeper(), needs=Needs(key_env="NO_SUCH_KEY"))
    with pytest.raises(MissingKey):
        plan_bench(Settings(tasks=(TASK,)), Catalog.discover(), Asked(), models=[keyed])


def test_a_measurement_without_an_answer_does_not_take_the_place_of_one_with_some(
    tmp_path: Path,
) -> None:
    good = bench(tmp_path, Sleeper(), samples=2)
    (path,) = tmp_path.rglob("bench/**/*.json")
    written = path.read_bytes()
    failed = bench(tmp_path, Sleeper([Transient("down")] * 9), samples=2)
    assert (failed.generate, failed.digest) == (None, good.digest)
    assert path.read_bytes() == written
    bench(tmp_path, Sleeper(["4"] * 9), samples=2)
    assert path.read_bytes() != written
