"""A strict stand-in for Anthropic's Messages API, answering from what it is sent.

It follows the API reference (platform.claude.com, Messages, Errors, Vision): unknown fields,
turns out of order, pictures under a wrong label or over the limits are refused. What it answers
is in `seeing`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vgen_eval_plugins.standins import seeing
from vgen_eval_plugins.standins.bodies import Fields, check_shape
from vgen_eval_plugins.standins.server import Answer, Call, Handler, Rejected, Service

__all__ = ["MODEL", "AnthropicService"]

RGB = NDArray[np.uint8]

MODEL = "stand-in-text"
MAX_REQUEST = 32 << 20
MAX_PICTURE = 5 << 20
"""Characters of base64 of one picture."""
MAX_SIDE = 8000
PICTURE_AREA = 750
"""Pixels of a picture that cost one token."""

TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
    403: "permission_error", 404: "not_found_error", 405: "invalid_request_error",
    413: "request_too_large", 415: "invalid_request_error", 429: "rate_limit_error",
    500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}  # fmt: skip

_CACHE = Fields({"type": frozenset({"ephemeral"})}, {"ttl": str})
_TEXT = Fields({"type": frozenset({"text"}), "text": str}, {"cache_control": _CACHE})
_SOURCE = Fields({"type": frozenset({"base64"}), "media_type": str, "data": str})
_IMAGE = Fields({"type": frozenset({"image"}), "source": _SOURCE}, {"cache_control": _CACHE})
_TURN = Fields({"role": frozenset({"user", "assistant"}), "content": (str, [(_TEXT, _IMAGE)])})
_THINKING = (
    Fields({"type": frozenset({"enabled"}), "budget_tokens": int}, {"display": str}),
    Fields({"type": frozenset({"disabled"})}),
    Fields({"type": frozenset({"adaptive"})}, {"display": str}),
)
_BODY = Fields(
    {"model": str, "max_tokens": int, "messages": [_TURN]},
    {
        "system": (str, [_TEXT]),
        "stop_sequences": [str],
        "metadata": Fields({}, {"user_id": str}),
        "thinking": _THINKING,
        "output_config": Fields(
            {}, {"effort": frozenset({"low", "medium", "high", "max"}), "format": object}
        ),
        "service_tier": frozenset({"auto", "standard_only"}),
        "temperature": float,
        "top_p": float,
        "top_k": int,
        "stream": bool,
    },
)


class AnthropicService(Service):
    """One model; `refuses` maps words of a prompt to the category of the refusal."""

    name = "anthropic"

    def __init__(self, *, key: str | None = None, refuses: Mapping[str, str] | None = None) -> None:
        super().__init__(key=key)
        self.refuses = dict(refuses or {})
        self.continues = False
        """Does its model go on with a turn of its own? Those since Claude 4.6 refuse it."""

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        """The one method."""
        return [("POST", "/v1/messages", self._create)]

    def check_key(self, call: Call) -> None:
        """The key stands in X-Api-Key, or as a bearer token."""
        given = (call.headers.get("x-api-key"), call.headers.get("authorization"))
        if self.key is not None and given not in (
            (self.key, None),
            (None, f"Bearer {self.key}"),
        ):
            raise Rejected("invalid x-api-key", status=401)

    def error(self, rejected: Rejected) -> Answer:
        """As the API writes it, under a request id of its own."""
        request_id = f"req_{hashlib.sha256(rejected.message.encode()).hexdigest()[:22]}"
        kind = TYPES.get(rejected.status, "invalid_request_error")
        fault: dict[str, Any] = {"type": kind, "message": rejected.message}
        if rejected.code is not None:
            fault["details"] = {"error_code": rejected.code}
        body = {"type": "error", "error": fault, "request_id": request_id}
        return Answer.json(body, status=rejected.status, headers={"request-id": request_id})

    def _create(self, call: Call) -> Answer:
        if "anthropic-version" not in call.headers:
            raise Rejected("anthropic-version: header is required")
        if len(call.data) > MAX_REQUEST:
            raise Rejected("Request exceeds the maximum size", status=413)
        body = call.json
        try:
            check_shape(body, _BODY)
        except ValueError as exc:
            raise Rejected(str(exc)) from None
        if body["model"] != MODEL:
            raise Rejected(f"model: {body['model']}", status=404)
        _check_limits(body)
        if body["messages"][-1]["role"] == "assistant":
            _check_begun(body, continues=self.continues)
        texts, pictures = _read_messages(body["messages"])
        prompt = "\n".join(texts)
        read = len(prompt.split()) + sum(p.shape[0] * p.shape[1] // PICTURE_AREA for p in pictures)
        for word, category in self.refuses.items():
            if word in prompt:
                details = {"type": "refusal", "category": category, "explanation": None}
                return _message(call, body, [], "refusal", (read, 1), stop_details=details)
        return _reply(call, body, pictures, read)


def _reply(call: Call, body: Mapping[str, Any], pictures: Sequence[RGB], read: int) -> Answer:
    thinking = body.get("thinking", {}).get("type") in ("enabled", "adaptive")
    thought = "The picture is about this bright." if thinking else ""
    words = str(seeing.count(pictures)).split()
    room = body["max_tokens"] - len(thought.split())
    stop = "end_turn" if len(words) <= room else "max_tokens"
    content: list[dict[str, Any]] = []
    if thinking:
        content.append({"type": "thinking", "thinking": thought, "signature": "c3RhbmQtaW4="})
    said = " ".join(words[: max(0, room)])
    if said:
        content.append({"type": "text", "text": said})
    written = len(said.split()) + len(thought.split())
    return _message(call, body, content, stop, (read, written), thought=len(thought.split()))


def _message(
    call: Call,
    body: Mapping[str, Any],
    content: Sequence[Mapping[str, Any]],
    stop: str,
    tokens: tuple[int, int],
    *,
    thought: int = 0,
    stop_details: Mapping[str, Any] | None = None,
) -> Answer:
    digest = hashlib.sha256(call.data).hexdigest()[:22]
    read, written = tokens
    message = {
        "id": f"msg_{digest}",
        "type": "message",
        "role": "assistant",
        "model": f"{body['model']}-20260101",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "stop_details": stop_details,
        "usage": {
            "input_tokens": read,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": written,
            "output_tokens_details": {"thinking_tokens": thought},
            "service_tier": "standard",
        },
    }
    return Answer.json(message, headers={"request-id": f"req_{digest}"})


def _check_limits(body: Mapping[str, Any]) -> None:
    if body["max_tokens"] < 1:
        raise Rejected("max_tokens: must be greater than or equal to 1")
    if body.get("stream"):
        raise Rejected("stream: this service does not stream")
    budget = body.get("thinking", {}).get("budget_tokens")
    if budget is not None and not 1024 <= budget < body["max_tokens"]:
        raise Rejected("thinking.budget_tokens: at least 1024 and less than max_tokens")
    roles = [turn["role"] for turn in body["messages"]]
    if not roles or roles[0] != "user":
        raise Rejected("messages: first message must use the 'user' role")
    if any(one == other for one, other in itertools.pairwise(roles)):
        raise Rejected("messages: roles must alternate")


def _check_begun(body: Mapping[str, Any], *, continues: bool) -> None:
    """The rules for a last turn that is the model's own."""
    if not continues:
        raise Rejected(
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )
    said = body["messages"][-1]["content"]
    text = said if isinstance(said, str) else said[-1].get("text", "")
    if text != text.rstrip():
        raise Rejected("messages: final assistant content cannot end with trailing whitespace")
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        raise Rejected("messages: a turn cannot be begun where thinking is on")


def _read_messages(turns: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[RGB]]:
    """Texts, and pictures as uint8 (H, W, 3), in their order."""
    texts: list[str] = []
    pictures: list[RGB] = []
    for at, turn in enumerate(turns):
        blocks = turn["content"]
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        if not blocks:
            raise Rejected(f"messages.{at}: all messages must have non-empty content")
        for number, block in enumerate(blocks):
            path = f"messages.{at}.content.{number}"
            if block["type"] == "image":
                pictures.append(_read_picture(block["source"], path))
            elif not block["text"].strip():
                raise Rejected(f"{path}: text content blocks must contain non-whitespace text")
            else:
                texts.append(block["text"])
    return texts, pictures


def _read_picture(source: Mapping[str, Any], path: str) -> RGB:
    text = source["data"]
    if len(text) > MAX_PICTURE:
        raise Rejected(
            f"{path}.image.source.base64: image exceeds 5 MB maximum: "
            f"{len(text)} bytes > {MAX_PICTURE} bytes"
        )
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Rejected(f"{path}.image.source.base64: not base64") from None
    try:
        picture = seeing.open_picture(data, source["media_type"])
    except Rejected as rejected:
        raise Rejected(f"{path}.image.source.base64: {rejected.message}") from None
    if max(picture.shape[:2]) > MAX_SIDE:
        raise Rejected(
            f"{path}.image.source.base64.data: At least one of the image dimensions exceed max "
            f"allowed size: {MAX_SIDE} pixels",
            code="image_dimensions_too_large",
        )
    return picture
