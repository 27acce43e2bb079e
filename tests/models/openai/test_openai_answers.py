"""openai_compatible: what is sent in each answer form, and what comes back."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from openaikit import (
    TWO_SPOTS,
    ask,
    base64_of,
    chat_body,
    make_adapter,
    make_card,
    make_request,
    pixels,
    png,
)
from vgen_eval.errors import CallError, Refused, UsageError
from vgen_eval.types import Usage
from vgen_eval_plugins.models.openai.images import near_size
from vgen_eval_plugins.standins.server import status

WHITE_SPOTS = np.where(TWO_SPOTS > 127, 255, 0).astype(np.uint8)
OTHER = np.full((16, 16, 3), 90, np.uint8)


# --- text -------------------------------------------------------------------------------------


def test_text_is_answered_with_usage_and_the_services_own_facts(service):
    output = ask(make_adapter(service), "text")
    assert output.answer == "2"
    assert output.usage == Usage(
        input_tokens=4 + 2, cached_tokens=0, output_tokens=1, thinking_tokens=0
    )
    assert output.request_id == "req_000001"
    assert output.reported_model == "tiny-vision-2025-10-09"
    assert output.reported_date == "2025-10-09T08:53:20Z"
    assert output.reason is None
    assert output.flags == ()


def test_pictures_go_out_exact_and_in_order_before_the_prompt(service):
    ask(make_adapter(service), "text", TWO_SPOTS, OTHER)
    content = service.seen[0].body["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert content[2]["text"] == "Find the bright spots."
    assert content[0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert set(content[0]["image_url"]) == {"url"}


def test_jpeg_and_detail_are_sent_where_options_say_so(service):
    ask(make_adapter(service, make_card(["text"]), image_format="jpeg", detail="low"), "text")
    shown = service.seen[0].body["messages"][0]["content"][0]["image_url"]
    assert shown["url"].startswith("data:image/jpeg;base64,")
    assert shown["detail"] == "low"


def test_call_arguments_of_the_card_go_into_the_call(service):
    card = make_card(["text"], generation={"temperature": 0.5, "max_completion_tokens": 9})
    settings = {"temperature": 0.5, "max_completion_tokens": 9}
    ask(make_adapter(service, card), "text", settings=settings)
    body = service.seen[0].body
    assert {name: body[name] for name in settings} == settings
    assert "seed" not in body


def test_a_seed_is_sent_where_the_card_names_a_base(service):
    card = make_card(["text"], generation={"seed": 5})
    ask(make_adapter(service, card), "text", seed=6)
    assert service.seen[0].body["seed"] == 6


def test_the_extra_body_joins_every_call(service):
    service.extras = {"top_k": int}
    ask(make_adapter(service, make_card(["text"]), extra_body={"top_k": 4}), "text")
    assert service.seen[0].body["top_k"] == 4


def test_half_a_surrogate_and_an_empty_prompt_are_sent(service):
    adapter = make_adapter(service)
    assert ask(adapter, "text", prompt="half \ud83d of it").answer == "2"
    assert service.seen[0].body["messages"][0]["content"][1]["text"] == "half ? of it"
    assert ask(adapter, "text", prompt="").answer == "2"
    assert len(service.seen[1].body["messages"][0]["content"]) == 1


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_thinking_in_a_field_of_its_own_is_kept_apart(service, field):
    service.thinking, service.thinking_field = "I see two spots.", field
    output = ask(make_adapter(service), "text")
    assert (output.answer, output.thinking) == ("2", "I see two spots.")
    assert output.usage.thinking_tokens == 4


@pytest.mark.parametrize("opening", ["<think>", ""])
def test_thinking_in_tags_is_kept_apart(service, opening):
    content = f"{opening}\nTwo, or 3?\n</think>\n\n2"
    service.order(status(200, body=chat_body({"content": content})))
    output = ask(make_adapter(service), "text")
    assert (output.answer, output.thinking) == ("2", "Two, or 3?")


def test_thinking_that_never_ends_is_no_answer(service):
    message = {"content": "<think> two, three, 4, 5"}
    service.order(status(200, body=chat_body(message, finish_reason="length")))
    output = ask(make_adapter(service), "text")
    assert (output.answer, output.reason) == (None, "thinking did not end: length")
    assert output.thinking == "two, three, 4, 5"


def test_an_answer_that_ends_at_the_limit_of_tokens_says_so(service):
    service.order(status(200, body=chat_body({"content": "There are 1"}, finish_reason="length")))
    output = ask(make_adapter(service), "text")
    assert output.flags == ("truncated",)
    assert output.answer == "There are 1"


@pytest.mark.parametrize("content", [None, "", []])
def test_nothing_is_no_answer_with_the_finish_reason(service, content):
    service.order(status(200, body=chat_body({"content": content}, finish_reason="length")))
    output = ask(make_adapter(service), "text")
    assert (output.answer, output.reason) == (None, "length")
    assert output.usage == Usage(input_tokens=100, output_tokens=7)


@pytest.mark.parametrize("choices", [[], None, "x", [None]])
def test_no_choice_at_all_is_no_answer(service, choices):
    service.order(status(200, body=chat_body({}) | {"choices": choices}))
    output = ask(make_adapter(service), "text")
    assert output.answer is None
    assert output.reason == "no choice in the answer"


def test_a_refusal_keeps_the_models_words_and_what_it_cost(service):
    body = chat_body({"content": None, "refusal": "I cannot help with that."})
    service.order(status(200, body=body))
    with pytest.raises(Refused, match=r"^I cannot help with that\.$") as caught:
        ask(make_adapter(service), "text")
    assert caught.value.usage == Usage(input_tokens=100, output_tokens=7)
    assert caught.value.request_id == "chatcmpl-1"


def test_an_answer_that_a_filter_cut_is_a_refusal(service):
    body = chat_body({"content": "The pict"}, finish_reason="content_filter")
    service.order(status(200, body=body))
    with pytest.raises(Refused, match=r"^content_filter: The pict$"):
        ask(make_adapter(service), "text")


def test_a_price_that_the_service_names_is_kept(service):
    body = chat_body({"content": "2"})
    body["usage"]["cost"] = 0.0125
    service.order(status(200, body=body))
    assert ask(make_adapter(service), "text").usage.cost_usd == 0.0125


@pytest.mark.parametrize(
    ("told", "written"),
    [
        # xAI counts reasoning beside the completion, OpenAI within it: the total tells
        ({"completion_tokens": 9, "total_tokens": 135}, 103),
        ({"completion_tokens": 103, "total_tokens": 135}, 103),
        ({"completion_tokens": 103}, 103),
        ({"completion_tokens": 9, "total_tokens": 41}, 9),
    ],
)
def test_reasoning_beside_the_completion_is_output_too(service, told, written):
    details = {"completion_tokens_details": {"reasoning_tokens": 94}}
    body = chat_body({"content": "2"}) | {"usage": {"prompt_tokens": 32, **told, **details}}
    service.order(status(200, body=body))
    assert ask(make_adapter(service), "text").usage == Usage(
        input_tokens=32, output_tokens=written, thinking_tokens=94
    )


def test_tokens_that_are_written_to_a_cache_are_told(service):
    body = chat_body({"content": "2"})
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 30, "cache_write_tokens": 60}
    service.order(status(200, body=body))
    assert ask(make_adapter(service), "text").usage == Usage(
        input_tokens=100, cached_tokens=30, cache_write_tokens=60, output_tokens=7
    )


# --- choice -----------------------------------------------------------------------------------


def test_choices_get_the_summed_probability_of_their_forms(service):
    half = {"yes": 0.25, " yes": 0.125, "Yes": 0.125, "no": 0.25, "Maybe": 0.25}
    service.tokens = {token: math.log(share) for token, share in half.items()}
    output = ask(make_adapter(service), "choice", choices=("yes", "no"))
    assert output.answer == pytest.approx({"yes": math.log(0.5), "no": math.log(0.25)})
    assert output.flags == ()
    body = service.seen[0].body
    assert (body["logprobs"], body["top_logprobs"], body["max_completion_tokens"]) == (True, 20, 16)


def test_a_choice_outside_the_likeliest_tokens_has_no_value_and_they_are_told(service):
    service.tokens = {"yes": -0.1, "well": -3.0}
    output = ask(make_adapter(service), "choice", choices=("yes", "no"))
    assert output.answer == {"yes": -0.1, "no": None, "well": -3.0}
    assert output.flags == ("choice_floored",)


def test_a_sampled_token_beyond_the_likeliest_is_no_floor(service):
    top = [{"token": "good", "logprob": -0.3}, {"token": "fine", "logprob": -3.0}]
    place = {"token": "weird", "logprob": -9999.0, "top_logprobs": top}
    body = chat_body({"content": "weird"}, logprobs={"content": [place]})
    service.order(status(200, body=body))
    output = ask(make_adapter(service), "choice", choices=("good", "poor"))
    assert output.answer == {"good": -0.3, "poor": None, "fine": -3.0}
    assert output.flags == ("choice_floored",)


def test_a_letter_with_the_mark_of_a_list_is_the_letter(service):
    service.tokens = {"B.": -0.1, "A": -3.0}
    output = ask(make_adapter(service), "choice", choices=("A", "B"))
    assert output.answer == {"A": -3.0, "B": -0.1}
    assert output.flags == ()


def test_no_choice_among_the_likeliest_tokens_is_no_answer(service):
    service.tokens = {"Well": -0.1, "Hm": -3.0}
    output = ask(make_adapter(service), "choice", choices=("yes", "no"))
    assert output.answer is None
    assert output.reason == "no choice among the 2 likeliest tokens: ['Well', 'Hm']"
    assert output.text == "Well"


def test_a_model_without_log_probabilities_is_an_error_with_its_usage(service):
    service.order(status(200, body=chat_body({"content": "yes"})))
    with pytest.raises(CallError, match="no log-probabilities") as caught:
        ask(make_adapter(service), "choice", choices=("yes", "no"))
    assert caught.value.usage.output_tokens == 7


def test_a_blank_before_the_word_is_passed_over(service):
    first = {"token": "\n", "logprob": -0.01, "top_logprobs": [{"token": "\n", "logprob": -0.01}]}
    then = {"token": "no", "logprob": -0.2, "top_logprobs": [{"token": "yes", "logprob": -2.0}]}
    body = chat_body({"content": "\nno"}, logprobs={"content": [first, then]})
    service.order(status(200, body=body))
    output = ask(make_adapter(service), "choice", choices=("yes", "no"))
    assert output.answer == {"yes": -2.0, "no": -0.2}


# --- images -----------------------------------------------------------------------------------


def test_an_edit_comes_back_as_bytes_with_its_usage(service):
    output = ask(make_adapter(service, model="tiny-edit"), "image")
    assert np.array_equal(pixels(output.answer), WHITE_SPOTS)
    assert output.usage == Usage(
        input_tokens=2 + 4, input_image_tokens=2, output_tokens=2, image_tokens=2, images=1
    )
    assert output.request_id == "req_000001"
    assert output.reported_date == "2025-10-09T08:53:20Z"


@pytest.mark.parametrize(
    ("details", "pictures"),
    [(None, 4160), ({"image_tokens": 4000, "text_tokens": 160}, 4000)],
)
def test_what_an_edit_writes_is_pictures_unless_told_otherwise(service, details, pictures):
    usage = {"input_tokens": 10, "output_tokens": 4160, "output_tokens_details": details}
    entry = {"b64_json": base64_of(png(TWO_SPOTS))}
    service.order(status(200, body={"created": 1, "data": [entry], "usage": usage}))
    assert ask(make_adapter(service), "image").usage == Usage(
        input_tokens=10, output_tokens=4160, image_tokens=pictures, images=1
    )


def test_what_chat_writes_with_a_picture_is_the_picture_and_thinking(service):
    url = f"data:image/png;base64,{base64_of(png(TWO_SPOTS))}"
    part = {"type": "image_url", "image_url": {"url": url}}
    body = chat_body({"content": "Here.", "images": [part]})
    body["usage"] = {
        "prompt_tokens": 100, "completion_tokens": 1300,
        "completion_tokens_details": {"reasoning_tokens": 200},
    }  # fmt: skip
    service.order(status(200, body=body))
    assert ask(make_adapter(service, api="chat"), "image").usage == Usage(
        input_tokens=100, output_tokens=1300, thinking_tokens=200, image_tokens=1100, images=1
    )


def test_the_picture_that_is_edited_goes_out_exact(service):
    import hashlib

    from vgen_eval.imaging import Image

    ask(make_adapter(service), "image")
    (sent,) = service.seen[0].body["image"]
    assert sent["content_type"] == "image/png"
    assert sent["sha256"] == hashlib.sha256(Image(TWO_SPOTS).png()).hexdigest()


def test_several_pictures_are_sent_as_a_list(service):
    ask(make_adapter(service), "image", TWO_SPOTS, OTHER)
    assert len(service.seen[0].body["image[]"]) == 2


def test_arguments_of_edits_are_sent_as_fields(service):
    settings = {"quality": "low", "output_format": "webp"}
    card = make_card(["image"], generation=settings | {"seed": 3})
    service.extras = {"seed": str, "num_inference_steps": str}
    adapter = make_adapter(service, card, size="80x48", extra_body={"num_inference_steps": 4})
    output = ask(adapter, "image", settings=settings, seed=3)
    assert pixels(output.answer).shape == (48, 80, 3)
    assert output.answer[8:12] == b"WEBP"
    body = service.seen[0].body
    assert body["quality"] == ["low"]
    assert body["seed"] == ["3"]
    assert body["num_inference_steps"] == ["4"]
    assert "n" not in body


@pytest.mark.parametrize(("size", "sent"), [("input", ["48x32"]), ("auto", ["auto"]), (None, None)])
def test_the_size_is_said_as_the_option_has_it(service, size, sent):
    ask(make_adapter(service, size=size), "image")
    assert service.seen[0].body.get("size") == sent


@pytest.mark.parametrize(
    ("width", "height", "asked"),
    [
        (1024, 768, "1024x768"), (741, 500, "736x496"), (375, 500, "368x496"), (8, 7, "16x16"),
        (1, 1, "16x16"), (3000, 1000, "3008x1008"), (1000, 3001, "1008x3008"),
        (1600, 320, "1600x544"), (320, 1600, "544x1600"),
    ],
)  # fmt: skip
def test_the_size_of_the_input_is_asked_for_as_gpt_image_models_take_it(width, height, asked):
    assert near_size(width, height) == asked


def test_every_size_of_an_input_becomes_one_that_gpt_image_models_take():
    for width in range(1, 400, 7):
        for height in range(1, 400, 3):
            wide, high = map(int, near_size(width, height).split("x"))
            assert wide % 16 == high % 16 == 0
            assert wide <= 3 * high
            assert high <= 3 * wide
            if 1 / 2.5 < width / height < 2.5 and min(width, height) >= 100:
                assert abs(wide - width) <= 8
                assert abs(high - height) <= 8


def test_each_form_takes_its_own_of_the_cards_arguments(service):
    settings = {"quality": "low", "temperature": 0.0}
    adapter = make_adapter(service, make_card(["image", "text"], generation=settings))
    ask(adapter, "image", settings=settings)
    ask(adapter, "text", settings=settings)
    assert "temperature" not in service.seen[0].body
    assert "quality" not in service.seen[1].body


def test_a_picture_at_an_address_of_the_service_is_fetched(service):
    service.gives_urls = True
    output = ask(make_adapter(service), "image")
    assert np.array_equal(pixels(output.answer), WHITE_SPOTS)
    assert service.seen[1].path.startswith("/files/")
    assert service.seen[1].authorization == ""


def test_an_edit_without_a_picture_is_refused_before_the_call(service):
    adapter = make_adapter(service, make_card(["image"]))
    adapter.load()
    bare = msgspec.structs.replace(make_request("image"), images=())
    with pytest.raises(CallError, match="this request has none"):
        list(adapter.generate([bare]))
    assert service.seen == []


@pytest.mark.parametrize("in_content", [False, True])
def test_chat_may_answer_with_a_picture(service, in_content):
    service.images_in_content = in_content
    output = ask(make_adapter(service, api="chat"), "image")
    assert np.array_equal(pixels(output.answer), WHITE_SPOTS)
    assert output.usage.images == 1
    assert output.text == (None if in_content else "Here it is.")
    assert service.seen[0].body["modalities"] == ["image", "text"]


def test_of_several_pictures_the_last_is_taken_and_the_others_kept(service):
    black, white = (png(np.full((4, 4, 3), level, np.uint8)) for level in (0, 255))
    entries = [{"b64_json": base64_of(data)} for data in (black, white)]
    service.order(status(200, body={"created": 1, "data": entries}))
    output = ask(make_adapter(service), "image")
    assert (output.answer, output.pictures) == (white, (black,))
    assert output.flags == ("several_images",)
    assert output.usage.images == 2


# --- videos -----------------------------------------------------------------------------------


def test_a_video_is_submitted_asked_after_and_downloaded(service):
    output = ask(make_adapter(service, size="1280x720"), "video", settings={"seconds": "8"})
    assert output.answer[4:8] == b"ftyp"
    assert output.usage == Usage(video_seconds=8.0)
    paths = [(seen.method, seen.path.rpartition("/")[2]) for seen in service.seen]
    assert paths[0] == ("POST", "videos")
    assert paths[-1] == ("GET", "content")
    assert len(paths) == 4
    body = service.seen[0].body
    assert (body["seconds"], body["size"]) == (["8"], ["1280x720"])
    assert body["input_reference"][0]["content_type"] == "image/png"


def test_faults_while_a_video_is_made_do_not_lose_the_job(service):
    busy = {"headers": {"Retry-After": "0"}}
    service.order(
        status(500, at="/v1/videos/"),
        status(429, at="/v1/videos/", **busy),
    )
    output = ask(make_adapter(service), "video")
    assert output.answer[4:8] == b"ftyp"
    assert [seen.method for seen in service.seen].count("POST") == 1


def test_a_video_starts_from_one_picture(service):
    with pytest.raises(CallError, match="this request has 2"):
        ask(make_adapter(service), "video", TWO_SPOTS, OTHER)


# --- before the first call --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forms", "name", "said"),
    [
        (["text"], "temperatur", r"chat.completions.create takes none\. Nearest: temperature"),
        (["image"], "qualty", r"images.edit takes none\. Nearest: quality"),
        (["image"], "temperature", "images.edit takes none"),
        (["text"], "guidance_scale", "chat.completions.create takes none"),
        (["video"], "fps", "videos.create takes none"),
        (["text", "image"], "qualty", "chat.completions.create or images.edit takes none"),
        (["text"], "n", "attempts are calls of their own"),
        (["text"], "messages", "set by the harness"),
        (["image"], "extra_body", "options.extra_body"),
        (["text"], "timeout", "limits.timeout_s"),
        (["text"], "self", "takes none"),
    ],
)
def test_an_argument_that_no_call_takes_is_refused_before_any(service, forms, name, said):
    adapter = make_adapter(service, make_card(forms, generation={name: 1}))
    with pytest.raises(UsageError, match=f"generation.{name}: .*{said}"):
        adapter.load()
    assert service.seen == []


def test_the_cure_for_a_field_of_one_service_is_the_extra_body(service):
    adapter = make_adapter(service, make_card(["text"], generation={"top_k": 1}))
    with pytest.raises(UsageError) as caught:
        adapter.load()
    assert "options.extra_body" in caught.value.cure


def test_a_size_that_is_said_twice_is_refused(service):
    card = make_card(["image"], generation={"size": "auto"})
    with pytest.raises(UsageError, match=r"generation\.size: set by the harness: options\.size"):
        make_adapter(service, card, size="input").load()
    make_adapter(service, card).load()


def test_options_that_no_call_would_take_are_refused(service):
    with pytest.raises(UsageError, match=r"options\.size"):
        make_adapter(service, make_card(["text"]), size="input").load()
    with pytest.raises(UsageError, match=r"options\.detail"):
        make_adapter(service, make_card(["image"]), detail="low").load()


def test_the_endpoint_and_the_calls_at_once_are_known_before_loading(service):
    adapter = make_adapter(service, concurrency=3)
    assert adapter.endpoint == service.host
    assert adapter.concurrency == 3
    assert adapter.timeout == 5.0
    assert make_adapter(service, make_card(timeout_s=None)).timeout == 600.0
