"""openai_compatible: words and pictures in their own order, begun answers, objects of JSON."""

from __future__ import annotations

import pytest
from openaikit import TWO_SPOTS, ask, make_adapter, make_card
from vgen_eval.errors import CallError
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.parts import UNFORCED
from vgen_eval_plugins.models.payloads import data_uri
from vgen_eval_plugins.standins.bodies import brief

FIRST, SECOND = Image(TWO_SPOTS), Image(TWO_SPOTS[::-1])
PARTS = ("frame 1:", FIRST, "frame 2:", SECOND, "What changed?")
PREFIX = "The quality of the image is"


def ask_parts(adapter, form="text", **more):
    return ask(
        adapter, form, FIRST.array, SECOND.array,
        prompt="frame 1:frame 2:What changed?", parts=PARTS, **more,
    )  # fmt: skip


def test_words_and_pictures_arrive_in_the_requests_own_order(service):
    ask_parts(make_adapter(service))
    [message] = service.seen[0].body["messages"]
    assert [part.get("text") or part["image_url"]["url"] for part in message["content"]] == [
        part if isinstance(part, str) else brief(data_uri(part)) for part in PARTS
    ]


def test_pictures_of_a_message_keep_that_order_where_a_picture_is_asked_for(service):
    ask_parts(make_adapter(service, make_card(["image"]), api="chat"), "image")
    content = service.seen[0].body["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"] * 2 + ["text"]


@pytest.mark.parametrize("form", ["text", "choice"])
def test_a_begun_answer_is_the_last_message_and_is_flagged(service, form):
    output = ask(make_adapter(service), form, prefix=PREFIX, choices=("right", "poor"))
    body = service.seen[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": PREFIX}
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    assert "continue_final_message" not in body
    assert output.answer
    assert UNFORCED in output.flags


def test_a_server_that_goes_on_is_told_to_and_its_answer_is_not_flagged(service):
    service.continues = True
    output = ask(make_adapter(service, prefill="forced"), "text", prefix=PREFIX)
    body = service.seen[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": PREFIX}
    assert body["continue_final_message"] is True
    assert body["add_generation_prompt"] is False
    assert output.answer == "2"
    assert output.flags == ()
    ask(make_adapter(service, prefill="forced"), "text")  # nothing is begun: nothing is said of it
    assert "continue_final_message" not in service.seen[1].body


def test_a_server_that_does_not_know_those_fields_says_so(service):
    with pytest.raises(CallError, match=r"continue_final_message|add_generation_prompt"):
        ask(make_adapter(service, prefill="forced"), "text", prefix=PREFIX)


def test_a_beginning_may_be_left_out(service):
    output = ask(make_adapter(service, prefill="no"), "text", prefix=PREFIX)
    assert [message["role"] for message in service.seen[0].body["messages"]] == ["user"]
    assert output.flags == (UNFORCED,)


def test_a_picture_has_no_beginning(service):
    output = ask(make_adapter(service, api="chat"), "image", prefix=PREFIX)
    assert len(service.seen[0].body["messages"]) == 1
    assert UNFORCED in output.flags


def test_an_object_of_json_is_asked_for_where_it_is_wanted(service):
    adapter = make_adapter(service)
    output = ask(adapter, "text", prompt="Answer in JSON.", wants_json=True)
    assert service.seen[0].body["response_format"] == {"type": "json_object"}
    assert output.answer == '{"count": 2}'
    ask(adapter, "text", prompt="Answer in JSON.")
    assert "response_format" not in service.seen[1].body
    # OpenAI refuses the format where no word speaks of it
    ask(adapter, "text", prompt="How many?", wants_json=True)
    assert "response_format" not in service.seen[2].body


def test_the_cards_own_format_is_kept(service):
    plain = {"response_format": {"type": "text"}}
    adapter = make_adapter(service, make_card(["text"], generation=plain))
    ask(adapter, "text", prompt="Answer in JSON.", wants_json=True, settings=plain)
    assert service.seen[0].body["response_format"] == {"type": "text"}
