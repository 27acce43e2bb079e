"""Memory that runs out: batches are halved, the answers stay."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from mllmkit import ask, load, make_request
from vgen_eval.errors import CallError


def narrow(adapter: Any, most: int, *, how: str = "torch") -> list[int]:
    """Lets no more than `most` rows through the model; gives the sizes that were tried."""
    import torch

    seen: list[int] = []

    def refuse(module: Any, args: Any, given: Any) -> None:
        rows = given["input_ids"].shape[0]
        seen.append(rows)
        if rows > most:
            if how == "torch":
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
            torch.empty(1 << 50)  # what a CPU raises

    adapter._model.register_forward_pre_hook(refuse, with_kwargs=True)
    return seen


@pytest.mark.parametrize("how", ["torch", "cpu"])
def test_a_batch_too_large_is_halved_for_good(
    how: str, tiny_mllm: Any, tiny_adapter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    folder: Path = tiny_mllm("llava")
    adapter = load(folder, batch=8)
    seen = narrow(adapter, 2, how=how)
    requests = [
        make_request(str(number), prompt="x" * number, max_new_tokens=2) for number in range(6)
    ]
    with caplog.at_level(logging.WARNING):
        outputs = ask(adapter, *requests)
    alone = [ask(tiny_adapter("llava"), request)[0] for request in requests]
    assert [output.answer for output in outputs] == [output.answer for output in alone]
    assert [rows for rows in seen if rows > 2] == [6, 3]
    assert "batches of 1 from here on" in caplog.text
    seen.clear()
    ask(adapter, *requests)
    assert max(seen) == 1


def test_passes_of_choices_are_halved_too(tiny_mllm: Any, tiny_adapter: Any) -> None:
    adapter = load(tiny_mllm("llava"))
    seen = narrow(adapter, 1)
    request = make_request(form="choice", choices=("dark red", "light red", "grey", "yes"))
    (output,) = ask(adapter, request)
    (expected,) = ask(tiny_adapter("llava"), request)
    assert output.answer == pytest.approx(expected.answer, abs=1e-5)
    assert seen[0] == 3  # "yes" needs no pass of its own
    assert seen.count(1) == 3


def test_one_request_too_large_is_told_with_the_cure(tiny_mllm: Any) -> None:
    adapter = load(tiny_mllm("llava"))
    narrow(adapter, 0)
    with pytest.raises(CallError, match="out of memory at batch 1 on cpu: smaller pictures"):
        ask(adapter, make_request(max_new_tokens=2))


def test_another_runtime_error_is_not_taken_for_it(tiny_mllm: Any) -> None:
    adapter = load(tiny_mllm("llava"), batch=2)

    def fail(module: Any, args: Any) -> None:
        raise RuntimeError("a shape is wrong")

    adapter._model.register_forward_pre_hook(fail)
    with pytest.raises(RuntimeError, match="a shape is wrong"):
        ask(adapter, make_request("a"), make_request("b"))
