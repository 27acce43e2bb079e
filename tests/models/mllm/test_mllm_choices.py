"""Log-probabilities of words, against forward passes written out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mllmkit import ask, make_request, noise
from vgen_eval.errors import CallError
from vgen_eval.imaging import Image

WORDS = ("good", "poor", "dark red", "dark blue", "excellent")
PROMPT = "Rate the quality of the image."

# what each template writes, spelled out: the picture's tokens stand for {picture}
SPELLED = {
    "qwen2_5_vl": "<|im_start|>user\n<|vision_start|>{picture}<|vision_end|>"
    f"{PROMPT}<|im_end|>\n<|im_start|>assistant\n",
    "qwen3_vl": "<|im_start|>user\n<|vision_start|>{picture}<|vision_end|>"
    f"{PROMPT}<|im_end|>\n<|im_start|>assistant\n",
    "smolvlm": "<|im_start|>User:{picture}" + PROMPT + "<end_of_utterance>\nAssistant:",
    "llava": "<s>USER: {picture}\n" + PROMPT + " ASSISTANT:",
}
SPACE = {"qwen2_5_vl": "", "qwen3_vl": "", "smolvlm": " ", "llava": " "}


class ByHand:
    """The model itself, asked with nothing of the adapter in between."""

    def __init__(self, name: str, folder: Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.name = name
        self.processor = AutoProcessor.from_pretrained(folder)
        self.model = AutoModelForImageTextToText.from_pretrained(folder).eval()
        self.encode = lambda text: self.processor.tokenizer.encode(text, add_special_tokens=False)

    def picture(self, image: Image) -> tuple[str, dict[str, Any]]:
        """Its tokens in the prompt, and its tensors."""
        made = dict(self.processor.image_processor(image.to_pil(), return_tensors="pt"))
        if self.name.startswith("qwen"):
            merged = 2 * 2
            count = int(made["image_grid_thw"].prod()) // merged
            return "<|image_pad|>" * count, made
        if self.name == "llava":
            return "<image>" * (32 // 8) ** 2, made
        tiles = (32 // 8 // 2) ** 2 * "<image>"
        edge = "<fake_token_around_image>"
        text = ""
        for row in (1, 2):  # 48x64 lies on 64x64: two by two tiles of 32, and the whole
            text += "".join(f"{edge}<row_{row}_col_{column}>{tiles}" for column in (1, 2)) + "\n"
        kept = {key: made[key] for key in ("pixel_values", "pixel_attention_mask")}
        return f"{text}\n{edge}<global-img>{tiles}{edge}", kept

    def logprob(self, tokens: list[int], following: int, tensors: dict[str, Any]) -> float:
        """Natural log-probability of one token after those: one pass, no padding, in float64."""
        import torch

        ids = torch.tensor([tokens])
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), **tensors}
        if self.name.startswith("qwen"):
            pad = self.processor.tokenizer.convert_tokens_to_ids("<|image_pad|>")
            inputs["mm_token_type_ids"] = (ids == pad).int()
        with torch.no_grad():
            logits = self.model(**inputs).logits[0, -1].double()
        return float(logits[following] - torch.logsumexp(logits, dim=0))

    def word(self, word: str, image: Image, *, after: str = "", space: str | None = None) -> Any:
        """Log-probabilities of the word's tokens, each from a pass of its own."""
        text, tensors = self.picture(image)
        prompt = self.encode(SPELLED[self.name].format(picture=text) + after)
        given = SPACE[self.name] if space is None else space
        found = []
        for token in self.encode(given + word):
            found.append(self.logprob(prompt, token, tensors))
            prompt = [*prompt, token]
        return found


@pytest.fixture(scope="module")
def by_hand(tiny_mllm: Callable[..., Path]) -> Callable[[str], ByHand]:
    made: dict[str, ByHand] = {}

    def get(name: str) -> ByHand:
        if name not in made:
            made[name] = ByHand(name, tiny_mllm(name))
        return made[name]

    return get


FAMILIES = list(SPELLED)


@pytest.mark.parametrize("family", FAMILIES)
def test_log_probabilities_equal_a_forward_pass_by_hand(
    family: str, tiny_adapter: Any, by_hand: Any
) -> None:
    image = noise(3)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=WORDS)
    (output,) = ask(tiny_adapter(family), request)
    expected = {word: sum(by_hand(family).word(word, image)) for word in WORDS}
    assert output.answer == pytest.approx(expected, abs=1e-5)
    assert output.flags == ("multi_token",)


@pytest.mark.parametrize("family", ["qwen2_5_vl", "llava"])
def test_closed_set_is_the_mean_over_the_answers_own_tokens(
    family: str, tiny_adapter: Any, by_hand: Any
) -> None:
    image = noise(4)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=WORDS)
    (output,) = ask(tiny_adapter(family, choice_scoring="closed_set"), request)
    for word in WORDS:
        parts = by_hand(family).word(word, image)
        assert output.answer[word] == pytest.approx(sum(parts) / len(parts), abs=1e-5)
    assert output.flags == ()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_batch_scores_as_each_request_alone(family: str, tiny_adapter: Any) -> None:
    requests = [
        make_request("a", form="choice", choices=WORDS),
        make_request("b", form="choice", choices=("yes", "no"), prompt="far more words " * 20),
        make_request("c", form="choice", choices=("yes", "no"), images=[noise(5), noise(6)]),
        make_request("d", form="choice", choices=("no", "yes"), images=[]),
        make_request("e", form="choice", choices=("red", "blue"), images=[noise(7, 30, 90)]),
    ]
    alone = [ask(tiny_adapter(family), request)[0] for request in requests]
    together = ask(tiny_adapter(family, batch=8), *requests)
    for one, other in zip(alone, together, strict=True):
        assert other.answer == pytest.approx(one.answer, abs=1e-5)
        assert list(other.answer) == list(one.answer)


def test_words_of_one_token_are_not_flagged_and_sum_to_less_than_one(tiny_adapter: Any) -> None:
    (output,) = ask(tiny_adapter("qwen3_vl"), make_request(form="choice", choices=("yes", "no")))
    assert output.flags == ()
    assert 0 < sum(math.exp(value) for value in output.answer.values()) < 1


def test_a_prefix_stands_before_the_word_and_a_space_between(
    tiny_adapter: Any, by_hand: Any
) -> None:
    prefix = "The quality of the image is"
    image = noise(1)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=("good", "poor"))
    (output,) = ask(tiny_adapter("qwen2_5_vl", choice_prefix=prefix), request)
    for word in ("good", "poor"):
        (expected,) = by_hand("qwen2_5_vl").word(word, image, after=prefix, space=" ")
        assert output.answer[word] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("scoring", ["next_token", "closed_set"])
@pytest.mark.parametrize("own", ["", " "])
@pytest.mark.parametrize("family", ["smolvlm", "llava"])
def test_a_prefix_stands_where_an_answer_would_with_the_templates_space_before_it(
    family: str, own: str, scoring: str, tiny_adapter: Any, by_hand: Any
) -> None:
    prefix = "The quality of the image is"
    image = noise(1)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=WORDS)
    adapter = tiny_adapter(family, choice_prefix=own + prefix, choice_scoring=scoring)
    (output,) = ask(adapter, request)
    for word in WORDS:  # a space of its own is no second one
        parts = by_hand(family).word(word, image, after=f" {prefix}", space=" ")
        expected = sum(parts) / (len(parts) if scoring == "closed_set" else 1)
        assert output.answer[word] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("asked", "space"), [("yes", " "), ("no", "")])
def test_the_named_space_holds_for_the_prefix_and_for_the_word(
    asked: str, space: str, tiny_adapter: Any, by_hand: Any
) -> None:
    image = noise(1)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=("good",))
    for family in ("qwen2_5_vl", "smolvlm", "llava"):
        adapter = tiny_adapter(family, choice_prefix="Answer: (", leading_space=asked)
        (output,) = ask(adapter, request)
        (expected,) = by_hand(family).word("good", image, after=f"{space}Answer: (", space=space)
        assert output.answer["good"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("asked", "space"), [("yes", " "), ("no", "")])
def test_the_leading_space_can_be_named(
    asked: str, space: str, tiny_adapter: Any, by_hand: Any
) -> None:
    image = noise(1)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=("good",))
    for family in ("qwen2_5_vl", "llava"):
        (output,) = ask(tiny_adapter(family, leading_space=asked), request)
        (expected,) = by_hand(family).word("good", image, space=space)
        assert output.answer["good"] == pytest.approx(expected, abs=1e-5)


def test_a_trace_that_the_template_opens_is_shut_before_the_word(
    tiny_mllm: Any, by_hand: Any, tmp_path: Path
) -> None:
    from mllmkit import load

    thinker = load(tiny_mllm("qwen3_vl", thinking="always"))
    image = noise(1)
    request = make_request(form="choice", prompt=PROMPT, images=[image], choices=("yes", "no"))
    (output,) = ask(thinker, request)
    assert output.flags == ("thinking_skipped",)
    shut = "<think>\n\n</think>\n\n"
    for word in ("yes", "no"):  # one seed, so the weights are those of the other template's model
        (expected,) = by_hand("qwen3_vl").word(word, image, after=shut)
        assert output.answer[word] == pytest.approx(expected, abs=1e-5)
    prefixed = load(tiny_mllm("qwen3_vl", thinking="always"), choice_prefix="It is")
    (output,) = ask(prefixed, request)
    for word in ("yes", "no"):
        (expected,) = by_hand("qwen3_vl").word(word, image, after=f"{shut}It is", space=" ")
        assert output.answer[word] == pytest.approx(expected, abs=1e-5)


def test_half_precision_takes_its_softmax_in_single(tiny_adapter: Any) -> None:
    adapter = tiny_adapter("qwen2_5_vl", dtype="bfloat16")
    (output,) = ask(adapter, make_request(form="choice", choices=("yes", "no")))
    # a bfloat16 holds 8 bits: one of these would be a multiple of 1/32 by chance once in 1e4
    assert all(value * 32 != round(value * 32) for value in output.answer.values())


def test_no_choices_is_an_error_of_that_request(tiny_adapter: Any) -> None:
    with pytest.raises(CallError, match="names no choices"):
        ask(tiny_adapter("qwen2_5_vl"), make_request(form="choice"))


def test_an_empty_choice_is_an_error(tiny_adapter: Any) -> None:
    with pytest.raises(CallError, match="the choice '' has no token"):
        ask(tiny_adapter("qwen2_5_vl"), make_request(form="choice", choices=("yes", "")))
