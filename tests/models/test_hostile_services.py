"""Services that stall, flood and answer nonsense: every adapter ends in time with words of ours."""

from __future__ import annotations

import base64
import contextlib
import copy
import gzip
import json
import math
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
import pytest
from vgen_eval.adapters import BaseAdapter
from vgen_eval.cards.records import Limits, ModelCard
from vgen_eval.errors import CallError, Transient, UsageError, VgenEvalError
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request
from vgen_eval_plugins.models import wire
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.models.openai.adapter import OpenAICompatible
from vgen_eval_plugins.standins.anthropic import AnthropicService
from vgen_eval_plugins.standins.gemini import GeminiService
from vgen_eval_plugins.standins.openai import OpenAIService
from vgen_eval_plugins.standins.seeing import write_picture
from vgen_eval_plugins.standins.server import Service, status

for _library in ("openai", "google.genai", "anthropic"):
    pytest.importorskip(_library)

KINDS: dict[str, type[Any]] = {
    "openai": OpenAICompatible, "gemini": Gemini, "anthropic": Anthropic,
}  # fmt: skip
PATHS = {"openai": "/v1", "gemini": "", "anthropic": ""}
MODELS = {"openai": "tiny-vision", "gemini": "stand-in", "anthropic": "stand-in-text"}
CHOICES = ("yes", "no", "good")


def make(name: str, url: str, *, timeout_s: float = 5.0) -> BaseAdapter:
    """The adapter of a card without a key, loaded."""
    kind = KINDS[name]
    card = ModelCard(
        model="m", adapter=name, answers=kind.forms, licence="none",
        limits=Limits(timeout_s=timeout_s),
    )  # fmt: skip
    options = kind.Options(model=MODELS[name], base_url=url + PATHS[name])
    adapter: BaseAdapter = kind(options, card=card)
    adapter.load()
    return adapter


def request(form: str = "text", *, spots: int = 1, prompt: str = "How many?") -> Request:
    """A request about a picture with so many bright spots."""
    pixels = np.zeros((16, 160, 3), np.uint8)
    for at in range(spots):
        pixels[4:8, 10 * at + 2 : 10 * at + 6] = 255
    return Request(
        id=f"s#{spots}", sample="s", attempt=0, family="counting", form=form,  # type: ignore[arg-type]
        prompt=prompt, images=(Image(pixels),), choices=CHOICES if form == "choice" else (),
    )  # fmt: skip


def ask(adapter: BaseAdapter, asked: Request) -> Output:
    [output] = adapter.generate([asked])
    return output


# --- bytes ----------------------------------------------------------------------------------

Serve = Callable[[socket.socket], None]


@pytest.fixture
def raw() -> Iterator[Callable[[Serve], str]]:
    """Starts a server that reads a request and leaves the rest to a function."""
    listeners: list[socket.socket] = []

    def start(serve: Serve) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def run() -> None:
            try:
                connection, _ = listener.accept()
                with connection:
                    _read_request(connection)
                    serve(connection)
            except OSError:
                pass  # the client hung up, as it should

        threading.Thread(target=run, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


def _read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 16)
    head, _, rest = data.partition(b"\r\n\r\n")
    [length] = [
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    while len(rest) < length:
        rest += connection.recv(1 << 16)


def trickle(head: bytes) -> Serve:
    """The head, and then a byte every 20 ms for ever."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b" ")
            time.sleep(0.02)

    return serve


def flood(head: bytes) -> Serve:
    """The head, and then bytes without an end."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b" " * (1 << 16))

    return serve


def once(data: bytes) -> Serve:
    return lambda connection: connection.sendall(data)


TRICKLES = {
    "headers": b"HTTP/1.1 200 OK\r\nX-Slow: ",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{",
    "body of an error": b"HTTP/1.1 500 Oh\r\nContent-Length: 99999\r\n\r\n{",
}


@pytest.mark.parametrize("where", TRICKLES)
@pytest.mark.parametrize("name", KINDS)
def test_an_answer_that_trickles_ends_at_the_calls_deadline(raw, name, where):
    adapter = make(name, raw(trickle(TRICKLES[where])), timeout_s=0.2)
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.2 s"):
        ask(adapter, request())
    assert time.monotonic() - begin < 2
    adapter.close()


@pytest.mark.parametrize("line", [b"200 OK", b"400 Bad Request"])
@pytest.mark.parametrize("name", KINDS)
def test_an_answer_without_an_end_is_not_read_on(raw, monkeypatch, name, line):
    monkeypatch.setattr(wire, "MAX_REPLY", 1 << 20)
    adapter = make(name, raw(flood(b"HTTP/1.1 " + line + b"\r\n\r\n{")))
    with pytest.raises(CallError, match="an answer over 1048576 bytes"):
        ask(adapter, request())
    adapter.close()


@pytest.mark.parametrize("name", KINDS)
def test_what_an_answer_unpacks_to_is_held_to_the_limit(raw, monkeypatch, name):
    monkeypatch.setattr(wire, "MAX_REPLY", 1 << 20)
    packed = gzip.compress(bytes(8 << 20))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    adapter = make(name, raw(once(head + packed)))
    with pytest.raises(CallError, match="an answer over 1048576 bytes"):
        ask(adapter, request())
    adapter.close()


def test_a_coding_that_nobody_asked_for_is_not_undone(raw):
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 3\r\n\r\nabc"
    adapter = make("openai", raw(once(head)))
    with pytest.raises(CallError, match="an answer coded in zstd"):
        ask(adapter, request())
    adapter.close()


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01 no HTTP\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    ],
)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_answer_of_http_may_pass(raw, name, data):
    adapter = make(name, raw(once(data)))
    with pytest.raises(Transient):
        ask(adapter, request())
    adapter.close()


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("name", KINDS)
def test_a_proxy_that_cannot_be_used_is_told_before_any_call(monkeypatch, name, variable):
    monkeypatch.setenv(variable, "weird://gateway")
    with pytest.raises(UsageError, match="no client for example") as caught:
        make(name, "http://example.invalid")
    assert "PROXY" in (caught.value.cure or "")


# --- JSON -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pairs() -> Iterator[dict[str, tuple[Service, BaseAdapter]]]:
    """Name -> a strict stand-in and the adapter that asks it."""
    with OpenAIService() as openai, GeminiService() as gemini, AnthropicService() as anthropic:
        services: dict[str, Service] = {"openai": openai, "gemini": gemini, "anthropic": anthropic}
        made = {
            name: (service, make(name, service.url, timeout_s=2.0))
            for name, service in services.items()
        }
        yield made
        for _, adapter in made.values():
            adapter.close()
            adapter.close()  # again is no fault


@pytest.mark.parametrize("name", KINDS)
def test_one_client_serves_sixteen_threads(pairs, name):
    _, adapter = pairs[name]
    with ThreadPoolExecutor(16) as threads:
        outputs = threads.map(
            lambda spots: ask(adapter, request(spots=spots)), [1 + at % 15 for at in range(48)]
        )
        for output in outputs:
            assert output.answer == output.id.removeprefix("s#")


@pytest.mark.parametrize("name", KINDS)
def test_a_request_without_a_picture_and_a_word_is_not_sent(pairs, name):
    service, adapter = pairs[name]
    service.seen.clear()
    with pytest.raises(CallError, match="neither a picture nor a word"):
        ask(adapter, msgspec.structs.replace(request(prompt=" \n"), images=()))
    assert service.seen == []


@pytest.mark.parametrize("number", [200, 400])
@pytest.mark.parametrize("name", KINDS)
def test_json_that_is_nested_without_an_end_is_an_error(pairs, name, number):
    service, adapter = pairs[name]
    service.order(status(number, body=b'{"a":' * 50_000))
    with pytest.raises(CallError):
        ask(adapter, request())


BAD: tuple[Any, ...] = (
    None, True, -1, 1.5, math.nan, math.inf, 10**30, 10**400, "", "x", "\ud800", "9" * 400, [],
    [None], ["x"], [[]], {}, {"a": 1}, [{}], "<html>", "data:image/png;base64,AAAA",
    "http://10.0.0.1/x", "http://[", {"message": {}},
)  # fmt: skip
_PICTURE = "iVBORw0KGgo="
_TOKENS = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -3.0}]
_GOOGLE = [{"token": row["token"], "logProbability": row["logprob"]} for row in _TOKENS]
_USAGE = {
    "prompt_tokens": 5, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1},
    "completion_tokens_details": {"reasoning_tokens": 1}, "cost": 0.5,
}  # fmt: skip
GOOD: dict[str, list[tuple[str, Any]]] = {
    "openai": [
        ("text", {"id": "a", "model": "m", "created": 1_760_000_000, "usage": _USAGE, "choices": [
            {"finish_reason": "stop", "message": {"content": "five", "reasoning": "hm"}}]}),
        ("choice", {"choices": [{"message": {"content": "yes"}, "logprobs": {"content": [
            {"token": "yes", "logprob": -0.1, "top_logprobs": _TOKENS}]}}]}),
        ("image", {"created": 1, "data": [{"b64_json": _PICTURE}], "usage": {
            "input_tokens": 1, "input_tokens_details": {"image_tokens": 1}}}),
        ("text", {"error": {"message": "no", "code": "busy", "type": "x"}}),
    ],
    "gemini": [
        ("image", {"modelVersion": "m", "responseId": "r", "usageMetadata": {
            "promptTokenCount": 1, "promptTokensDetails": [{"modality": "IMAGE", "tokenCount": 1}]},
            "candidates": [{"finishReason": "STOP", "content": {"parts": [
                {"text": "here"}, {"inlineData": {"mimeType": "x", "data": _PICTURE}}]}}]}),
        ("choice", {"candidates": [{"content": {"parts": [{"text": "yes"}]}, "logprobsResult": {
            "chosenCandidates": _GOOGLE[:1], "topCandidates": [{"candidates": _GOOGLE}]}}]}),
        ("text", {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "no"}}),
        ("text", {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "x/QuotaFailure", "violations": [{"quotaId": "PerMinute"}]},
            {"@type": "x/RetryInfo", "retryDelay": "34.5s"}]}}),
    ],
    "anthropic": [
        ("text", {"id": "m", "model": "m", "stop_reason": "end_turn", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "five"}],
            "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 1}}),
        ("text", {"stop_reason": "refusal", "stop_details": {"category": "a"}, "content": []}),
        ("text", {"type": "error", "error": {"type": "rate_limit_error", "message": "no",
                                             "details": {"error_code": "x"}}}),
    ],
}  # fmt: skip


def mutate(value: Any, draw: random.Random) -> Any:
    """The value with one to three of its parts taken out, wrapped or replaced by nonsense."""
    value = copy.deepcopy(value)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        places = [path for path in _paths(value) if path]
        if not places:
            break
        *path, last = draw.choice(places)
        owner = value
        for step in path:
            owner = owner[step]
        change = draw.random()
        if change < 0.15:
            del owner[last]
        elif change < 0.3:
            owner[last] = [owner[last]]
        else:
            owner[last] = copy.deepcopy(draw.choice(BAD))
    return value


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _paths(value[key], (*path, key))


def assert_sound(output: Output, form: str) -> None:
    """Is an answer of its form, and none without a reason?"""
    if output.answer is None:
        assert output.reason
    elif form == "choice":
        assert set(output.answer) >= set(CHOICES)
        told = [value for value in output.answer.values() if value is not None]
        assert told
        assert all(-1e4 < value <= math.log(3) for value in told)
    elif form == "image":
        assert output.answer.startswith(b"\x89PNG")
    else:
        assert isinstance(output.answer, str)
        assert output.answer
    usage = msgspec.structs.asdict(output.usage) if output.usage else {}
    assert all(count is None or 0 <= count < 1e17 for count in usage.values())
    shown = (output.request_id, output.reported_model, output.text, output.thinking, output.reason)
    assert all(text is None or isinstance(text, str) for text in shown)


@pytest.mark.parametrize("name", KINDS)
def test_no_answer_of_wrong_types_is_a_crash_or_taken_for_right(pairs, name):
    service, adapter = pairs[name]
    draw = random.Random(4)
    taken = 0
    for _ in range(150):
        form, good = draw.choice(GOOD[name])
        body = json.dumps(mutate(good, draw)).encode()
        service.order(status(draw.choice([200, 200, 200, 400, 429, 500, 404]), body=body))
        with contextlib.suppress(VgenEvalError, TimeoutError):  # what is raised is ours
            output = ask(adapter, request(form))
            assert_sound(output, form)
            taken += output.answer is not None
    assert service.unmet == 0
    assert taken > 10


@pytest.mark.parametrize("logprob", [math.nan, math.inf, -math.inf, 0.5, "-0.1", True, 10**400])
@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_what_is_no_log_probability_is_passed_over(pairs, name, logprob):
    service, adapter = pairs[name]
    [good] = [copy.deepcopy(body) for form, body in GOOD[name] if form == "choice"]
    [place] = good["choices"] if name == "openai" else good["candidates"]
    if name == "openai":
        place["logprobs"]["content"][0]["top_logprobs"][1]["logprob"] = logprob
    else:
        place["logprobsResult"]["topCandidates"][0]["candidates"][1]["logProbability"] = logprob
    service.order(status(200, body=json.dumps(good).encode()))
    output = ask(adapter, request("choice"))
    assert (output.answer["yes"], output.answer["no"]) == (-0.1, None)
    assert output.flags == ("choice_floored",)


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_a_file_that_is_no_picture_is_no_answer_by_one_rule(pairs, name):
    service, adapter = pairs[name]
    said = {
        "PGh0bWw+bm88L2h0bWw+": "a web page in place of a picture",
        "eyJhIjoxfQ==": "JSON in place of a picture",
        "!!": "the picture: not base64: Only base64 data is allowed",
    }
    for data, reason in said.items():
        parts = [{"inlineData": {"mimeType": "image/png", "data": data}}]
        bodies: dict[str, Any] = {
            "openai": {"data": [{"b64_json": data}]},
            "gemini": {"candidates": [{"finishReason": "STOP", "content": {"parts": parts}}]},
        }
        service.order(status(200, body=bodies[name]))
        output = ask(adapter, request("image"))
        assert (output.answer, output.reason) == (None, reason)


@pytest.mark.parametrize("name", ["openai", "gemini"])
def test_a_picture_that_breaks_off_is_left_to_those_who_decode_it(pairs, name):
    service, adapter = pairs[name]
    whole = write_picture(np.random.default_rng(0).integers(0, 255, (16, 16, 3), np.uint8))
    data = base64.b64encode(whole[: len(whole) // 2]).decode()
    bodies: dict[str, Any] = {
        "openai": {"data": [{"b64_json": data}]},
        "gemini": {"candidates": [{"content": {"parts": [{"inlineData": {"data": data}}]}}]},
    }
    service.order(status(200, body=bodies[name]))
    assert ask(adapter, request("image")).answer == whole[: len(whole) // 2]


@pytest.mark.parametrize("job", ["..", ".", "../models", "a/b", "a%2fb", "a?b", "", "\ud800", "é"])
def test_the_id_of_a_job_leads_to_no_other_path(pairs, job):
    service, adapter = pairs["openai"]
    service.seen.clear()
    service.order(status(200, body=json.dumps({"id": job, "status": "queued"}).encode()))
    with pytest.raises(CallError, match="a video job without an id"):
        ask(adapter, request("video"))
    assert [seen.path for seen in service.seen] == ["/v1/videos"]
