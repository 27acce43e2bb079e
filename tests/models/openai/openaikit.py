"""Cards, adapters and requests for the tests of openai_compatible."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import PIL.Image
from vgen_eval.cards.records import Limits, ModelCard, Needs
from vgen_eval.imaging import Image
from vgen_eval.types import AnswerForm, Output, Request
from vgen_eval_plugins.models.openai.adapter import OpenAICompatible, OpenAIOptions
from vgen_eval_plugins.standins.openai import OpenAIService

KEY_ENV = "PLANTED_KEY"
KEY = "sk-planted-0123456789abcdef"

MADE: dict[bytes, OpenAICompatible] = {}
"""Card and options -> adapter; the session closes them."""

TWO_SPOTS = np.zeros((24, 40, 3), np.uint8)
TWO_SPOTS[4:8, 4:8] = 255
TWO_SPOTS[12:18, 24:30] = (250, 240, 230)


def make_card(
    forms: Sequence[AnswerForm] = ("image", "text", "choice", "video"),
    *,
    generation: Mapping[str, Any] | None = None,
    key_env: str | None = None,
    timeout_s: float | None = 5.0,
) -> ModelCard:
    """A model card of the adapter."""
    return ModelCard(
        model="loopback/tiny",
        adapter="openai_compatible",
        answers=tuple(forms),
        generation=generation or {},
        needs=Needs(key_env=key_env),
        limits=Limits(timeout_s=timeout_s),
        licence="CC0-1.0",
    )


def make_adapter(
    service: OpenAIService, card: ModelCard | None = None, **options: Any
) -> OpenAICompatible:
    """An adapter of that service, the same one for the same card, options and environment."""
    given = {"model": "tiny-vision", "base_url": f"{service.url}/v1"} | options
    card = card or make_card()
    # a client reads all the certificates of the machine, which takes longer than most tests
    seen = {k: v for k, v in os.environ.items() if k.startswith("OPENAI_") or k == KEY_ENV}
    which = msgspec.json.encode([given, card, seen], order="sorted")
    if which not in MADE:
        read = msgspec.convert(given, OpenAIOptions)
        MADE[which] = OpenAICompatible(read, card=card, device=None)
    return MADE[which]


def make_request(
    form: AnswerForm, *pictures: Any, prompt: str = "Find the bright spots.", **more: Any
) -> Request:
    """A request about these pictures, about the one of two bright spots where none is given."""
    shown = pictures or (TWO_SPOTS,)
    facts = {"id": "s#0", "sample": "s", "attempt": 0, "family": "counting"} | more
    images = tuple(Image(picture) for picture in shown)
    return Request(form=form, prompt=prompt, images=images, **facts)


def ask(adapter: OpenAICompatible, form: AnswerForm, *pictures: Any, **more: Any) -> Output:
    """The output of one request; the adapter is loaded where it was not."""
    if adapter._line is None:
        adapter.load()
    request = make_request(form, *pictures, **more)
    (output,) = adapter.generate([request])
    assert output.id == request.id
    return output


def pixels(data: bytes) -> Any:
    """uint8 (H, W, 3) of a picture file."""
    with PIL.Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))


def png(array: Any) -> bytes:
    """A PNG file of these pixels."""
    buffer = io.BytesIO()
    PIL.Image.fromarray(array).save(buffer, format="PNG")
    return buffer.getvalue()


def base64_of(data: bytes) -> str:
    """The bytes in base64."""
    return base64.b64encode(data).decode()


def chat_body(message: Mapping[str, Any], **choice: Any) -> dict[str, Any]:
    """An answer of chat with this message."""
    first = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000,
        "model": "tiny-vision", "choices": [first | choice], "usage": usage,
    }  # fmt: skip
