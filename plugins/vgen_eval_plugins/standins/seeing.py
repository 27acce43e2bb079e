"""What the loopback service of OpenAI's protocol answers: from the pixels alone."""

from __future__ import annotations

import base64
import binascii
import io
import math
from collections.abc import Mapping, Sequence

import numpy as np
import PIL.Image
from numpy.typing import NDArray
from vgen_eval.imaging import decode_image

from vgen_eval_plugins.standins.pictures import bright_parts, count_patches, read_picture
from vgen_eval_plugins.standins.server import Rejected

__all__ = ["count", "open_data_uri", "open_picture", "paint", "token_logprobs", "write_picture"]

RGB = NDArray[np.uint8]
_WORDS = (
    "yes", "no", "excellent", "good", "fair", "poor", "bad", "high", "low", "true", "false",
    "left", "right", "A", "B", "C", "D",
)  # fmt: skip


def open_data_uri(uri: str) -> RGB:
    """The pixels of a data URI; Rejected unless it holds the picture that its head says."""
    head, _, text = uri.partition(",")
    mime = head.removeprefix("data:").removesuffix(";base64")
    if head != f"data:{mime};base64":
        raise Rejected("expected data:MIME;base64,...", code="invalid_image_url")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Rejected("the data URI is not base64", code="invalid_image_url") from None
    return open_picture(data, mime)


def open_picture(data: bytes, mime: str | None) -> RGB:
    """uint8 (H, W, 3); Rejected unless the bytes are a picture of that type."""
    try:
        return read_picture(data, mime or "")
    except ValueError as exc:
        raise Rejected(str(exc), code="invalid_image") from None


def paint(pixels: RGB, *, size: tuple[int, int] | None = None) -> RGB:
    """The bright parts white on black.

    `size`: width and height of the answer; None: those of the picture.
    """
    white = decode_image(bright_parts(pixels), what="drawing")
    if size is None:
        return white
    return np.asarray(PIL.Image.fromarray(white).resize(size, PIL.Image.Resampling.NEAREST))


def count(pictures: Sequence[RGB]) -> int:
    """How many bright patches the pictures have."""
    return sum(count_patches(picture) for picture in pictures)


def token_logprobs(pictures: Sequence[RGB]) -> Mapping[str, float]:
    """Token -> log-probability: a distribution over words with and without a leading space."""
    tokens = [form for word in _WORDS for form in (word, f" {word}")]
    turn = count(pictures)
    logits = [-((7 * at + turn) % len(tokens)) / 4 for at in range(len(tokens))]
    total = math.log(sum(math.exp(logit) for logit in logits))
    return {token: logit - total for token, logit in zip(tokens, logits, strict=True)}


def write_picture(pixels: RGB, form: str = "png") -> bytes:
    """The picture as a file of that format."""
    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, format=form.upper())
    return buffer.getvalue()
