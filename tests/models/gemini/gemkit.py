"""A model card on the stand-in of the Gemini API, and one request at a time."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from vgen_eval import cards
from vgen_eval.cards.records import ModelCard
from vgen_eval.imaging import Image, encode_png
from vgen_eval.types import AnswerForm, Output, Request
from vgen_eval_plugins.models.gemini.adapter import Gemini
from vgen_eval_plugins.standins.gemini import FULL_MODEL, GeminiService

KEY = "planted-gemini-key-0123456789"
KEY_ENV = "VGEN_TEST_GEMINI_KEY"
GREEN, RED = (0, 255, 0), (255, 0, 0)


def make(
    service: GeminiService | str,
    *,
    generation: Mapping[str, Any] | None = None,
    key_env: str | None = KEY_ENV,
    answers: tuple[AnswerForm, ...] = ("image", "text", "choice"),
    timeout_s: float | None = 5.0,
    **options: Any,
) -> Gemini:
    """The adapter of a card that asks the service, not loaded yet."""
    card = cards.convert(
        ModelCard,
        {
            "model": "stand-in",
            "adapter": "gemini",
            "answers": list(answers),
            "generation": dict(generation or {}),
            "licence": "none",
            "needs": {"key_env": key_env},
            "limits": {"timeout_s": timeout_s},
        },
        file="card",
    )
    url = service if isinstance(service, str) else service.url
    given = {"model": FULL_MODEL, "base_url": url} | options
    read = cards.convert(Gemini.Options, given, file="card", path="options")
    return Gemini(read, card=card)


def request(
    form: AnswerForm = "image",
    *,
    prompt: str = "Paint the bright half.",
    images: int = 1,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    choices: tuple[str, ...] = (),
) -> Request:
    """A request about pictures whose right half is bright."""
    pixels = np.zeros((16, 24, 3), np.uint8)
    pixels[:, 12:] = 240
    return Request(
        id="sample#0", sample="sample", attempt=0, family="referring", form=form, prompt=prompt,
        images=(Image(pixels),) * images, choices=choices, settings=dict(settings or {}), seed=seed,
    )  # fmt: skip


def ask(adapter: Gemini, asked: Request) -> Output:
    """The one output."""
    [output] = adapter.generate([asked])
    return output


def png(colour: tuple[int, int, int]) -> bytes:
    """A PNG of 8 by 8 pixels of one colour."""
    return encode_png(np.full((8, 8, 3), colour, np.uint8))


def picture_part(colour: tuple[int, int, int], *, mime: str = "image/png", **more: Any) -> Any:
    """A part of a response that holds such a picture."""
    data = base64.b64encode(png(colour)).decode()
    return {"inlineData": {"mimeType": mime, "data": data}, **more}


def body(*parts: Any, finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    """A response with one candidate of these parts."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}
