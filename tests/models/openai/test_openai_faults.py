"""openai_compatible: every way in which a service fails, in the harness's words."""

from __future__ import annotations

import logging
import time
import traceback

import numpy as np
import pytest
from certificates import self_signed
from openaikit import (
    KEY,
    KEY_ENV,
    TWO_SPOTS,
    ask,
    base64_of,
    chat_body,
    make_adapter,
    make_card,
    png,
)
from vgen_eval.errors import (
    AccessDenied,
    CallError,
    RateLimited,
    Refused,
    Transient,
)
from vgen_eval.types import Usage
from vgen_eval_plugins.standins.openai import OpenAIService
from vgen_eval_plugins.standins.server import (
    PAGE,
    drop,
    halfway,
    hang,
    html,
    mislabel,
    redirect,
    status,
)

FORMS = ("text", "image", "video")


# --- no call will do --------------------------------------------------------------------------


def test_a_service_that_wants_a_key_says_how_to_name_it(locked_service):
    with pytest.raises(AccessDenied, match="status 401") as caught:
        ask(make_adapter(locked_service), "text")
    assert "--set needs.key_env=NAME" in caught.value.cure
    assert "authorization" not in locked_service.seen[0].headers


def test_a_wrong_key_names_its_variable_and_not_itself(locked_service, monkeypatch):
    monkeypatch.setenv(KEY_ENV, "sk-another-0123456789")
    with pytest.raises(AccessDenied, match="status 401") as caught:
        ask(make_adapter(locked_service, make_card(key_env=KEY_ENV)), "text")
    assert KEY_ENV in caught.value.cure
    assert "sk-another" not in _told(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_a_key_that_may_not_is_denied(service, form):
    service.order(status(403, code="permission_denied", message="no access to this model"))
    with pytest.raises(AccessDenied, match="status 403: no access to this model") as caught:
        ask(make_adapter(service), form)
    assert "tiny-vision" in caught.value.cure


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_model_is_denied_by_its_name(service, form):
    with pytest.raises(AccessDenied, match="status 404: The model 'nobody' does not") as caught:
        ask(make_adapter(service, model="nobody"), form)
    assert "'nobody'" in caught.value.cure
    assert "-M model=" in caught.value.cure


def test_an_address_without_its_path_is_denied(service):
    with pytest.raises(AccessDenied, match="status 404") as caught:
        ask(make_adapter(service, base_url=service.url), "text")
    assert "-M base_url=" in caught.value.cure


@pytest.mark.parametrize(
    ("number", "code"), [(429, "insufficient_quota"), (402, None), (403, "billing_not_active")]
)
def test_an_account_without_credit_is_denied(service, number, code):
    service.order(status(number, code=code, headers={"Retry-After": "1"}))
    with pytest.raises(AccessDenied) as caught:
        ask(make_adapter(service), "text")
    assert "credit" in caught.value.cure


def test_a_certificate_that_nobody_signed_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("cryptography")
    context, certificate = self_signed(tmp_path)
    with OpenAIService(tls=context) as sealed:
        with pytest.raises(AccessDenied, match="certificate cannot be verified") as caught:
            ask(make_adapter(sealed), "text")
        assert "SSL_CERT_FILE" in caught.value.cure
        assert sealed.seen == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(make_adapter(sealed, detail="low"), "text").answer == "2"


# --- what may pass ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "0.5"}, 0.5, 0.5),
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0, 0),
        ({"Retry-After": "86400"}, 86400, 86400),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_rate_limit_tells_its_wait(service, form, headers, low, high):
    service.order(status(429, headers=headers, code="rate_limit_exceeded"))
    with pytest.raises(RateLimited) as caught:
        ask(make_adapter(service), form)
    assert low <= caught.value.retry_after <= high
    assert caught.value.request_id == "req_000001"
    assert len(service.seen) == 1


@pytest.mark.parametrize("value", ["-7", "soon", "nan", None])
def test_a_rate_limit_without_a_wait_that_means_anything_tells_none(service, value):
    service.order(status(429, headers={} if value is None else {"Retry-After": value}))
    with pytest.raises(RateLimited) as caught:
        ask(make_adapter(service), "text")
    assert caught.value.retry_after is None


@pytest.mark.parametrize("number", [408, 409, 500, 502, 503, 504, 529])
@pytest.mark.parametrize("form", FORMS)
def test_a_fault_of_the_service_may_pass_and_is_not_tried_again_here(service, form, number):
    service.order(status(number, message="try later"))
    with pytest.raises(Transient, match=f"status {number}: try later"):
        ask(make_adapter(service), form)
    assert len(service.seen) == 1


def test_a_service_that_is_overloaded_tells_its_wait(service):
    service.order(status(503, headers={"Retry-After": "3"}))
    with pytest.raises(RateLimited) as caught:
        ask(make_adapter(service), "text")
    assert caught.value.retry_after == 3


@pytest.mark.parametrize("order", [drop(), halfway()], ids=["before", "halfway"])
@pytest.mark.parametrize("form", FORMS)
def test_a_connection_that_is_lost_may_come_back(service, form, order):
    service.order(order)
    with pytest.raises(Transient, match=service.host):
        ask(make_adapter(service), form)
    assert len(service.seen) == 1


def test_a_picture_that_is_lost_halfway_keeps_what_the_call_cost(service):
    service.gives_urls = True
    service.order(halfway(at="/files/"))
    with pytest.raises(Transient) as caught:
        ask(make_adapter(service), "image")
    assert caught.value.usage.images == 1
    assert caught.value.request_id == "req_000001"


def test_nobody_at_the_address_may_come_back(service):
    with pytest.raises(Transient, match=r"127\.0\.0\.1:1: ConnectionRefusedError"):
        ask(make_adapter(service, base_url="http://127.0.0.1:1/v1"), "text")


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_that_does_not_come_is_a_timeout(service, form):
    service.order(hang(30))
    since = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.3 s"):
        ask(make_adapter(service, make_card(timeout_s=0.3)), form)
    assert time.monotonic() - since < 3


def test_a_job_that_never_ends_is_a_timeout_by_its_name(service):
    service.polls = 10**9
    with pytest.raises(TimeoutError, match=r"job video_\w+ still in_progress after 0\.8 s"):
        ask(make_adapter(service, make_card(timeout_s=0.8)), "video")
    assert all(not seen.path.endswith("/content") for seen in service.seen)


# --- the answer is not what was asked ---------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_web_page_under_status_200_is_an_error(service, form):
    service.order(html())
    with pytest.raises(CallError, match="a web page under status 200"):
        ask(make_adapter(service), form)


def test_a_web_page_under_an_error_is_not_quoted(service):
    service.order(html(number=502))
    with pytest.raises(Transient, match=r"status 502: a web page$"):
        ask(make_adapter(service), "text")


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "application/octet-stream", ""])
@pytest.mark.parametrize("form", FORMS)
def test_what_an_answer_says_of_its_type_is_not_believed(service, form, kind):
    service.order(mislabel(kind))
    assert ask(make_adapter(service), form).answer


@pytest.mark.parametrize("target", ["http://10.0.0.1/v1", "http://169.254.169.254/", "/v1/models"])
@pytest.mark.parametrize("number", [302, 307, 308])
def test_a_call_that_is_sent_elsewhere_is_not_followed(service, number, target):
    service.order(redirect(target, number=number))
    with pytest.raises(CallError, match=f"status {number}: it sends the request elsewhere"):
        ask(make_adapter(service), "text")
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    "address",
    [
        "http://10.0.0.1/a.png", "https://127.0.0.1/a.png", "https://169.254.169.254/latest",
        "https://localhost/a.png", "http://example.com/a.png", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_a_picture_at_a_private_address_is_not_fetched(service, address):
    service.gives_urls, service.picture_url = True, address
    with pytest.raises(CallError, match="the picture was not fetched") as caught:
        ask(make_adapter(service), "image")
    assert caught.value.usage.images == 1


def test_a_picture_that_moved_to_a_private_address_is_not_fetched(service):
    service.gives_urls = True
    service.order(redirect("https://10.0.0.1/a.png", at="/files/"))
    with pytest.raises(CallError, match="private address"):
        ask(make_adapter(service), "image")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (PAGE, "a web page in place of a picture"),
        (b'{"error": "x"}', "JSON in place of a picture"),
        (b"", "a list of pictures without a picture"),
        (b"<svg xmlns=''/>", "XML or SVG in place of a picture"),
        (b"\x00\x01\x02", "3 bytes of unknown format in place of a picture"),
    ],
)
def test_bytes_that_are_no_picture_are_no_answer(service, data, reason):
    body = {"created": 1, "data": [{"b64_json": base64_of(data)}]}
    service.order(status(200, body=body))
    output = ask(make_adapter(service), "image")
    assert (output.answer, output.reason) == (None, reason)


@pytest.mark.parametrize("text", ["not base64!", "data:image/png,AAAA", "A"])
def test_a_picture_that_is_not_base64_is_no_answer(service, text):
    service.order(status(200, body={"created": 1, "data": [{"b64_json": text}]}))
    output = ask(make_adapter(service), "image")
    assert output.answer is None
    assert "base64" in output.reason
    assert output.usage == Usage(images=1)


def test_a_picture_over_the_limit_is_no_answer(service, monkeypatch):
    from vgen_eval_plugins.models import payloads

    monkeypatch.setitem(payloads.from_base64.__kwdefaults__, "limit", 100)
    noise = np.random.default_rng(0).integers(0, 256, (16, 16, 3), np.uint8)
    body = {"created": 1, "data": [{"b64_json": base64_of(png(noise))}]}
    service.order(status(200, body=body))
    output = ask(make_adapter(service), "image")
    assert output.answer is None
    assert "over the limit of 100" in output.reason


def test_an_answer_over_the_limit_is_not_read_on(service, monkeypatch):
    from vgen_eval_plugins.models import wire

    monkeypatch.setattr(wire, "MAX_REPLY", 50)
    with pytest.raises(CallError, match="an answer over 50 bytes"):
        ask(make_adapter(service), "text")


@pytest.mark.parametrize("data", [[], None])
def test_an_empty_list_of_pictures_is_no_answer(service, data):
    service.order(status(200, body={"created": 1, "data": data}))
    output = ask(make_adapter(service), "image")
    assert (output.answer, output.reason) == (None, "an empty list of pictures")


def test_words_in_the_place_of_a_picture_are_kept(service):
    body = chat_body({"content": "Here is how I would draw it..."})
    service.order(status(200, body=body))
    output = ask(make_adapter(service, api="chat"), "image")
    assert output.answer is None
    assert (output.text, output.reason) == ("Here is how I would draw it...", "stop")
    assert output.usage == Usage(input_tokens=100, output_tokens=7)


@pytest.mark.parametrize("body", [b"[]", b"3", b'"x"', b"null"])
def test_json_that_is_no_object_is_an_error(service, body):
    service.order(status(200, body=body))
    with pytest.raises(CallError, match="an object wanted"):
        ask(make_adapter(service), "text")


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_object_is_no_answer_or_an_error_and_no_crash(service, form):
    service.order(status(200, body={}))
    if form == "video":
        with pytest.raises(CallError, match="a video job without an id"):
            ask(make_adapter(service), form)
    else:
        assert ask(make_adapter(service), form).answer is None


def test_an_error_under_status_200_is_an_error(service):
    fault = {"error": {"message": "upstream is busy", "code": 429}}
    service.order(status(200, body=fault, headers={"Retry-After": "2"}))
    with pytest.raises(RateLimited, match="upstream is busy") as caught:
        ask(make_adapter(service), "text")
    assert caught.value.retry_after == 2


# --- the provider declines --------------------------------------------------------------------


@pytest.mark.parametrize("code", ["content_policy_violation", "moderation_blocked"])
@pytest.mark.parametrize("form", FORMS)
def test_a_request_that_policy_blocks_is_refused_with_the_providers_reason(service, form, code):
    said = "Your request was rejected by the safety system."
    service.order(status(400, code=code, message=said))
    with pytest.raises(Refused, match=r"^Your request was rejected by the safety system\.$"):
        ask(make_adapter(service), form)


def test_any_other_bad_request_is_an_error_with_its_reason(service):
    service.order(status(400, message="size: invalid value"))
    with pytest.raises(CallError, match="status 400: size: invalid value") as caught:
        ask(make_adapter(service), "image")
    assert type(caught.value) is CallError


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"detail": "Field 'image' is required"}, "Field 'image' is required"),
        ({"detail": [{"loc": ["body"], "msg": "bad"}]}, '"msg": "bad"'),
        ({"object": "error", "message": "too long", "code": 400}, "too long"),
        ({"error": "plain words"}, "plain words"),
        (b"plain words", "plain words"),
    ],
)
def test_the_reason_is_read_in_the_shapes_that_servers_use(service, body, said):
    service.order(status(400, body=body))
    with pytest.raises(CallError) as caught:
        ask(make_adapter(service), "text")
    assert said in caught.value.what if hasattr(caught.value, "what") else str(caught.value)


def test_a_video_that_policy_blocks_is_refused(service):
    service.video_fault = {"code": "moderation_blocked", "message": "blocked by moderation"}
    with pytest.raises(Refused, match=r"^blocked by moderation$"):
        ask(make_adapter(service), "video")


def test_a_video_that_failed_is_an_error_with_its_reason(service):
    service.video_fault = {"code": "internal_error", "message": "the renderer crashed"}
    with pytest.raises(CallError, match="the video job failed: the renderer crashed"):
        ask(make_adapter(service), "video")


# --- nothing leaks ----------------------------------------------------------------------------


def test_the_sdks_own_variables_change_nothing(locked_service, planted, monkeypatch):
    leaks = {
        "API_KEY": "sk-leak", "BASE_URL": "http://10.9.9.9/", "ORG_ID": "org-leak",
        "PROJECT_ID": "proj-leak", "ADMIN_KEY": "adm-leak",
        "CUSTOM_HEADERS": "X-Leak: leak\nauthorization: Bearer leak\nContent-Type: text/leak",
    }  # fmt: skip
    for name, value in leaks.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    adapter = make_adapter(locked_service, make_card(key_env=KEY_ENV))
    for form in FORMS:
        assert ask(adapter, form).answer
    for seen in locked_service.seen:
        assert seen.authorization == f"Bearer {planted}"
        assert "leak" not in str(seen.headers)


def test_no_key_is_sent_where_none_is_named(service, planted, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", planted)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {planted}")
    for form in FORMS:
        assert ask(make_adapter(service), form).answer
    for seen in service.seen:
        assert "authorization" not in seen.headers


@pytest.mark.parametrize(("host", "told"), [("10.0.0.1", True), ("127.0.0.1:1", False)])
def test_a_key_that_would_travel_in_the_clear_is_told_of(service, planted, caplog, host, told):
    card = make_card(key_env=KEY_ENV)
    make_adapter(service, card, base_url=f"http://{host}/v1").load()
    assert ("plain http" in caplog.text) is told
    assert planted not in caplog.text


ORDERS = {
    "echoes the key": status(400, message=f"bad key {KEY} in the header"),
    "echoes the picture": status(400, message="bad picture " + "iVBORw0KGgo" * 400),
    "rate limit": status(429, message=KEY),
    "denied": status(403, message=KEY),
    "refused": status(400, code="moderation_blocked", message=f"{KEY} is blocked"),
    "server": status(500, body=KEY.encode()),
    "dropped": drop(),
    "halfway": halfway(),
    "html": html(),
    "redirect": redirect(f"http://10.0.0.1/?{KEY}"),
    "bad json": status(200, body=b'{"' + KEY.encode()),
}


@pytest.mark.parametrize("form", ["text", "image"])
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS.keys())
def test_no_key_and_no_picture_is_in_an_error_its_chain_or_the_log(
    locked_service, planted, caplog, form, order
):
    caplog.set_level(logging.DEBUG)
    adapter = make_adapter(locked_service, make_card(key_env=KEY_ENV))
    locked_service.order(order)
    with pytest.raises((CallError, AccessDenied)) as caught:
        ask(adapter, form, TWO_SPOTS)
    told = _told(caught.value) + caplog.text
    assert planted not in told
    assert "iVBORw0KGgo" not in told
    assert len(told) < 20_000


def _told(exc: BaseException) -> str:
    """All that a log would write of an exception."""
    cure = getattr(exc, "cure", None) or ""
    assert exc.__cause__ is None
    assert exc.__suppress_context__
    return "".join(traceback.format_exception(exc)) + repr(exc) + cure
