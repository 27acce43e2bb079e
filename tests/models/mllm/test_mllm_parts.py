"""Local chat models: words and pictures in their own order, and answers that are begun."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from mllmkit import ask, load, make_request, noise
from vgen_eval_plugins.models.parts import UNFORCED

PREFIX = "The quality of the image is"
WORDS = ("good", "poor")
NEW = 8


def begun(request: Any, prefix: str = PREFIX) -> Any:
    return msgspec.structs.replace(request, prefix=prefix)


@pytest.mark.parametrize("family", ["qwen2_5_vl", "qwen3_vl", "smolvlm", "llava"])
def test_words_and_pictures_stand_in_the_requests_own_order(family: str, tiny_adapter: Any) -> None:
    adapter = tiny_adapter(family)
    chats, one, two = adapter._chats, noise(1), noise(2)
    request = make_request(images=[one, two], prompt="firstsecondthird", max_new_tokens=2)
    mixed = msgspec.structs.replace(request, parts=("first", one, "second", two, "third"))
    assert ask(adapter, mixed)[0].usage.output_tokens > 0

    def order(asked: Any) -> list[str]:
        ids = chats.inputs(asked)["input_ids"][0].tolist()
        picture = {
            chats.tokenizer.convert_tokens_to_ids(token)
            for token in ("<|image_pad|>", "<image>")
            if token in chats.tokenizer.get_added_vocab()
        }
        runs = itertools.groupby(ids, key=lambda token: token in picture)
        texts = [None if shown else chats.tokenizer.decode(list(run)) for shown, run in runs]
        kept = [
            "picture" if text is None
            else next((word for word in ("first", "second", "third") if word in text), None)
            for text in texts
        ]  # fmt: skip
        # a picture may be several runs of patches, with marks of rows between
        return [name for name, _ in itertools.groupby(name for name in kept if name)]

    assert order(mixed) == ["first", "picture", "second", "picture", "third"]
    assert order(request) == ["picture", "first"]  # one text after both


@pytest.mark.parametrize("family", ["qwen2_5_vl", "llava"])
def test_a_text_goes_on_from_the_prefix_as_by_the_templates_own_continuation(
    family: str, tiny_mllm: Any, tiny_adapter: Any
) -> None:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    request = begun(make_request(max_new_tokens=NEW))
    [output] = ask(tiny_adapter(family), request)
    processor = AutoProcessor.from_pretrained(tiny_mllm(family))
    model = AutoModelForImageTextToText.from_pretrained(tiny_mllm(family)).eval()
    content = [
        {"type": "image", "image": request.images[0].to_pil()},
        {"type": "text", "text": request.prompt},
    ]
    inputs = processor.apply_chat_template(
        [
            {"role": "user", "content": content},
            {"role": "assistant", "content": [{"type": "text", "text": PREFIX}]},
        ],
        continue_final_message=True, tokenize=True, return_dict=True, return_tensors="pt",
        processor_kwargs={"padding": True},
    )  # fmt: skip
    made = model.generate(**inputs, max_new_tokens=NEW, do_sample=False)
    new = made[0, inputs["input_ids"].shape[1] :]
    assert output.answer == processor.tokenizer.decode(new, skip_special_tokens=True).strip()
    assert output.usage.input_tokens == inputs["input_ids"].shape[1]
    assert UNFORCED not in output.flags


def test_a_batch_of_prefixes_answers_as_each_request_alone(tiny_adapter: Any) -> None:
    requests = [
        begun(make_request("a", max_new_tokens=NEW)),
        begun(make_request("b", prompt="more words " * 9, max_new_tokens=NEW), "It"),
        make_request("c", max_new_tokens=NEW),
    ]
    alone = [ask(tiny_adapter("qwen2_5_vl"), request)[0].answer for request in requests]
    together = [output.answer for output in ask(tiny_adapter("qwen2_5_vl", batch=4), *requests)]
    assert together == alone
    assert alone[0] != alone[2]


@pytest.mark.parametrize("family", ["qwen2_5_vl", "smolvlm"])
def test_the_protocols_prefix_scores_as_the_cards_own_words_do(
    family: str, tiny_adapter: Any
) -> None:
    request = make_request(form="choice", choices=WORDS)
    [ours] = ask(tiny_adapter(family), begun(request))
    [theirs] = ask(tiny_adapter(family, choice_prefix=PREFIX), request)
    [bare] = ask(tiny_adapter(family), request)
    assert ours.answer == pytest.approx(theirs.answer, abs=1e-6)
    assert ours.answer != pytest.approx(bare.answer, abs=1e-3)
    assert UNFORCED not in ours.flags


def test_a_cards_own_words_stand_in_the_place_of_the_protocols(tiny_adapter: Any) -> None:
    adapter = tiny_adapter("qwen2_5_vl", choice_prefix="The answer is")
    request = make_request(form="choice", choices=WORDS)
    plain, prefixed = ask(adapter, request, begun(make_request("b", form="choice", choices=WORDS)))
    assert prefixed.answer == plain.answer


def test_prefixes_of_one_call_are_kept_apart(tiny_adapter: Any) -> None:
    adapter = tiny_adapter("qwen2_5_vl", batch=4)
    asked = [
        begun(make_request("a", form="choice", choices=WORDS)),
        begun(make_request("b", form="choice", choices=WORDS), "It is"),
    ]
    together = ask(adapter, *asked)
    alone = [ask(adapter, request)[0] for request in asked]
    for one, other in zip(alone, together, strict=True):
        assert other.answer == pytest.approx(one.answer, abs=1e-5)
    assert alone[0].answer != pytest.approx(alone[1].answer, abs=1e-3)


def test_a_prefix_shuts_the_trace_that_the_template_opens(tiny_mllm: Any) -> None:
    thinker = load(tiny_mllm("qwen3_vl", thinking="always"))
    request = make_request(max_new_tokens=NEW)
    [thinking] = ask(thinker, request)
    [output] = ask(thinker, begun(request))
    assert thinking.answer is None  # a trace of random words does not end
    assert output.answer
    assert output.thinking is None
    assert "thinking_skipped" in output.flags
