"""The stand-ins: small, alike each time, and as the tests take them to be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from mllmkit import ask, make_request, noise
from vgen_eval.cards.records import ModelCard
from vgen_eval_plugins.models.mllm.adapter import TransformersMLLM
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


@pytest.mark.parametrize(
    "settings",
    [
        {"do_sample": True, "max_new_tokens": 16384},
        {"do_sample": True, "temperature": 9.0, "top_k": 0, "max_new_tokens": 16384},
        {"max_new_tokens": 1},
        {"num_beams": 2, "repetition_penalty": 1.2},
        {},
    ],
    ids=str,
)
def test_a_stub_answers_in_a_few_words_whatever_is_drawn(
    settings: dict[str, object], tmp_path: Path
) -> None:
    card = ModelCard(
        model="m", adapter="transformers_mllm", answers=("text",), licence="CC0-1.0",
        generation=settings,
    )  # fmt: skip
    with TransformersMLLM.stub(card, tmp_path) as options:
        adapter = TransformersMLLM(
            msgspec.convert(options, TransformersMLLM.Options), card=card, device="cpu"
        )
        adapter.load()
    sizes = ((1, 1), (37, 53), (1, 150), (48, 64))
    for seed, size in enumerate(sizes):
        shown = [noise(seed, *size)] * (1 + seed % 2)
        (output,) = ask(adapter, make_request(seed=seed, images=shown, **settings))
        assert isinstance(output.answer, str)
        assert output.answer.isalpha()
        assert len(output.answer) < 64
