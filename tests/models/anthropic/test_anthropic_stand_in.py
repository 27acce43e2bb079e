"""The stand-in of the Messages API is strict: what the real service refuses, it refuses."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest
from antkit import KEY
from vgen_eval.imaging import encode_png
from vgen_eval_plugins.standins.anthropic import MODEL, AnthropicService

PICTURE = base64.b64encode(encode_png(np.zeros((8, 8, 3), np.uint8))).decode()
WIDE = base64.b64encode(encode_png(np.zeros((1, 8001, 3), np.uint8))).decode()
VERSION = {"anthropic-version": "2023-06-01"}
LABEL = {"Content-Type": "application/json"}


def post(
    service: AnthropicService, body: Any, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    """Status and JSON of a request."""
    given = {"x-api-key": KEY, **VERSION} if headers is None else headers
    asked = urllib.request.Request(
        f"{service.url}/v1/messages", data=json.dumps(body).encode(), headers=LABEL | given
    )
    try:
        with urllib.request.urlopen(asked, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as exc:
        return exc.code, json.load(exc)


def ask(*content: Any, **more: Any) -> dict[str, Any]:
    blocks = list(content) or [{"type": "text", "text": "How many?"}]
    turn = {"role": "user", "content": blocks}
    return {"model": MODEL, "max_tokens": 50, "messages": [turn], **more}


def picture(data: str, media_type: str = "image/png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "image", "source": source}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"model": MODEL, "messages": []}, "max_tokens: missing"),
        (ask(max_tokens=0), "max_tokens: must be"),
        (ask(maxtokens=1), "maxtokens: unknown"),
        (ask(stream=True), "stream"),
        (ask(messages=[]), "first message"),
        (ask(messages=[{"role": "assistant", "content": "x"}]), "first message"),
        (ask(messages=[{"role": "user", "content": "x"}] * 2), "alternate"),
        (ask({"type": "text", "text": " "}), "non-whitespace"),
        (ask({"type": "picture"}), "missing required parameter"),
        (ask(picture(PICTURE, "image/jpeg")), "does not match"),
        (ask(picture("%%")), "not base64"),
        (ask(picture(WIDE)), "8000 pixels"),
        (ask(thinking={"type": "enabled", "budget_tokens": 1024}), "budget_tokens"),
    ],
)
def test_what_the_api_has_no_place_for_is_a_400(
    service: AnthropicService, body: dict[str, Any], told: str
) -> None:
    code, answer = post(service, body)
    assert (code, answer["type"]) == (400, "error")
    assert answer["error"]["type"] == "invalid_request_error"
    assert told in answer["error"]["message"]


def test_the_key_stands_in_either_header_and_the_version_must_be_there(
    service: AnthropicService,
) -> None:
    assert post(service, ask(), {"x-api-key": KEY, **VERSION})[0] == 200
    assert post(service, ask(), {"Authorization": f"Bearer {KEY}", **VERSION})[0] == 200
    assert post(service, ask(), {"x-api-key": "other", **VERSION})[0] == 401
    assert post(service, ask(), VERSION)[0] == 401
    code, answer = post(service, ask(), {"x-api-key": KEY})
    assert (code, answer["error"]["message"]) == (400, "anthropic-version: header is required")


def test_an_answer_ends_at_the_limit_of_tokens(service: AnthropicService) -> None:
    thinking = {"type": "adaptive"}
    _, answer = post(service, ask(picture(PICTURE), thinking=thinking, max_tokens=6))
    assert [block["type"] for block in answer["content"]] == ["thinking"]
    assert answer["stop_reason"] == "max_tokens"
