"""anthropic: words and pictures in their own order, and begun answers."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from antkit import ask, make, request
from vgen_eval.errors import CallError
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.models.parts import UNFORCED
from vgen_eval_plugins.standins.anthropic import AnthropicService

PICTURE = Image(np.zeros((16, 24, 3), np.uint8))


@pytest.fixture
def forced(service: AnthropicService) -> Any:
    """An adapter whose card says that its model goes on with a turn."""
    adapter = make(service, prefill="forced")
    adapter.load()
    yield adapter
    adapter.close()
    service.continues = False


def begun(prefix: str, **more: Any) -> Any:
    return msgspec.structs.replace(request(), prefix=prefix, **more)


def test_words_and_pictures_arrive_in_the_requests_own_order(
    service: AnthropicService, claude: Anthropic
) -> None:
    parts = ("before:", PICTURE, " ", "after:", PICTURE, "What changed?")
    asked = msgspec.structs.replace(request(), parts=parts, images=(PICTURE, PICTURE))
    assert ask(claude, asked).answer is not None
    [turn] = service.seen[0].body["messages"]
    shown = [block.get("text", block["type"]) for block in turn["content"]]
    assert shown == ["before:", "image", "after:", "image", "What changed?"]  # a blank is no text


def test_a_beginning_is_the_models_last_turn_where_the_card_says_it_goes_on(
    service: AnthropicService, forced: Anthropic
) -> None:
    service.continues = True
    output = ask(forced, begun("The answer is "))
    turns = service.seen[0].body["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"]
    assert turns[1]["content"] == "The answer is"  # the API takes no blank at its end
    assert output.answer is not None
    assert output.flags == ()


def test_it_is_left_out_and_the_answer_flagged_unless_the_card_says_so(
    service: AnthropicService, claude: Anthropic
) -> None:
    output = ask(claude, begun("The answer is"))
    assert [turn["role"] for turn in service.seen[0].body["messages"]] == ["user"]
    assert output.flags == (UNFORCED,)


def test_a_model_that_refuses_a_turn_of_its_own_is_an_error_of_that_request(
    service: AnthropicService, forced: Anthropic
) -> None:
    with pytest.raises(CallError, match="assistant message prefill"):
        ask(forced, begun("The answer is"))


def test_json_is_the_prompts_to_ask_for(service: AnthropicService, claude: Anthropic) -> None:
    ask(claude, request())
    ask(claude, msgspec.structs.replace(request(), wants_json=True))
    assert service.seen[0].body == service.seen[1].body
