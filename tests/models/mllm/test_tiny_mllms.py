"""The stand-ins: small, alike each time, and as the tests take them to be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from vgen_eval_plugins.standins.tiny_mllms import BUILDERS
from vgen_eval_plugins.standins.tiny_tokens import WORDS


@pytest.mark.parametrize("family", list(BUILDERS))
def test_a_seed_makes_the_same_files_each_time(
    family: str, tiny_mllm: Callable[..., Path], tmp_path: Path
) -> None:
    import torch

    first = tiny_mllm(family)
    torch.rand(1)  # what was drawn before does not count
    again, other = BUILDERS[family](tmp_path / "a"), BUILDERS[family](tmp_path / "b", seed=1)
    names = sorted(path.name for path in first.iterdir())
    assert "model.safetensors" in names
    for name in names:
        assert (again / name).read_bytes() == (first / name).read_bytes()
    weights = "model.safetensors"
    assert (other / weights).read_bytes() != (first / weights).read_bytes()
    assert (first / weights).stat().st_size < 1_000_000


@pytest.mark.parametrize("family", list(BUILDERS))
def test_its_words_are_one_token_each_and_others_are_several(
    family: str, tiny_mllm: Callable[..., Path]
) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_mllm(family))
    for word in WORDS:
        assert len(tokenizer.encode(word, add_special_tokens=False)) == 1
    assert len(tokenizer.encode("excellent", add_special_tokens=False)) == len("excellent")
    assert tokenizer.decode(tokenizer.encode("été 中", add_special_tokens=False)) == "été 中"
