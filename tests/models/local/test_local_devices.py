"""Devices, number types, seeds; batches that shrink when memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest
from vgen_eval.errors import CallError, NotRunnable, UsageError
from vgen_eval_plugins.models.local.batches import Batches, is_out_of_memory
from vgen_eval_plugins.models.local.chatter import chatter_logged
from vgen_eval_plugins.models.local.devices import (
    choose_device,
    choose_dtype,
    is_exact,
    seed_generator,
)

torch = pytest.importorskip("torch")
CUDA = torch.cuda.is_available()


def test_the_device_is_as_asked_or_the_best_that_is_here() -> None:
    best = choose_device(None, extra="diffusers")
    assert best == choose_device("auto", extra="diffusers")
    assert best == ("cuda" if CUDA else "mps" if torch.backends.mps.is_available() else "cpu")
    assert choose_device("cpu", extra="diffusers") == "cpu"


@pytest.mark.parametrize("asked", ["gpu", "cpu:1", "cuda:x", "", "mps:0"])
def test_another_word_is_no_device(asked: str) -> None:
    with pytest.raises(UsageError, match="no device"):
        choose_device(asked, extra="diffusers")


def test_a_device_that_is_not_here_is_told_with_those_that_are() -> None:
    with pytest.raises(NotRunnable, match=r"no device 'cuda:99' here.*there is .*cpu") as caught:
        choose_device("cuda:99", extra="diffusers")
    assert str(caught.value.cure).startswith("--device ")


def test_number_types_by_name() -> None:
    assert choose_dtype("auto", "cpu", extra="x") is torch.float32
    assert choose_dtype("auto", "mps", extra="x") is torch.float32
    assert choose_dtype("auto", "cuda:1", extra="x") is torch.bfloat16
    assert choose_dtype("float16", "cpu", extra="x") is torch.float16
    assert [is_exact(name, "cpu") for name in ("auto", "float32", "bfloat16")] == [
        True,
        True,
        False,
    ]
    assert not is_exact("float32", "cuda")
    assert not is_exact("auto", None)


def test_a_seed_gives_its_own_noise_and_leaves_torchs_alone() -> None:
    before = torch.random.get_rng_state()
    first, second, other = (torch.randn(4, generator=seed_generator(seed)) for seed in (5, 5, 6))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_seed_of_more_than_64_bits_counts_by_its_last() -> None:
    first, second = (torch.randn(4, generator=seed_generator(seed)) for seed in (2**64 + 5, 5))
    assert torch.equal(first, second)


OUT = (
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError("MPS backend out of memory (MPS allocated: 8 GB, max allowed: 9 GB)"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
    MemoryError(),
)


@pytest.mark.parametrize("fault", OUT, ids=str)
def test_lack_of_memory_is_known_by_each_devices_words(fault: BaseException) -> None:
    assert is_out_of_memory(fault)


@pytest.mark.parametrize("fault", [RuntimeError("shapes differ"), ValueError("out of memory")])
def test_other_faults_are_no_lack_of_memory(fault: BaseException) -> None:
    assert not is_out_of_memory(fault)


def test_batches_shrink_where_memory_ends_and_stay_small(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def square(items: Sequence[int]) -> Sequence[int]:
        calls.append(len(items))
        if len(items) > 3:
            raise OUT[0]
        return [item * item for item in items]

    batches = Batches(8, device="cpu", cure="less")
    with caplog.at_level(logging.WARNING):
        assert list(batches.run(range(9), square)) == [n * n for n in range(9)]
    assert calls == [8, 4, 2, 2, 2, 2, 1]
    assert batches.most == 2
    assert [record.getMessage() for record in caplog.records] == [
        "out of memory at batch 8 on cpu: batches of 4 from here on",
        "out of memory at batch 4 on cpu: batches of 2 from here on",
    ]
    calls.clear()
    assert list(batches.run(range(3), square)) == [0, 1, 4]
    assert calls == [2, 1]


def test_one_that_does_not_fit_is_an_error_after_those_that_did() -> None:
    def half(items: Sequence[int]) -> Sequence[int]:
        if 3 in items:
            raise OUT[1]
        return items

    batches = Batches(1, device="cpu", cure="-M offload=model")
    made = []
    with pytest.raises(CallError, match="out of memory at batch 1 on cpu: -M offload=model"):
        made.extend(batches.run([1, 2, 3, 4], half))
    assert batches.most == 1


def test_what_libraries_say_goes_to_the_programs_log_and_back(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("diffusers")
    handler = logging.StreamHandler()
    logger.addHandler(handler)
    try:
        with chatter_logged():
            logging.getLogger("diffusers.pipelines").warning("adjusted")
        assert handler in logger.handlers
    finally:
        logger.removeHandler(handler)
    assert "adjusted" in caplog.text
    assert capfd.readouterr().err == ""
