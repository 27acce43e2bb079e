"""The stand-in of the Gemini API is strict: what the real service refuses, it refuses."""

from __future__ import annotations

import base64
import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest
from gemkit import GREEN, KEY, png
from vgen_eval_plugins.standins.gemini import IMAGE_MODEL, TEXT_MODEL, GeminiService

PICTURE = base64.b64encode(png(GREEN)).decode()


def post(
    service: GeminiService, body: Any, *, model: str = TEXT_MODEL, version: str = "v1beta"
) -> tuple[int, Any]:
    """Status and JSON of a request that brings the key."""
    asked = urllib.request.Request(
        f"{service.url}/{version}/models/{model}:generateContent",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "x-goog-api-key": KEY},
    )
    try:
        with urllib.request.urlopen(asked, timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as exc:
        return exc.code, json.load(exc)


def ask(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts)}], **more}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "contents: missing"),
        (ask(), "contents is not specified"),
        (ask({"text": "x"}, generationConfig={"temprature": 1}), "temprature: unknown"),
        (ask({"text": "x"}, generationConfig={"temperature": 3}), "temperature must be in"),
        (ask({"text": "x"}, generationConfig={"candidateCount": 2}), "Multiple candidates"),
        (ask({"text": "x"}, generationConfig={"logprobs": 3}), "responseLogprobs is not"),
        (ask({"text": "x"}, generationConfig={"responseLogprobs": True, "logprobs": 21}),
         r"\[0, 20\]"),
        (ask({"text": "x"}, generationConfig={"responseModalities": ["IMAGE"]}),
         "combination of response modalities"),
        (ask({"text": "x", "inlineData": {}}), "unknown"),
        (ask({"inlineData": {"mimeType": "image/jpeg", "data": PICTURE}}), "does not match"),
        (ask({"inlineData": {"mimeType": "image/png", "data": "%%"}}), "not base64"),
    ],
)  # fmt: skip
def test_what_the_api_has_no_place_for_is_a_400(
    service: GeminiService, body: dict[str, Any], told: str
) -> None:
    code, answer = post(service, body)
    assert (code, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert re.search(told, answer["error"]["message"])


def test_other_models_versions_and_keys_are_refused(service: GeminiService) -> None:
    body = ask({"text": "x"})
    assert post(service, body)[0] == 200
    assert post(service, body, model="other")[0] == 404
    assert post(service, body, version="v1")[0] == 404
    service.key = "another"
    code, answer = post(service, body)
    service.key = KEY
    assert (code, answer["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")


def test_names_may_be_as_declared_and_base64_of_either_alphabet(service: GeminiService) -> None:
    data = base64.urlsafe_b64encode(png(GREEN)).decode()
    body = ask({"inline_data": {"mime_type": "image/png", "data": data}})
    body["generation_config"] = {"response_modalities": ["IMAGE"]}
    code, answer = post(service, body, model=IMAGE_MODEL)
    assert code == 200
    assert [list(part) for part in answer["candidates"][0]["content"]["parts"]] == [["inlineData"]]
