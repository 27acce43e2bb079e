"""A strict stand-in for Google's generateContent (v1beta), answering from what it is sent.

It follows the REST reference (ai.google.dev/api/generate-content): unknown names, modalities that
a model does not give, pictures under a wrong label and options of no effect are refused. What it
answers is in `seeing`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.standins import seeing
from vgen_eval_plugins.standins.bodies import Fields, check_shape
from vgen_eval_plugins.standins.server import Answer, Call, Handler, Rejected, Service

__all__ = ["FULL_MODEL", "IMAGE_MODEL", "TEXT_MODEL", "GeminiService"]

RGB = NDArray[np.uint8]

FULL_MODEL = "stand-in"
"""Gives text, pictures and log-probabilities."""
IMAGE_MODEL = "stand-in-image"
"""Gives text and pictures, and no log-probabilities."""
TEXT_MODEL = "stand-in-text"
"""Gives text, and log-probabilities."""
BLANK = np.zeros((64, 64, 3), np.uint8)
"""What is looked at where no picture came."""
MIME_TYPES = ("text/plain", "application/json", "text/x.enum")
PICTURE_TOKENS = 258
DRAWN_TOKENS = 1290
URL_SAFE = str.maketrans("-_", "+/")
"""The JSON of protocol buffers takes both alphabets of base64."""

STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    405: "UNIMPLEMENTED", 413: "INVALID_ARGUMENT", 415: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip

_PART = (
    Fields({"text": str}),
    Fields({"inlineData": Fields({"mimeType": str, "data": str})}),
)
_CONTENT = Fields({"parts": [_PART]}, {"role": frozenset({"user", "model"})})
_SAFETY = Fields({"category": str, "threshold": str})
_GENERATION = Fields(
    optional={
        "temperature": float,
        "topP": float,
        "topK": float,
        "candidateCount": int,
        "maxOutputTokens": int,
        "stopSequences": [str],
        "responseLogprobs": bool,
        "logprobs": int,
        "presencePenalty": float,
        "frequencyPenalty": float,
        "seed": int,
        "responseMimeType": str,
        "responseSchema": object,
        "responseJsonSchema": object,
        "responseModalities": [frozenset({"TEXT", "IMAGE", "AUDIO"})],
        "mediaResolution": frozenset(
            {f"MEDIA_RESOLUTION_{level}" for level in ("LOW", "MEDIUM", "HIGH")}
        ),
        "thinkingConfig": Fields(
            optional={
                "includeThoughts": bool,
                "thinkingBudget": int,
                "thinkingLevel": frozenset({"MINIMAL", "LOW", "MEDIUM", "HIGH"}),
            }
        ),
        "imageConfig": Fields(
            optional={
                "aspectRatio": frozenset(
                    {"1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"}
                ),
                "imageSize": frozenset({"1K", "2K", "4K"}),
            }
        ),
    }
)
_BODY = Fields(
    {"contents": [_CONTENT]},
    {
        "systemInstruction": _CONTENT,
        "generationConfig": _GENERATION,
        "safetySettings": [_SAFETY],
        "tools": [object],
        "toolConfig": object,
        "cachedContent": str,
        "serviceTier": str,
        "store": bool,
    },
)


class GeminiService(Service):
    """generateContent of three models; `refuses` maps words of a prompt to a block reason."""

    name = "gemini"

    def __init__(self, *, key: str | None = None, refuses: Mapping[str, str] | None = None) -> None:
        super().__init__(key=key)
        self.refuses = dict(refuses or {})
        self.continues = False
        """Do its models go on with a turn of theirs? Those since Gemini 3.6 Flash refuse it."""

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        """The one method."""
        return [("POST", r"/v1beta/models/([^/:]+):generateContent", self._generate)]

    def check_key(self, call: Call) -> None:
        """The key stands in a header of its own; a wrong one is a 400 here, as at Google."""
        if self.key is not None and call.headers.get("x-goog-api-key") != self.key:
            message = "API key not valid. Please pass a valid API key."
            raise Rejected(message, status=400, code="API_KEY_INVALID")

    def error(self, rejected: Rejected) -> Answer:
        """As google.rpc.Status."""
        fault: dict[str, Any] = {
            "code": rejected.status,
            "message": rejected.message,
            "status": STATUS.get(rejected.status, "UNKNOWN"),
        }
        if rejected.code is not None:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            domain = "googleapis.com"
            fault["details"] = [{"@type": kind, "reason": rejected.code, "domain": domain}]
        return Answer.json({"error": fault}, status=rejected.status)

    def _generate(self, call: Call) -> Answer:
        [model] = call.groups
        if model not in (FULL_MODEL, IMAGE_MODEL, TEXT_MODEL):
            message = f"models/{model} is not found for API version v1beta"
            raise Rejected(message, status=404)
        body = _in_camel_case(call.json)
        try:
            check_shape(body, _BODY)
        except ValueError as exc:
            raise Rejected(f"Invalid JSON payload received. {exc}") from None
        config = body.get("generationConfig", {})
        _check_config(model, config)
        if body["contents"] and body["contents"][-1].get("role") == "model" and not self.continues:
            raise Rejected("Requests ending with a model turn are not supported.")
        texts, pictures = _read_contents(body["contents"])
        prompt = "\n".join(texts)
        told = {"responseId": hashlib.sha256(call.data).hexdigest()[:22], "modelVersion": model}
        spent = _Spending(len(prompt.split()), len(pictures))
        for word, reason in self.refuses.items():
            if word in prompt:
                blocked = {"promptFeedback": {"blockReason": reason}}
                return Answer.json({**blocked, "usageMetadata": spent.usage([]), **told})
        parts = _answer_parts(pictures, config)
        candidate = {
            "content": {"parts": parts, "role": "model"},
            "finishReason": "STOP",
            "index": 0,
        }
        if config.get("responseLogprobs"):
            result = _logprobs(pictures, config.get("logprobs", 1))
            parts[-1]["text"] = result["chosenCandidates"][0]["token"]
            candidate["logprobsResult"] = result
        document = {"candidates": [candidate], "usageMetadata": spent.usage(parts), **told}
        return Answer.json(document)


def _in_camel_case(value: Any) -> Any:
    """The JSON of protocol buffers takes a field's name in camel case and as it is declared."""
    if isinstance(value, list):
        return [_in_camel_case(entry) for entry in value]
    if not isinstance(value, Mapping):
        return value
    return {
        re.sub("_([a-z])", lambda found: found[1].upper(), key): _in_camel_case(entry)
        for key, entry in value.items()
    }


def _check_config(model: str, config: Mapping[str, Any]) -> None:
    if "IMAGE" in config.get("responseModalities", ()) and model == TEXT_MODEL:
        asked = ", ".join(config["responseModalities"])
        raise Rejected(
            f"The requested combination of response modalities ({asked}) is not supported by the "
            f"model. models/{model} accepts the following combination: TEXT"
        )
    if config.get("responseLogprobs") and model == IMAGE_MODEL:
        raise Rejected(f"Logprobs is not enabled for models/{model}")
    if "logprobs" in config and not config.get("responseLogprobs"):
        raise Rejected("logprobs is set and responseLogprobs is not")
    if not 0 <= config.get("logprobs", 1) <= 20:
        raise Rejected("logprobs must be in [0, 20]")
    if config.get("responseMimeType", MIME_TYPES[0]) not in MIME_TYPES:
        raise Rejected(f"response_mime_type: allowed mimetypes are {', '.join(MIME_TYPES)}")
    if config.get("candidateCount", 1) != 1:
        raise Rejected("Multiple candidates is not enabled for this model")
    for name, low, high in (("temperature", 0, 2), ("topP", 0, 1), ("seed", -(2**31), 2**31 - 1)):
        if name in config and not low <= config[name] <= high:
            raise Rejected(f"{name} must be in [{low}, {high}]")


def _read_contents(contents: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[RGB]]:
    """Texts, and pictures as uint8 (H, W, 3), in their order."""
    if not contents or not any(content["parts"] for content in contents):
        raise Rejected("contents is not specified")
    texts: list[str] = []
    pictures: list[RGB] = []
    for content in contents:
        for part in content["parts"]:
            if "text" in part:
                texts.append(part["text"])
                continue
            blob = part["inlineData"]
            try:
                plain = blob["data"].translate(URL_SAFE)
                data = base64.b64decode(plain, validate=True)
            except (binascii.Error, ValueError):
                raise Rejected("Unable to process input image: not base64") from None
            pictures.append(seeing.open_picture(data, blob["mimeType"]))
    return texts, pictures


def _answer_parts(pictures: Sequence[RGB], config: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    thinks = config.get("thinkingConfig", {}).get("includeThoughts", False)
    if thinks:
        parts.append({"text": "The bright parts stand out.", "thought": True})
    if "IMAGE" not in config.get("responseModalities", ()):
        words = str(seeing.count(pictures))
        if config.get("responseMimeType") == "application/json":
            words = f'{{"count": {words}}}'
        return [*parts, {"text": words}]
    drawn = seeing.paint(pictures[0] if pictures else BLANK)
    if thinks:
        parts.append({"inlineData": _blob(255 - drawn), "thought": True})
    if "TEXT" in config["responseModalities"]:
        parts.append({"text": "Here are the bright parts."})
    return [*parts, {"inlineData": _blob(drawn)}]


def _blob(drawn: RGB) -> dict[str, str]:
    data = base64.b64encode(seeing.write_picture(drawn)).decode()
    return {"mimeType": "image/png", "data": data}


def _logprobs(pictures: Sequence[RGB], top: int) -> dict[str, Any]:
    """One token, the likeliest of those that `seeing` knows, beside the `top` likeliest."""
    known = seeing.token_logprobs(pictures)
    likeliest = sorted(known, key=known.__getitem__, reverse=True)
    rows = [{"token": token, "logProbability": known[token]} for token in likeliest[:top]]
    chosen = {"token": likeliest[0], "logProbability": known[likeliest[0]]}
    return {
        "topCandidates": [{"candidates": rows}],
        "chosenCandidates": [chosen],
        "logProbabilitySum": known[likeliest[0]],
    }


class _Spending:
    """Tokens by a fixed rule: a word is one, a picture read 258, a picture drawn 1290."""

    def __init__(self, words: int, pictures: int) -> None:
        self.words = words
        self.seen = PICTURE_TOKENS * pictures

    def usage(self, parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        thought = sum(len(part["text"].split()) for part in parts if _is_thought_text(part))
        plain = [part for part in parts if not part.get("thought")]
        said = sum(len(part["text"].split()) for part in plain if "text" in part)
        drawn = DRAWN_TOKENS * sum("inlineData" in part for part in plain)
        read = self.words + self.seen
        usage: dict[str, Any] = {
            "promptTokenCount": read,
            "totalTokenCount": read + said + drawn + thought,
            "promptTokensDetails": _by_modality(TEXT=self.words, IMAGE=self.seen),
        }
        if parts:
            usage["candidatesTokenCount"] = said + drawn
            usage["candidatesTokensDetails"] = _by_modality(TEXT=said, IMAGE=drawn)
        if thought:
            usage["thoughtsTokenCount"] = thought
        return usage


def _is_thought_text(part: Mapping[str, Any]) -> bool:
    return bool(part.get("thought")) and "text" in part


def _by_modality(**counts: int) -> list[dict[str, Any]]:
    return [{"modality": name, "tokenCount": count} for name, count in counts.items() if count]
