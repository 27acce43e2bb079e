"""What responses of the Messages API come to: text, thinking, refusals, usage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from antkit import ask, make, message, request
from vgen_eval.errors import Refused
from vgen_eval.imaging import Image
from vgen_eval.types import Usage
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.standins.anthropic import MODEL, AnthropicService
from vgen_eval_plugins.standins.server import status


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def thought(words: str) -> dict[str, str]:
    return {"type": "thinking", "thinking": words, "signature": "x"}


def test_text_blocks_are_the_answer_and_thinking_is_kept_apart(
    service: AnthropicService, claude: Anthropic
) -> None:
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    blocks = (thought("One, two. "), text("It is "), hidden, thought("Sure."), text("7."))
    service.order(status(200, headers={"request-id": "req_9"}, body=message(*blocks)))
    output = ask(claude, request())
    assert (output.answer, output.thinking) == ("It is 7.", "One, two. Sure.")
    assert (output.reason, output.flags) == (None, ())
    assert (output.request_id, output.reported_model) == ("req_9", "claude-x-1")


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        (None, "refusal"),
        ({"type": "refusal", "category": None, "explanation": None}, "refusal"),
        ({"type": "refusal", "category": "bio", "explanation": None}, "refusal: bio"),
        ({"type": "refusal", "category": "bio", "explanation": "No."}, "refusal: bio: No."),
    ],
)
def test_a_refusal_carries_its_category_its_usage_and_its_request_id(
    service: AnthropicService, claude: Anthropic, details: Any, reason: str
) -> None:
    answer = message(text("Half of"), stop="refusal", stop_details=details)
    answer["usage"] = {"input_tokens": 12, "output_tokens": 3}
    service.order(status(200, headers={"request-id": "req_9"}, body=answer))
    with pytest.raises(Refused) as caught:
        ask(claude, request())
    assert str(caught.value) == reason
    assert caught.value.usage == Usage(input_tokens=12, output_tokens=3)
    assert caught.value.request_id == "req_9"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (message(), "end_turn"),
        (message(stop="max_tokens"), "max_tokens"),
        (message(thought("hm"), stop="max_tokens"), "max_tokens"),
        (message(text(""), stop="pause_turn"), "pause_turn"),
        (message(None, {"type": "text"}, {"type": "text", "text": None}, stop=None),
         "no content and no stop reason"),
        ({"type": "message", "content": None}, "no content and no stop reason"),
        ({}, "no content and no stop reason"),
    ],
)  # fmt: skip
def test_no_text_is_no_answer_with_the_stop_reason(
    service: AnthropicService, claude: Anthropic, answer: dict[str, Any], reason: str
) -> None:
    service.order(status(200, body=answer))
    output = ask(claude, request())
    assert (output.answer, output.reason) == (None, reason)


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_an_answer_cut_short_is_kept_and_flagged(
    service: AnthropicService, claude: Anthropic, stop: str
) -> None:
    service.order(status(200, body=message(text("It is 1"), stop=stop)))
    output = ask(claude, request())
    assert (output.answer, output.flags, output.reason) == ("It is 1", ("truncated",), None)


def test_usage_counts_what_came_from_a_cache_or_went_into_one_as_input(
    service: AnthropicService, claude: Anthropic
) -> None:
    usage = {
        "input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000,
        "output_tokens": 90, "output_tokens_details": {"thinking_tokens": 60},
    }  # fmt: skip
    service.order(
        status(200, body=message(text("7"), usage=usage)),
        status(200, body=message(text("7"), usage={"output_tokens": 2})),
        status(200, body=message(text("7"))),
    )
    assert ask(claude, request()).usage == Usage(
        input_tokens=3210,
        cached_tokens=3000,
        cache_write_tokens=200,
        output_tokens=90,
        thinking_tokens=60,
    )
    assert ask(claude, request()).usage == Usage(output_tokens=2)
    assert ask(claude, request()).usage is None


def test_the_stand_in_counts_thinks_and_refuses(service: AnthropicService) -> None:
    settings = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
    service.refuses["poison"] = "bio"
    adapter = make(service, generation=settings)
    adapter.load()
    output = ask(adapter, request(settings=settings))
    assert (output.answer, output.reported_model) == ("1", f"{MODEL}-20260101")
    assert output.thinking
    # 2 words, and no whole 750 pixels; 6 words of thought and one of answer
    assert output.usage == Usage(
        input_tokens=2, cached_tokens=0, cache_write_tokens=0, output_tokens=7, thinking_tokens=6
    )
    with pytest.raises(Refused, match=r"^refusal: bio$"):
        ask(adapter, request(prompt="Is it poison?", settings=settings))
    adapter.close()


def test_several_pictures_come_before_the_prompt(
    service: AnthropicService, claude: Anthropic
) -> None:
    pictures = tuple(Image(np.full((8, 8 + at, 3), 40 * at, np.uint8)) for at in range(3))
    ask(claude, request(images=pictures))
    [turn] = service.seen[0].body["messages"]
    assert [block["type"] for block in turn["content"]] == ["image", "image", "image", "text"]
    kinds = {block["source"]["media_type"] for block in turn["content"][:3]}
    assert kinds == {"image/png"}
