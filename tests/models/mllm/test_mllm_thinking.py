"""Thinking traces of models that run here: cut off the answer, kept beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mllmkit import ask, load, make_request, script


@pytest.mark.parametrize("thinking", ["none", "always"])
def test_the_trace_is_kept_apart_also_where_the_template_opens_it(
    thinking: str, tiny_mllm: Any, tmp_path: Path
) -> None:
    opening = [] if thinking == "always" else ["<think>"]
    words = [*opening, "h", "m", "</think>", "7", "<|im_end|>"]
    folder = script(tiny_mllm("qwen3_vl", thinking=thinking), tmp_path / "thinker", words)
    (output,) = ask(load(folder), make_request())
    assert (output.answer, output.thinking, output.flags) == ("7", "hm", ())
    assert output.usage is not None
    assert output.usage.output_tokens == len(words)
    assert output.usage.thinking_tokens == len(words) - 2


def test_a_trace_without_an_end_is_no_answer_and_is_kept(tiny_mllm: Any, tmp_path: Path) -> None:
    words = ["h", "m", "</think>", "7", "<|im_end|>"]
    folder = script(tiny_mllm("qwen3_vl", thinking="always"), tmp_path / "thinker", words)
    (output,) = ask(load(folder), make_request(max_new_tokens=2))
    assert output.answer is None
    assert output.reason == "thinking did not end within 2 tokens"
    assert output.thinking == "hm"
    assert output.flags == ()


def test_a_turn_that_ends_within_its_trace_says_so(tiny_mllm: Any, tmp_path: Path) -> None:
    folder = script(
        tiny_mllm("qwen3_vl", thinking="always"), tmp_path / "thinker", ["h", "<|im_end|>"]
    )
    (output,) = ask(load(folder), make_request())
    assert output.answer is None
    assert output.reason == "the answer ended within its thinking, after 2 tokens"


def test_other_tags_can_be_named(tiny_mllm: Any, tmp_path: Path) -> None:
    words = ["[", "h", "]", "7", "<|im_end|>"]
    folder = script(tiny_mllm("qwen3_vl"), tmp_path / "thinker", words)
    (output,) = ask(load(folder, thinking_tags=("[", "]")), make_request())
    assert (output.answer, output.thinking) == ("7", "h")


def test_special_tags_are_read_before_special_tokens_go(tiny_mllm: Any, tmp_path: Path) -> None:
    words = ["<|vision_start|>", "h", "<|vision_end|>", "7", "<|im_end|>"]
    folder = script(tiny_mllm("qwen3_vl"), tmp_path / "thinker", words)
    tags = ("<|vision_start|>", "<|vision_end|>")
    (output,) = ask(load(folder, thinking_tags=tags), make_request())
    assert (output.answer, output.thinking) == ("7", "h")
