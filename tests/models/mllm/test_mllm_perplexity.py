"""Choices by perplexity, as the request asks for it: over the choice, or over prompt and choice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import vgen_eval
from lookalikes import llvisionqa
from mllmkit import ask, make_request, noise
from test_mllm_choices import PROMPT, SPACE, SPELLED, ByHand

WORDS = ("dark red", "good", "an excellent one")
PICTURE = {"qwen2_5_vl": "<|image_pad|>", "llava": "<image>"}
FAMILIES = list(PICTURE)


def loss(hand: ByHand, word: str, *, whole: bool) -> float:
    """Mean loss that transformers itself reckons, over the word's tokens or over all of them."""
    import torch

    text, tensors = hand.picture(noise(4))
    prompt = hand.encode(SPELLED[hand.name].format(picture=text))
    ids = torch.tensor([prompt + hand.encode(SPACE[hand.name] + word)])
    place = hand.processor.tokenizer.convert_tokens_to_ids(PICTURE[hand.name])
    labels = ids.clone()
    labels[ids == place] = -100
    if not whole:
        labels[0, : len(prompt)] = -100
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), **tensors}
    if hand.name.startswith("qwen"):
        inputs["mm_token_type_ids"] = (ids == place).int()
    with torch.no_grad():
        return float(hand.model(**inputs, labels=labels).loss)


@pytest.mark.parametrize("scoring", ["closed_set", "closed_set_full"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_choice_is_minus_the_loss_of_its_labels_whatever_the_card_says(
    family: str, scoring: str, tiny_adapter: Any, tiny_mllm: Callable[..., Path]
) -> None:
    hand = ByHand(family, tiny_mllm(family))
    request = make_request(form="choice", prompt=PROMPT, images=[noise(4)], choices=WORDS)
    request = msgspec.structs.replace(request, choice_scoring=scoring)
    (output,) = ask(tiny_adapter(family, choice_scoring="next_token"), request)
    whole = scoring == "closed_set_full"
    expected = {word: -loss(hand, word, whole=whole) for word in WORDS}
    assert output.answer == pytest.approx(expected, abs=1e-5)
    assert output.flags == ()


def test_over_the_prompt_too_the_card_may_ask_and_numbers_differ(tiny_adapter: Any) -> None:
    request = make_request(form="choice", choices=WORDS)
    (own,) = ask(tiny_adapter("qwen2_5_vl", choice_scoring="closed_set"), request)
    (full,) = ask(tiny_adapter("qwen2_5_vl", choice_scoring="closed_set_full"), request)
    assert set(own.answer) == set(full.answer)
    assert all(abs(own.answer[word] - full.answer[word]) > 1e-4 for word in WORDS)


def test_the_protocol_of_q_bench_asks_for_it_with_each_questions_own_options(
    tiny_mllm: Callable[..., Path], tmp_path: Path
) -> None:
    llvisionqa.write(tmp_path)
    (tmp_path / "card.yaml").write_text(
        "model: tiny/chooser\nadapter: transformers_mllm\nanswers: [text, choice]\n"
        f"checkpoint: {{path: {tiny_mllm('qwen2_5_vl')}}}\n"
        "options: {choice_scoring: next_token}\n"
        "generation: {max_new_tokens: 8, seed: 3}\nneeds: {extra: transformers}\n"
        "licence: CC0-1.0\n"
    )
    (card,) = vgen_eval.evaluate(
        tasks="quality/llvisionqa", models=[str(tmp_path / "card.yaml")], answer="choice",
        samples=["00001.jpg", "00003.jpg"], data_root=str(tmp_path), device="cpu",
        output=str(tmp_path / "runs"), bounds=False,
    )  # fmt: skip
    assert card.counts.statuses == {"ok": 2}
    (file,) = (tmp_path / "runs").rglob("predictions.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = {line["sample"]: line["answer"]["value"] for line in lines}
    assert set(found["00001.jpg"]) == {"Noise", "Blur", "None of these"}
    assert set(found["00003.jpg"]) == {"No", "Yes"}
    assert all("multi_token" not in line.get("flags", ()) for line in lines)  # means, not sums
