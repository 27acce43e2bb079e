"""gemini: words and pictures in their own order, begun answers, objects of JSON."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from gemkit import ask, make, request
from vgen_eval.errors import CallError
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.models.parts import UNFORCED
from vgen_eval_plugins.standins.gemini import GeminiService

PREFIX = "The quality of the image is"
PICTURE = Image(np.zeros((16, 24, 3), np.uint8))


def sent(service: GeminiService, at: int = 0) -> Any:
    return service.seen[at].body


@pytest.fixture
def forced(service: GeminiService) -> Any:
    """An adapter whose card says that its model goes on with a turn."""
    adapter = make(service, prefill="forced")
    adapter.load()
    yield adapter
    adapter.close()
    service.continues = False


def test_words_and_pictures_arrive_in_the_requests_own_order(
    service: GeminiService, gemini: Gemini
) -> None:
    parts = ("before:", PICTURE, "after:", PICTURE, "What changed?")
    asked = msgspec.structs.replace(request("text"), parts=parts, images=(PICTURE, PICTURE))
    assert ask(gemini, asked).answer is not None
    [content] = sent(service)["contents"]
    shown = [part.get("text", "picture") for part in content["parts"]]
    assert shown == ["before:", "picture", "after:", "picture", "What changed?"]


@pytest.mark.parametrize("form", ["text", "choice"])
def test_a_beginning_is_the_models_last_turn_where_the_card_says_it_goes_on(
    form: Any, service: GeminiService, forced: Gemini
) -> None:
    service.continues = True
    asked = msgspec.structs.replace(request(form, choices=("0", "1")), prefix=PREFIX)
    output = ask(forced, asked)
    user, model = sent(service)["contents"]
    assert user["role"] == "user"
    assert model == {"role": "model", "parts": [{"text": PREFIX}]}
    assert UNFORCED not in output.flags


def test_it_is_left_out_and_the_answer_flagged_unless_the_card_says_so(
    service: GeminiService, gemini: Gemini
) -> None:
    output = ask(gemini, msgspec.structs.replace(request("text"), prefix=PREFIX))
    assert [content["role"] for content in sent(service)["contents"]] == ["user"]
    assert output.flags == (UNFORCED,)


def test_a_model_that_refuses_a_turn_of_its_own_is_an_error_of_that_request(
    service: GeminiService, forced: Gemini
) -> None:
    with pytest.raises(CallError, match="ending with a model turn"):
        ask(forced, msgspec.structs.replace(request("text"), prefix=PREFIX))


def test_an_object_of_json_is_asked_for_where_it_is_wanted(
    service: GeminiService, gemini: Gemini
) -> None:
    wanted = ask(gemini, msgspec.structs.replace(request("text"), wants_json=True))
    assert sent(service)["generationConfig"]["responseMimeType"] == "application/json"
    assert str(wanted.answer).startswith('{"count":')
    ask(gemini, request("text"))
    assert "responseMimeType" not in sent(service, 1).get("generationConfig", {})
    ask(gemini, msgspec.structs.replace(request("image"), wants_json=True))
    assert "responseMimeType" not in sent(service, 2)["generationConfig"]


def test_the_cards_own_type_is_kept(service: GeminiService, gemini: Gemini) -> None:
    settings = {"response_mime_type": "text/plain"}
    ask(gemini, msgspec.structs.replace(request("text", settings=settings), wants_json=True))
    assert sent(service)["generationConfig"]["responseMimeType"] == "text/plain"
