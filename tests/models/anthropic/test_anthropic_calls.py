"""What is sent to the Messages API, and what its faults come to, through the official SDK."""

from __future__ import annotations

import email.utils
import logging
import os
import time
import traceback
from typing import Any

import numpy as np
import pytest
from antkit import KEY, KEY_ENV, ask, error, make, message, request
from vgen_eval.errors import (
    AccessDenied,
    CallError,
    RateLimited,
    Refused,
    Transient,
    UsageError,
)
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.standins.anthropic import AnthropicService
from vgen_eval_plugins.standins.server import (
    drop,
    halfway,
    hang,
    html,
    mislabel,
    redirect,
    status,
)


def test_the_limit_of_tokens_is_the_cards_or_4096(
    service: AnthropicService, claude: Anthropic
) -> None:
    ask(claude, request())
    settings = {"max_tokens": 200, "output_config": {"effort": "low"}}
    adapter = make(service, generation=settings)
    adapter.load()
    ask(adapter, request(settings=settings))
    adapter.close()
    first, second = (seen.body for seen in service.seen)
    assert set(first) == {"model", "max_tokens", "messages"}
    assert first["max_tokens"] == 4096
    assert (second["max_tokens"], second["output_config"]) == (200, {"effort": "low"})


def test_pictures_go_as_jpeg_where_asked(service: AnthropicService) -> None:
    adapter = make(service, image_format="jpeg")
    adapter.load()
    assert ask(adapter, request()).answer == "1"
    adapter.close()
    block = service.seen[0].body["messages"][0]["content"][0]
    assert block["source"]["media_type"] == "image/jpeg"


@pytest.mark.parametrize(
    ("generation", "told"),
    [
        ({"max_token": 9}, r"generation.max_token: .* Nearest: max_tokens"),
        ({"stream": True}, r"generation.stream: set by the harness"),
        ({"extra_headers": {"x": "y"}}, r"generation.extra_headers: set by the harness"),
        ({"timeout": 3}, r"generation.timeout: .* limits.timeout_s"),
    ],
)
def test_call_arguments_are_checked_before_any_call(
    service: AnthropicService, generation: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        make(service, generation=generation).load()
    assert service.seen == []


def test_a_base_seed_in_the_card_is_left_out(service: AnthropicService) -> None:
    adapter = make(service, generation={"seed": 3})
    adapter.load()
    assert ask(adapter, request()).answer == "1"
    adapter.close()
    assert "seed" not in service.seen[0].body


def test_what_the_sdk_does_not_know_goes_as_it_is(service: AnthropicService) -> None:
    adapter = make(service, extra_body={"brand_new": 1})
    adapter.load()
    with pytest.raises(CallError, match="brand_new: unknown parameter"):
        ask(adapter, request())
    adapter.close()


def test_the_environment_is_not_read(
    service: AnthropicService, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name, value in {
        "ANTHROPIC_API_KEY": "other-key-000000", "ANTHROPIC_AUTH_TOKEN": "other-key-111111",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_PROFILE": "other",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Other: yes\nAuthorization: Bearer other-key-222222",
        "ANTHROPIC_CONFIG_DIR": str(tmp_path),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with AnthropicService() as open_service:
        for target, key_env in ((service, KEY_ENV), (open_service, None)):
            adapter = make(target, key_env=key_env)
            adapter.load()
            assert ask(adapter, request()).answer == "1"
            adapter.close()
        sent = [seen.headers for seen in (*service.seen, *open_service.seen)]
    for headers, key in zip(sent, (KEY, "none"), strict=True):
        assert "x-other" not in headers
        assert not any("other-key" in value for value in headers.values())
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        assert headers.get("x-api-key", bearer) == key


@pytest.mark.parametrize(
    ("code", "body", "told"),
    [
        (401, error("authentication_error"), KEY_ENV),
        (402, error("billing_error"), "no credit left"),
        (403, error("permission_error"), KEY_ENV),
        (404, error("not_found_error"), "-M model="),
        (400, error("invalid_request_error", "Your credit balance is too low to access the API."),
         "no credit left"),
        (400, error("invalid_request_error", "no",
                    details={"error_code": "enforced_spend_limit_reached"}), "no credit left"),
    ],
)  # fmt: skip
def test_what_no_call_will_be_taken_for_ends_the_run(
    service: AnthropicService, claude: Anthropic, code: int, body: Any, told: str
) -> None:
    service.order(status(code, body=body))
    with pytest.raises(AccessDenied) as caught:
        ask(claude, request())
    assert f"status {code}: " in caught.value.what
    assert told in str(caught.value.cure)
    assert len(service.seen) == 1


def test_a_wrong_key_and_a_wrong_model_are_told(
    service: AnthropicService, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = make(service, model="claude-99")
    adapter.load()
    with pytest.raises(AccessDenied, match="status 404: model: claude-99"):
        ask(adapter, request())
    adapter.close()
    monkeypatch.setenv(KEY_ENV, "wrong-key-9876543210")
    adapter = make(service)
    adapter.load()
    with pytest.raises(AccessDenied, match="status 401: invalid x-api-key"):
        ask(adapter, request())
    adapter.close()


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(
    service: AnthropicService, claude: Anthropic, headers: Any, wait: float | None
) -> None:
    service.order(status(429, headers=headers))
    with pytest.raises(RateLimited) as caught:
        ask(claude, request())
    assert caught.value.retry_after == wait
    assert str(caught.value.request_id).startswith("req_")
    assert len(service.seen) == 1  # no try but the engine's


def test_a_retry_date_ahead_is_counted_from_now(
    service: AnthropicService, claude: Anthropic
) -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    service.order(status(429, headers={"Retry-After": date}))
    with pytest.raises(RateLimited) as caught:
        ask(claude, request())
    assert caught.value.retry_after == pytest.approx(100, abs=3)


@pytest.mark.parametrize("order", [status(500), status(504), status(529), drop(), halfway()])
def test_what_may_pass_is_transient_and_not_tried_again_here(
    service: AnthropicService, claude: Anthropic, order: Any
) -> None:
    service.order(order)
    with pytest.raises(Transient):
        ask(claude, request())
    assert len(service.seen) == 1
    assert ask(claude, request()).answer == "1"


def test_an_overloaded_service_that_names_a_wait_is_a_rate_limit(
    service: AnthropicService, claude: Anthropic
) -> None:
    service.order(status(529, headers={"Retry-After": "3"}))
    with pytest.raises(RateLimited) as caught:
        ask(claude, request())
    assert caught.value.retry_after == 3.0


def test_json_that_breaks_off_is_transient(service: AnthropicService, claude: Anthropic) -> None:
    service.order(status(200, body=b'{"content": [{"type"'))
    with pytest.raises(Transient, match="breaks off after 20 characters"):
        ask(claude, request())


def test_a_web_page_under_status_200_is_an_error(
    service: AnthropicService, claude: Anthropic
) -> None:
    service.order(html(), status(200, body=b""), status(200, body=[1]), status(200, body=b"\xff"))
    for told in ("a web page under status 200", "nothing under", "JSON list", "no JSON"):
        with pytest.raises(CallError, match=told) as caught:
            ask(claude, request())
        assert type(caught.value) is CallError


def test_a_wrong_content_type_does_not_matter(service: AnthropicService, claude: Anthropic) -> None:
    service.order(mislabel("text/html"))
    assert ask(claude, request()).answer == "1"


def test_an_error_under_status_200_is_an_error(
    service: AnthropicService, claude: Anthropic
) -> None:
    service.order(
        status(200, body=error("invalid_request_error", "no such thing")),
        status(200, body=error("overloaded_error", "Overloaded")),
        status(200, body={"error": "upstream is gone"}),
    )
    with pytest.raises(CallError, match="status 400: no such thing") as caught:
        ask(claude, request())
    assert caught.value.request_id == "req_told"
    for words in ("Overloaded", "upstream is gone"):
        with pytest.raises(Transient, match=words):
            ask(claude, request())


def test_a_picture_over_the_limit_is_told_with_its_size_and_the_cure(
    service: AnthropicService, claude: Anthropic
) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1200, 1200, 3), np.uint8)
    with pytest.raises(CallError, match="image exceeds 5 MB maximum") as caught:
        ask(claude, request(images=(Image(noise),)))
    assert type(caught.value) is CallError
    assert "sent: 1200x1200, 4." in caught.value.what
    assert "input.long_side" in caught.value.what


@pytest.mark.parametrize(
    "order",
    [
        status(413, body=error("request_too_large", "Request exceeds the maximum size")),
        status(413, body=b"<html>413 Request Entity Too Large</html>"),
        status(400, body=error("invalid_request_error", "too wide",
                               details={"error_code": "image_dimensions_too_large",
                                        "max_side_length_pixels": 8000, "paths": []})),
    ],
)  # fmt: skip
def test_a_request_over_the_limit_is_an_error_of_that_sample(
    service: AnthropicService, claude: Anthropic, order: Any
) -> None:
    service.order(order)
    with pytest.raises(CallError, match=r"sent: 24x16, 0\.0 MB as png") as caught:
        ask(claude, request())
    assert type(caught.value) is CallError


def test_an_output_that_the_provider_filters_is_refused(
    service: AnthropicService, claude: Anthropic
) -> None:
    words = "Output blocked by content filtering policy"
    service.order(status(400, body=error("invalid_request_error", words)))
    with pytest.raises(Refused, match=words):
        ask(claude, request())


def test_a_bad_request_is_an_error_of_that_sample(
    service: AnthropicService, claude: Anthropic
) -> None:
    service.order(status(400, message="prompt is too long"))
    with pytest.raises(CallError, match="status 400: prompt is too long") as caught:
        ask(claude, request())
    assert type(caught.value) is CallError
    assert "sent:" not in caught.value.what


def test_a_redirect_is_not_followed(service: AnthropicService, claude: Anthropic) -> None:
    with AnthropicService() as other:
        service.order(redirect(f"{other.url}/v1/messages", number=307))
        with pytest.raises(CallError, match="sends the request elsewhere"):
            ask(claude, request())
        assert other.seen == []


def test_a_hang_is_a_timeout(service: AnthropicService) -> None:
    adapter = make(service, timeout_s=0.2)
    adapter.load()
    service.order(hang(3.0))
    with pytest.raises(TimeoutError, match=r"no answer within 0\.2 s"):
        ask(adapter, request())
    adapter.close()


def test_many_tokens_need_no_stream_under_the_default_limit(service: AnthropicService) -> None:
    settings = {"max_tokens": 100_000}
    adapter = make(service, timeout_s=None, generation=settings)
    adapter.load()
    assert ask(adapter, request(settings=settings)).answer == "1"
    adapter.close()


def test_a_service_that_is_not_there_is_transient() -> None:
    with AnthropicService() as gone:
        url = gone.url
    adapter = make(url)
    adapter.load()
    with pytest.raises(Transient):
        ask(adapter, request())
    adapter.close()


def test_a_lone_surrogate_and_a_blank_prompt_are_sent(
    service: AnthropicService, claude: Anthropic
) -> None:
    assert ask(claude, request(prompt="half \ud83d of it")).answer == "1"
    assert ask(claude, request(prompt=" \n")).answer == "1"
    first, second = (seen.body["messages"][0]["content"] for seen in service.seen)
    assert first[1]["text"] == "half ? of it"
    assert [block["type"] for block in second] == ["image"]


def test_no_key_and_no_picture_in_logs_errors_and_tracebacks(
    service: AnthropicService, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    # as ANTHROPIC_LOG=debug has it: requests whole, pictures and all
    monkeypatch.setattr(logging.getLogger("anthropic"), "level", logging.DEBUG)
    adapter = make(service)
    adapter.load()
    told = []
    picture = "iVBORw0KGgo"
    echo = error("invalid_request_error", f"key {KEY} and {picture + 'A' * 500} are bad")
    service.order(status(400, body=echo), status(401, body=echo), status(500, body=echo), drop())
    for _ in range(4):
        with pytest.raises((CallError, AccessDenied)) as caught:
            ask(adapter, request())
        told.append("".join(traceback.format_exception(caught.value)))
    adapter.close()
    everything = "\n".join([*told, caplog.text])
    assert KEY not in everything
    assert picture not in everything
    assert f"[{KEY_ENV}]" in everything


def test_several_calls_at_once_get_their_own_answers(
    service: AnthropicService, claude: Anthropic
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    answers = [status(200, body=message({"type": "text", "text": str(at)})) for at in range(8)]
    service.order(*answers)
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda _: ask(claude, request()).answer, range(8)))
    assert sorted(outputs) == [str(at) for at in range(8)]


def test_it_says_where_it_calls(service: AnthropicService) -> None:
    adapter = make(service, concurrency=3)
    assert adapter.endpoint == service.host
    assert (adapter.max_batch, adapter.concurrency, adapter.deterministic) == (1, 3, False)
    assert make("https://api.anthropic.com").endpoint == "api.anthropic.com"


def test_the_stub_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv(KEY_ENV, "to be put back")
    card = make("http://127.0.0.1:9").card
    with Anthropic.stub(card, tmp_path) as options:
        adapter = make(options["base_url"], model=options["model"])
        adapter.load()
        assert ask(adapter, request()).answer == "1"
        adapter.close()
    assert os.environ[KEY_ENV] != "to be put back"
