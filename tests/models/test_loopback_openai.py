"""The loopback service of OpenAI's protocol: strict, and bad when it is ordered to be."""

from __future__ import annotations

import http.client
import json

import numpy as np
import pytest
from vgen_eval.imaging import Image
from vgen_eval_plugins.models.payloads import data_uri
from vgen_eval_plugins.standins.bodies import Fields, brief, check_shape, read_multipart
from vgen_eval_plugins.standins.openai import OpenAIService
from vgen_eval_plugins.standins.server import (
    Order,
    drop,
    halfway,
    html,
    mislabel,
    redirect,
    status,
)

PICTURE = Image(np.full((8, 8, 3), 200, np.uint8))
TEXT = {"type": "text", "text": "How many?"}
SHOWN = {"type": "image_url", "image_url": {"url": data_uri(PICTURE)}}
GOOD = {"model": "tiny-vision", "messages": [{"role": "user", "content": [SHOWN, TEXT]}]}


@pytest.fixture(scope="module")
def shared():
    with OpenAIService(key="k-123") as service:
        yield service


@pytest.fixture
def service(shared):
    shared.renew()
    return shared


def _send(service, method="POST", path="/v1/chat/completions", body=GOOD, key="k-123", **headers):
    """Status, headers and body of the answer; the body as JSON where it is JSON."""
    connection = http.client.HTTPConnection(service.host, timeout=10)
    named = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"} | headers
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, body=data, headers=named)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, dict(answer.headers), json.loads(text) if text[:1] == b"{" else text
    finally:
        connection.close()


def test_a_good_request_is_answered(service):
    number, headers, body = _send(service)
    assert number == 200
    assert headers["x-request-id"] == "req_000001"
    assert body["choices"][0]["message"]["content"] == "0"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "model: expected str, got null"),
        ({"model": "other"}, "does not exist"),
        ({"messages": []}, None),
        ({"messages": "hello"}, "messages: expected a list, got str"),
        ({"messages": [{"role": "user"}]}, "messages[0].content: missing required parameter"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "unknown role"),
        ({"temperature": "0"}, "temperature: expected"),
        ({"temperature": True}, "temperature: expected"),
        ({"temperature": 0}, None),
        ({"top_k": 3}, "top_k: unknown parameter"),
        ({"top_logprobs": 3}, "top_logprobs needs logprobs"),
        ({"top_logprobs": 21, "logprobs": True}, "at most 20"),
        ({"messages": [{"role": "system", "content": [SHOWN]}]}, "only users show pictures"),
    ],
)
def test_every_field_is_known_and_of_its_type(service, change, said):
    number, _, body = _send(service, body=GOOD | change)
    if said is None:
        assert number == 200
        return
    assert number == (404 if "exist" in said else 400)
    assert said in body["error"]["message"]
    assert set(body["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.png", "data:image/png;base64,****", "data:image/png,AAAA",
        data_uri(PICTURE).replace("png", "jpeg", 1), "data:image/png;base64,AAAA", "",
    ],
)  # fmt: skip
def test_a_picture_must_be_what_its_data_uri_says(service, url):
    part = {"type": "image_url", "image_url": {"url": url}}
    number, _, _ = _send(service, body=GOOD | {"messages": [{"role": "user", "content": [part]}]})
    assert number == 400


def test_key_path_method_and_type_are_asked(service):
    assert _send(service, key="k-124")[0] == 401
    assert _send(service, path="/v1/chat/completion")[0] == 404
    assert _send(service, path="/chat/completions")[0] == 404
    assert _send(service, method="DELETE")[0] == 405
    assert _send(service, body=b"{nonsense")[0] == 400
    assert _send(service, **{"Content-Type": "text/plain"})[0] == 415


def test_models_are_listed(service):
    number, _, body = _send(service, method="GET", path="/v1/models", body=b"")
    assert number == 200
    assert [entry["id"] for entry in body["data"]] == ["tiny-vision", "tiny-edit", "tiny-video"]


def _form(*parts: tuple[str, str | None, bytes]) -> bytes:
    lines = []
    for name, filename, data in parts:
        file = "" if filename is None else f'; filename="{filename}"\r\nContent-Type: image/png'
        head = f'--b0\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
        lines.append(head.encode() + data + b"\r\n")
    return b"".join(lines) + b"--b0--\r\n"


PROMPT = ("prompt", None, b"mask it")
FILE = ("image", "a.png", PICTURE.png())


@pytest.mark.parametrize(
    ("parts", "number"),
    [
        ([PROMPT, FILE], 200),
        ([PROMPT, ("image[]", "a.png", PICTURE.png()), ("image[]", "b.png", PICTURE.png())], 200),
        ([PROMPT], 400),
        ([FILE], 400),
        ([PROMPT, PROMPT, FILE], 400),
        ([PROMPT, ("image", "a.png", b"no picture")], 400),
        ([PROMPT, ("image", None, b"no file")], 400),
        ([PROMPT, FILE, ("seed", None, b"3")], 400),
        ([PROMPT, FILE, ("quality", None, b"finest")], 400),
        ([PROMPT, FILE, ("quality", None, b"low")], 200),
        ([PROMPT, FILE, ("model", None, b"other")], 404),
    ],
)
def test_forms_are_held_to_their_fields(service, parts, number):
    kind = {"Content-Type": "multipart/form-data; boundary=b0"}
    assert _send(service, path="/v1/images/edits", body=_form(*parts), **kind)[0] == number


def test_an_edit_as_json_is_refused(service):
    assert _send(service, path="/v1/images/edits", body={"prompt": "x"})[0] == 400


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_form_that_breaks_off_is_refused(cut):
    with pytest.raises(ValueError, match="form"):
        read_multipart(_form(PROMPT, FILE)[:-cut], "multipart/form-data; boundary=b0")


def test_what_is_remembered_holds_no_picture(service):
    _send(service)
    (seen,) = service.seen
    assert seen.authorization == "Bearer k-123"
    assert len(str(seen.body)) < 500
    assert seen.body["messages"][0]["content"][0]["image_url"]["url"].startswith("data:image/png")
    assert brief({"a": ["x" * 301, "short"]})["a"][1] == "short"


def test_orders_are_met_once_each_and_in_their_order(service):
    service.order(status(500), status(429, headers={"Retry-After": "3"}), html(), mislabel("a/b"))
    assert _send(service)[0] == 500
    number, headers, body = _send(service)
    assert (number, headers["Retry-After"], body["error"]["type"]) == (429, "3", "rate_limit_error")
    assert _send(service)[1]["Content-Type"].startswith("text/html")
    assert _send(service)[1]["Content-Type"] == "a/b"
    assert _send(service)[0] == 200
    assert service.unmet == 0


def test_an_order_for_another_path_is_left_alone(service):
    service.order(status(500, at="/v1/videos"), redirect("http://10.0.0.1/", at="/v1/chat"))
    number, headers, _ = _send(service)
    assert (number, headers["Location"]) == (302, "http://10.0.0.1/")
    assert service.unmet == 1


def test_connections_are_dropped_before_and_within_the_answer(service):
    service.order(drop(), halfway())
    with pytest.raises(http.client.RemoteDisconnected):
        _send(service)
    with pytest.raises(http.client.IncompleteRead):
        _send(service)


def test_a_whim_meets_the_requests_that_no_order_does(service):
    service.whim = lambda seen: status(503) if len(service.seen) % 2 else Order()
    assert [_send(service)[0] for _ in range(4)] == [503, 200, 503, 200]


def test_shapes_name_the_place_of_a_fault():
    shape = Fields({"a": [(int, str)]}, {"b": frozenset({"x", "y"})})
    check_shape({"a": [1, "2"], "b": "x"}, shape)
    for value, said in [
        ({}, "a: missing required parameter"),
        ({"a": [1.5]}, r"a\[0\]: expected"),
        ({"a": [], "b": "z"}, "b: expected one of"),
        ({"a": [], "c": 1}, "c: unknown parameter"),
        ([], "expected an object, got list"),
    ]:
        with pytest.raises(ValueError, match=said):
            check_shape(value, shape)
