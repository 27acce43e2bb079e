"""What is sent to the Gemini API, and what its faults come to, through the official SDK."""

from __future__ import annotations

import email.utils
import logging
import os
import time
import traceback
from collections.abc import Mapping
from typing import Any

import pytest
from gemkit import KEY, KEY_ENV, ask, make, request
from vgen_eval.errors import (
    AccessDenied,
    CallError,
    RateLimited,
    Transient,
    UsageError,
)
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.standins.gemini import TEXT_MODEL, GeminiService
from vgen_eval_plugins.standins.server import (
    drop,
    halfway,
    hang,
    html,
    mislabel,
    redirect,
    status,
)

RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}

BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}


def fault(code: int, name: str, *details: Mapping[str, Any], message: str = "no") -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": name, "details": list(details)}}


def test_pictures_go_inline_before_the_prompt_and_settings_as_the_api_has_them(
    service: GeminiService,
) -> None:
    settings = {
        "temperature": 0, "top_p": 0.9, "max_output_tokens": 500,
        "image_config": {"aspect_ratio": "16:9", "image_size": "2K"},
        "thinking_config": {"thinking_level": "high", "include_thoughts": True},
    }  # fmt: skip
    adapter = make(service, generation=settings)
    adapter.load()
    output = ask(adapter, request("image", images=2, settings=settings))
    adapter.close()
    [seen] = service.seen
    [turn] = seen.body["contents"]
    assert [next(iter(part)) for part in turn["parts"]] == ["inlineData", "inlineData", "text"]
    assert turn["parts"][2]["text"] == "Paint the bright half."
    config = seen.body["generationConfig"]
    assert config["responseModalities"] == ["TEXT", "IMAGE"]
    assert config["imageConfig"] == {"aspectRatio": "16:9", "imageSize": "2K"}
    assert (config["temperature"], config["topP"], config["maxOutputTokens"]) == (0, 0.9, 500)
    assert "seed" not in config
    assert seen.path == "/v1beta/models/stand-in:generateContent"
    assert seen.headers["x-server-timeout"] == "10"  # the API takes no shorter one
    assert len(output.pictures) == 1  # the draft


def test_a_seed_is_sent_where_the_card_names_one(service: GeminiService) -> None:
    adapter = make(service, generation={"seed": 5})
    adapter.load()
    ask(adapter, request("text", seed=7))
    adapter.close()
    assert service.seen[0].body["generationConfig"]["seed"] == 7


def test_words_are_asked_for_without_the_settings_of_pictures(service: GeminiService) -> None:
    settings = {"image_config": {"image_size": "1K"}}
    adapter = make(service, generation=settings, model=TEXT_MODEL)
    adapter.load()
    assert ask(adapter, request("text", settings=settings)).answer == "1"
    adapter.close()
    assert service.seen[0].body["generationConfig"] == {}


def test_pictures_go_as_jpeg_where_asked(service: GeminiService) -> None:
    adapter = make(service, image_format="jpeg")
    adapter.load()
    ask(adapter, request("text"))
    adapter.close()
    blob = service.seen[0].body["contents"][0]["parts"][0]["inlineData"]
    assert "image/jpeg" in blob.values()


@pytest.mark.parametrize(
    ("generation", "told"),
    [
        ({"temprature": 1}, r"generation.temprature: .* Nearest: temperature"),
        ({"image_config": {"aspect": "1:1"}}, r"generation.image_config.aspect: .* aspect_ratio"),
        ({"temperature": "hot"}, r"generation.temperature: .*'hot' seen"),
        ({"candidate_count": 2}, r"generation.candidate_count: set by the harness"),
        ({"http_options": {}}, r"generation.http_options: set by the harness"),
        ({"extra_body": {}}, r"generation.extra_body: .*the option extra_body|takes none"),
    ],
)
def test_call_arguments_are_checked_before_any_call(
    service: GeminiService, generation: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        make(service, generation=generation).load()
    assert service.seen == []


def test_what_the_sdk_does_not_know_goes_as_it_is(service: GeminiService) -> None:
    adapter = make(service, extra_body={"brandNewField": 1})
    adapter.load()
    with pytest.raises(CallError, match="brandNewField: unknown parameter"):
        ask(adapter, request("text"))
    adapter.close()


def test_the_environment_is_not_read(
    service: GeminiService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "GOOGLE_API_KEY": "other-key-000000", "GEMINI_API_KEY": "other-key-111111",
        "GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GENAI_USE_ENTERPRISE": "true",
        "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-central1",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9", "GOOGLE_GENAI_API_VERSION": "v9",
        "GOOGLE_GENAI_CLIENT_MODE": "replay", "GOOGLE_GENAI_REPLAY_ID": "x/y",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with GeminiService() as open_service:
        for target, key_env in ((service, KEY_ENV), (open_service, None)):
            adapter = make(target, key_env=key_env)
            adapter.load()
            assert ask(adapter, request("text")).answer == "1"
            adapter.close()
        sent = [seen.headers["x-goog-api-key"] for seen in (*service.seen, *open_service.seen)]
    assert sent == [KEY, "none"]


@pytest.mark.parametrize(
    ("code", "name", "details", "told"),
    [
        (400, "INVALID_ARGUMENT", [BAD_KEY],
         KEY_ENV),
        (401, "UNAUTHENTICATED", [], KEY_ENV),
        (403, "PERMISSION_DENIED", [], KEY_ENV),
        (404, "NOT_FOUND", [], "-M model="),
        (400, "FAILED_PRECONDITION", [], "region, billing, terms"),
        (429, "RESOURCE_EXHAUSTED",
         [RETRY_INFO, {"@type": "x/google.rpc.QuotaFailure",
                       "violations": [{"quotaId": "GenerateRequestsPerDayPerProject"}]}],
         "quota of a day"),
    ],
)  # fmt: skip
def test_what_no_call_will_be_taken_for_ends_the_run(
    service: GeminiService, gemini: Gemini, code: int, name: str, details: Any, told: str
) -> None:
    service.order(status(code, body=fault(code, name, *details)))
    with pytest.raises(AccessDenied) as caught:
        ask(gemini, request("text"))
    assert f"status {code}: no" in caught.value.what
    assert told in str(caught.value.cure)
    assert len(service.seen) == 1


def test_a_wrong_key_and_a_wrong_model_are_told(
    service: GeminiService, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = make(service, model="gemini-99")
    adapter.load()
    with pytest.raises(AccessDenied, match="models/gemini-99 is not found"):
        ask(adapter, request("text"))
    adapter.close()
    monkeypatch.setenv(KEY_ENV, "wrong-key-9876543210")
    adapter = make(service)
    adapter.load()
    with pytest.raises(AccessDenied, match="API key not valid"):
        ask(adapter, request("text"))
    adapter.close()


@pytest.mark.parametrize(
    ("headers", "details", "wait"),
    [
        ({}, [], None),
        ({"Retry-After": "7"}, [], 7.0),
        ({"Retry-After": "0.25"}, [], 0.25),
        ({"Retry-After": "soon"}, [], None),
        ({"Retry-After": "-3"}, [], None),
        ({"retry-after-ms": "1500"}, [], 1.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, [], 0.0),
        ({}, [RETRY_INFO], 34.5),
        ({"Retry-After": "7"}, [RETRY_INFO], 7.0),
        ({}, [{"@type": "x/google.rpc.RetryInfo", "retryDelay": "a while"}], None),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(
    service: GeminiService, gemini: Gemini, headers: Any, details: Any, wait: float | None
) -> None:
    answer = fault(429, "RESOURCE_EXHAUSTED", *details)
    service.order(status(429, headers=headers, body=answer))
    with pytest.raises(RateLimited) as caught:
        ask(gemini, request("text"))
    assert caught.value.retry_after == wait
    assert len(service.seen) == 1  # no try but the engine's


def test_a_retry_date_ahead_is_counted_from_now(service: GeminiService, gemini: Gemini) -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    service.order(status(429, headers={"Retry-After": date}))
    with pytest.raises(RateLimited) as caught:
        ask(gemini, request("text"))
    assert caught.value.retry_after == pytest.approx(100, abs=3)


@pytest.mark.parametrize("order", [status(500), status(503), status(504), drop(), halfway()])
def test_what_may_pass_is_transient_and_not_tried_again_here(
    service: GeminiService, gemini: Gemini, order: Any
) -> None:
    service.order(order)
    with pytest.raises(Transient):
        ask(gemini, request("image"))
    assert len(service.seen) == 1
    assert ask(gemini, request("text")).answer == "1"


def test_json_that_breaks_off_is_transient(service: GeminiService, gemini: Gemini) -> None:
    service.order(status(200, body=b'{"candidates": [{"content"'))
    with pytest.raises(Transient, match="breaks off after 26 characters"):
        ask(gemini, request("text"))


def test_a_web_page_under_status_200_is_an_error(service: GeminiService, gemini: Gemini) -> None:
    service.order(html(), status(200, body=b""), status(200, body=[1]))
    for told in ("a web page under status 200", "nothing under status 200", "JSON list"):
        with pytest.raises(CallError, match=told) as caught:
            ask(gemini, request("text"))
        assert type(caught.value) is CallError


def test_a_wrong_content_type_does_not_matter(service: GeminiService, gemini: Gemini) -> None:
    service.order(mislabel("text/html"))
    assert ask(gemini, request("text")).answer == "1"


def test_an_error_under_status_200_is_an_error(service: GeminiService, gemini: Gemini) -> None:
    service.order(
        status(200, body=fault(400, "INVALID_ARGUMENT", message="no such thing")),
        status(200, body=fault(429, "RESOURCE_EXHAUSTED", RETRY_INFO)),
        status(200, body={"error": "upstream is gone"}),
    )
    with pytest.raises(CallError, match="status 400: no such thing"):
        ask(gemini, request("text"))
    with pytest.raises(RateLimited) as caught:
        ask(gemini, request("text"))
    assert caught.value.retry_after == 34.5
    with pytest.raises(Transient, match="upstream is gone"):
        ask(gemini, request("text"))


def test_a_bad_request_is_an_error_of_that_sample(service: GeminiService, gemini: Gemini) -> None:
    service.order(status(400, message="Unable to process input image"), html(number=400))
    with pytest.raises(CallError, match="status 400: Unable to process input image") as caught:
        ask(gemini, request("text"))
    assert type(caught.value) is CallError
    with pytest.raises(CallError, match="status 400"):
        ask(gemini, request("text"))


def test_a_redirect_is_not_followed(service: GeminiService, gemini: Gemini) -> None:
    with GeminiService() as other:
        service.order(redirect(f"{other.url}/v1beta/models/stand-in:generateContent", number=307))
        with pytest.raises(CallError, match="sends the request elsewhere"):
            ask(gemini, request("text"))
        assert other.seen == []


def test_a_hang_is_a_timeout(service: GeminiService) -> None:
    adapter = make(service, timeout_s=0.2)
    adapter.load()
    service.order(hang(3.0))
    with pytest.raises(TimeoutError, match=r"no answer within 0\.2 s"):
        ask(adapter, request("text"))
    adapter.close()


def test_a_service_that_is_not_there_is_transient() -> None:
    with GeminiService() as gone:
        url = gone.url
    adapter = make(url)
    adapter.load()
    with pytest.raises(Transient):
        ask(adapter, request("text"))
    adapter.close()


def test_a_lone_surrogate_and_an_empty_prompt_are_sent(
    service: GeminiService, gemini: Gemini
) -> None:
    assert ask(gemini, request("text", prompt="half \ud83d of it")).answer == "1"
    assert ask(gemini, request("text", prompt="")).answer == "1"
    assert service.seen[0].body["contents"][0]["parts"][1]["text"] == "half ? of it"
    assert len(service.seen[1].body["contents"][0]["parts"]) == 1


def test_no_key_and_no_picture_in_logs_errors_and_tracebacks(
    service: GeminiService, gemini: Gemini, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = []
    picture = "iVBORw0KGgo"
    echo = fault(400, "INVALID_ARGUMENT", message=f"key {KEY} and {picture + 'A' * 500} are bad")
    service.order(status(400, body=echo), status(401, body=echo), status(500, body=echo), drop())
    for _ in range(4):
        with pytest.raises((CallError, AccessDenied)) as caught:
            ask(gemini, request("text"))
        told.append("".join(traceback.format_exception(caught.value)))
    everything = "\n".join([*told, caplog.text])
    assert KEY not in everything
    assert picture not in everything
    assert f"[{KEY_ENV}]" in everything


def test_usage_error_for_what_the_sdk_keeps_for_another_platform(service: GeminiService) -> None:
    settings = {"audio_timestamp": True}
    adapter = make(service, generation=settings)
    adapter.load()
    with pytest.raises(UsageError, match="audio_timestamp"):
        ask(adapter, request("text", settings=settings))
    adapter.close()
    assert service.seen == []


def test_several_calls_at_once_get_their_own_answers(
    service: GeminiService, gemini: Gemini
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    service.order(*[hang(0.1)] * 8)
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda form: ask(gemini, request(form)), ["text", "image"] * 4))
    assert [isinstance(output.answer, str) for output in outputs] == [True, False] * 4
    assert service.most_at_once > 1


def test_it_says_where_it_calls(service: GeminiService) -> None:
    adapter = make(service, concurrency=3)
    assert adapter.endpoint == service.host
    assert (adapter.max_batch, adapter.concurrency, adapter.deterministic) == (1, 3, False)
    default = make("https://generativelanguage.googleapis.com")
    assert (default.endpoint, default.concurrency) == ("generativelanguage.googleapis.com", 8)
    with pytest.raises(UsageError, match="is no address"):
        make("generativelanguage.googleapis.com")


def test_the_stub_answers_every_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv(KEY_ENV, "to be put back")
    card = make("http://127.0.0.1:9").card
    with Gemini.stub(card, tmp_path) as options:
        adapter = make(options["base_url"], **{k: v for k, v in options.items() if k != "base_url"})
        adapter.load()
        for form in Gemini.forms:
            assert ask(adapter, request(form, choices=("yes", "no"))).answer is not None
        adapter.close()
    assert os.environ[KEY_ENV] != "to be put back"
