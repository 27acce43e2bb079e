"""A model card on the stand-in of the Messages API, and one request at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from vgen_eval import cards
from vgen_eval.cards.records import ModelCard
from vgen_eval.imaging import Image
from vgen_eval.types import Output, Request
from vgen_eval_plugins.models.anthropic.adapter import Anthropic
from vgen_eval_plugins.standins.anthropic import MODEL, AnthropicService

KEY = "planted-anthropic-key-0123456789"
KEY_ENV = "VGEN_TEST_ANTHROPIC_KEY"


def make(
    service: AnthropicService | str,
    *,
    generation: Mapping[str, Any] | None = None,
    key_env: str | None = KEY_ENV,
    timeout_s: float | None = 5.0,
    **options: Any,
) -> Anthropic:
    """The adapter of a card that asks the service, not loaded yet."""
    card = cards.convert(
        ModelCard,
        {
            "model": "stand-in",
            "adapter": "anthropic",
            "answers": ["text"],
            "generation": dict(generation or {}),
            "licence": "none",
            "needs": {"key_env": key_env},
            "limits": {"timeout_s": timeout_s},
        },
        file="card",
    )
    url = service if isinstance(service, str) else service.url
    read = cards.convert(
        Anthropic.Options, {"model": MODEL, "base_url": url} | options, file="card", path="options"
    )
    return Anthropic(read, card=card)


def request(
    *,
    prompt: str = "How many?",
    images: tuple[Image, ...] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Request:
    """A request about a picture whose right half is bright."""
    pixels = np.zeros((16, 24, 3), np.uint8)
    pixels[:, 12:] = 240
    return Request(
        id="sample#0", sample="sample", attempt=0, family="counting", form="text", prompt=prompt,
        images=(Image(pixels),) if images is None else images, settings=dict(settings or {}),
    )  # fmt: skip


def ask(adapter: Anthropic, asked: Request) -> Output:
    """The one output."""
    [output] = adapter.generate([asked])
    return output


def message(*content: Any, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    """A response of these blocks."""
    told = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1"}
    return {**told, "content": list(content), "stop_reason": stop, **more}


def error(kind: str, words: str = "no", **more: Any) -> dict[str, Any]:
    """A fault as the API writes it."""
    return {
        "type": "error",
        "error": {"type": kind, "message": words, **more},
        "request_id": "req_told",
    }
