"""Text answers: greedy by default, cut where the turn ends, the same in each batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mllmkit import ask, load, make_request, noise, script
from vgen_eval.errors import CallError
from vgen_eval.types import Usage

FAMILIES = ("qwen2_5_vl", "qwen3_vl", "smolvlm", "llava")
NEW = 12


@pytest.mark.parametrize("family", FAMILIES)
def test_the_answer_is_the_likeliest_token_each_time(
    family: str, tiny_mllm: Callable[..., Path], tiny_adapter: Any
) -> None:
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    request = make_request(max_new_tokens=NEW)
    (output,) = ask(tiny_adapter(family), request)
    processor = AutoProcessor.from_pretrained(tiny_mllm(family))
    model = AutoModelForImageTextToText.from_pretrained(tiny_mllm(family)).eval()
    content = [
        {"type": "image", "image": request.images[0].to_pil()},
        {"type": "text", "text": request.prompt},
    ]
    inputs = dict(
        processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=True,
            return_dict=True, return_tensors="pt", processor_kwargs={"padding": True},
        )
    )  # fmt: skip
    chosen: list[int] = []
    while len(chosen) < NEW and processor.tokenizer.eos_token_id not in chosen:
        with torch.no_grad():
            token = int(model(**inputs).logits[0, -1].argmax())
        chosen.append(token)
        for name, more in (("input_ids", token), ("attention_mask", 1), ("mm_token_type_ids", 0)):
            if name in inputs:
                inputs[name] = torch.cat([inputs[name], torch.tensor([[more]])], dim=1)
    told = processor.tokenizer.decode(chosen, skip_special_tokens=True).strip()
    assert output.answer == told
    assert output.usage is not None
    assert output.usage.output_tokens == len(chosen)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_answers_as_each_request_alone(family: str, tiny_adapter: Any) -> None:
    requests = [
        make_request("a", max_new_tokens=NEW),
        make_request("b", prompt="far more words " * 20, max_new_tokens=NEW),
        make_request("c", images=[noise(5), noise(6)], max_new_tokens=NEW),
        make_request("d", images=[], max_new_tokens=NEW),
        make_request("e", images=[noise(7, 30, 90)], prompt="", max_new_tokens=NEW),
        make_request("f", images=[noise(8)], prompt="another", max_new_tokens=NEW),
    ]
    alone = [ask(tiny_adapter(family), request)[0] for request in requests]
    together = ask(tiny_adapter(family, batch=8), *requests)
    assert [output.answer for output in together] == [output.answer for output in alone]
    assert [output.usage for output in together] == [output.usage for output in alone]
    assert len({output.answer for output in alone}) > 1


def test_seeds_decide_what_is_drawn_whatever_stands_beside(tiny_adapter: Any) -> None:
    drawn = {"do_sample": True, "temperature": 2.0, "max_new_tokens": NEW}
    requests = [make_request(str(seed), seed=seed, **drawn) for seed in (0, 1, 2)]
    alone = [ask(tiny_adapter("qwen2_5_vl"), request)[0].answer for request in requests]
    together = ask(tiny_adapter("qwen2_5_vl", batch=8), *requests[::-1])
    assert [output.answer for output in together[::-1]] == alone
    assert len(set(alone)) == 3
    greedy = ask(tiny_adapter("qwen2_5_vl"), make_request(max_new_tokens=NEW))[0].answer
    assert greedy not in alone


def test_drawing_leaves_torchs_own_generator_as_it_was(tiny_adapter: Any) -> None:
    import torch

    before = torch.random.get_rng_state()
    ask(tiny_adapter("qwen2_5_vl"), make_request(do_sample=True, max_new_tokens=2))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_an_answer_ends_with_its_turn(tiny_mllm: Any, tmp_path: Path) -> None:
    folder = script(tiny_mllm("qwen2_5_vl"), tmp_path / "five", ["5", "<|im_end|>", "9"])
    (output,) = ask(load(folder), make_request())
    assert output.answer == "5"
    assert output.flags == ()
    assert output.reason is None
    assert output.usage == Usage(input_tokens=output.usage.input_tokens, output_tokens=2)  # type: ignore[union-attr]


def test_the_shorter_answer_of_a_batch_is_not_padded_out(tiny_mllm: Any, tmp_path: Path) -> None:
    folder = script(tiny_mllm("qwen2_5_vl"), tmp_path / "more", ["5", "<|im_end|>"])
    adapter = load(folder, batch=2)
    five, one = ask(
        adapter, make_request("a"), make_request("b", prompt="x " * 30, min_new_tokens=1)
    )
    assert (five.answer, five.usage.output_tokens) == ("5", 2)  # type: ignore[union-attr]
    assert (one.answer, one.usage.output_tokens) == ("5", 2)  # type: ignore[union-attr]


def test_an_answer_that_the_limit_ends_says_so(tiny_mllm: Any, tmp_path: Path) -> None:
    folder = script(tiny_mllm("qwen2_5_vl"), tmp_path / "long", ["5", "6", "7", "<|im_end|>"])
    (output,) = ask(load(folder), make_request(max_new_tokens=2))
    assert output.answer == "56"
    assert output.flags == ("truncated",)


def test_special_tokens_are_no_words(tiny_mllm: Any, tmp_path: Path) -> None:
    words = ["5", "<|vision_end|>", "6", "<|im_end|>"]
    folder = script(tiny_mllm("qwen2_5_vl"), tmp_path / "special", words)
    (output,) = ask(load(folder), make_request())
    assert output.answer == "56"


def test_an_empty_answer_is_none_with_a_reason(tiny_mllm: Any, tmp_path: Path) -> None:
    folder = script(tiny_mllm("qwen2_5_vl"), tmp_path / "empty", ["<|im_end|>"])
    (output,) = ask(load(folder), make_request())
    assert output.answer is None
    assert output.reason == "the answer is empty (1 tokens)"


def test_a_stop_string_ends_an_answer(tiny_mllm: Any, tmp_path: Path) -> None:
    folder = script(tiny_mllm("qwen2_5_vl"), tmp_path / "stop", ["5", ".", "6", "<|im_end|>"])
    (output,) = ask(load(folder), make_request(stop_strings=["."]))
    assert output.answer == "5."
    assert output.flags == ()


def test_a_prompt_longer_than_the_model_reads_is_no_answer(tiny_mllm: Any, tmp_path: Path) -> None:
    import json
    import shutil

    folder = tmp_path / "short"
    shutil.copytree(tiny_mllm("llava"), folder)
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["max_position_embeddings"] = 100
    (folder / "config.json").write_text(json.dumps(config))
    adapter = load(folder, batch=2)
    short, long = ask(
        adapter, make_request("a", max_new_tokens=2), make_request("b", prompt="x " * 200)
    )
    assert short.answer is not None
    assert long.answer is None
    assert long.reason is not None
    assert long.reason.endswith("tokens, and the model reads 100")


def test_a_picture_that_the_processor_takes_not_fails_alone(tiny_adapter: Any) -> None:
    adapter = tiny_adapter("qwen2_5_vl", batch=8)
    good = make_request("a", max_new_tokens=2)
    thin = make_request("b", images=[noise(1, 4, 1000)], max_new_tokens=2)
    outputs = adapter.generate([thin, good])
    assert next(outputs).id == "a#0"
    with pytest.raises(CallError, match=r"takes no such request.*aspect ratio"):
        next(outputs)


def test_a_form_that_it_does_not_give_is_told(tiny_adapter: Any) -> None:
    with pytest.raises(CallError, match="gives text and choice, and no image"):
        ask(tiny_adapter("qwen2_5_vl"), make_request(form="image"))
