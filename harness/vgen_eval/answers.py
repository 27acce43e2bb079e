"""Answers as they are kept: raw bytes in a file, or JSON in the line itself.

Text, choices and points are JSON already and stay in their line, readable and cheap; pictures,
arrays and videos become files named by their sha256.
"""

from __future__ import annotations

import hashlib
import io
import math
import numbers
from collections.abc import Mapping
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.errors import Undecodable
from vgen_eval.imaging import (
    MAX_BYTES,
    WHITE,
    Colour,
    Image,
    decode_image,
    encode_png,
    load_array,
    squeeze,
)
from vgen_eval.secrets import redact
from vgen_eval.types import AnswerForm, Status
from vgen_eval.wording import describe, plural

__all__ = ["AnswerFault", "Packed", "clean", "pack", "unpack"]

INLINE: tuple[AnswerForm, ...] = ("text", "choice", "points")
_DIMENSIONS: Mapping[str, int] = {"mask": 2, "label_map": 2, "depth_map": 2, "normal_map": 3}


class Packed(msgspec.Struct, frozen=True):
    """An answer ready to be kept: `data` for a file, or `value` for the line."""

    sha256: str
    data: bytes | None = None
    suffix: str = ""
    value: Any = None
    redacted: bool = False
    """Was a key cut out of it, so that it is not what the model gave?"""


class AnswerFault(Exception):
    """An answer that is none, or not of the form asked; becomes the attempt's status."""

    def __init__(self, status: Status, reason: str, *, text: str | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.text = text


def clean(text: str) -> str:
    """The text without keys, and with `?` for lone surrogates, which no JSON can hold."""
    return redact(text).encode("utf-8", "replace").decode()


def pack(form: AnswerForm, answer: Any) -> Packed:
    """The answer in the shape it is stored in; AnswerFault when it is not of the form.

    An Undecodable in its place is one whose bytes were found faulty before.
    """
    if answer is None:
        raise AnswerFault("no_answer", "the model gave nothing")
    if isinstance(answer, Undecodable):
        raise AnswerFault("undecodable", clean(answer.what))
    try:
        return _pack(form, answer)
    except AnswerFault:
        raise
    # answers are anyone's objects: what they raise when they are read is their fault alone
    except Exception as exc:
        reason = f"{type(answer).__name__} cannot be read: {describe(exc)}"
        raise AnswerFault("undecodable", clean(reason)[:500]) from exc


def _pack(form: AnswerForm, answer: Any) -> Packed:
    if form in INLINE:
        value = _INLINE_VALUES[form](answer)
        return Packed(sha256=jsonio.digest(value), value=value, redacted=_holds_key(answer))
    if isinstance(answer, str):
        raise AnswerFault("no_answer", f"text instead of {_article(form)}", text=clean(answer))
    data, suffix = _picture(answer) if form == "image" else _raw(form, answer)
    if len(data) > MAX_BYTES:
        raise AnswerFault(
            "undecodable", f"{plural(len(data), 'byte')}, over the limit of {MAX_BYTES}"
        )
    return Packed(sha256=hashlib.sha256(data).hexdigest(), data=data, suffix=suffix)


def unpack(
    form: AnswerForm,
    *,
    value: Any = None,
    data: bytes | None = None,
    what: str = "answer",
    background: Colour = WHITE,
) -> Any:
    """The answer as decoders take it; Undecodable when the bytes are not what they should be.

    `what` names the answer in that error: the file it came from, where there was one.
    `background`: the colour that transparent pixels of a picture are laid on.
    """
    if form in INLINE:
        if form == "points":
            import numpy as np

            return np.asarray(value, dtype=np.float64).reshape(-1, 2)
        return value
    if data is None:
        raise ValueError(f"an answer of form {form} is bytes")
    if form == "image":
        return decode_image(data, what=what, background=background)
    if form == "video":
        return data
    return _load_array(form, data, what=what)


def _article(form: str) -> str:
    return {"image": "an image", "video": "a video"}.get(form, f"a {form}")


def _holds_key(answer: Any) -> bool:
    words = answer if isinstance(answer, Mapping) else (answer,)
    return any(isinstance(word, str) and redact(word) != word for word in words)


def _text(answer: Any) -> str:
    # a count, as JSONL has it
    if isinstance(answer, numbers.Real) and not isinstance(answer, bool):
        return str(int(answer) if isinstance(answer, numbers.Integral) else float(answer))
    if not isinstance(answer, str):
        raise AnswerFault("no_answer", f"{type(answer).__name__} instead of text")
    return clean(answer)


def _choice(answer: Any) -> dict[str, float | None]:
    if not isinstance(answer, Mapping) or not answer:
        raise AnswerFault("no_answer", "log-probabilities of the choices wanted")
    values: dict[str, float | None] = {}
    for word, logprob in answer.items():
        try:
            if isinstance(logprob, bool | str):
                raise TypeError
            number = -math.inf if logprob is None else float(logprob)
        except (TypeError, ValueError):
            raise AnswerFault(
                "undecodable", f"the log-probability of {word!r} is no number"
            ) from None
        if math.isnan(number) or number == math.inf:
            raise AnswerFault("undecodable", f"the log-probability of {word!r} is {number}")
        values[clean(str(word))] = None if number == -math.inf else number
    return values


def _points(answer: Any) -> list[list[float]]:
    import numpy as np

    try:
        points = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise AnswerFault("undecodable", "points are (N, 2) numbers") from None
    if points.size == 0:
        return []
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise AnswerFault("undecodable", f"points are (N, 2) finite numbers, {points.shape} seen")
    return [[float(x), float(y)] for x, y in points]


_INLINE_VALUES = {"text": _text, "choice": _choice, "points": _points}


def _picture(answer: Any) -> tuple[bytes, str]:
    if isinstance(answer, (bytes, bytearray, memoryview)):
        data = bytes(answer)
        return data, _sniff(data)
    if isinstance(answer, Image):
        return answer.png(), ".png"
    if hasattr(answer, "getbands"):
        return _pillow_png(answer), ".png"
    array = _as_array("image", answer)
    if array.dtype != "uint8" or array.ndim not in (2, 3) or array.size == 0:
        raise AnswerFault(
            "undecodable", f"an image is uint8 (H, W, 3), {array.dtype} {array.shape} seen"
        )
    if array.ndim == 3 and array.shape[2] not in (3, 4):
        raise AnswerFault("undecodable", f"an image has 3 or 4 channels, {array.shape[2]} seen")
    return encode_png(array), ".png"


def _pillow_png(picture: Any) -> bytes:
    """A PNG file of a Pillow picture, upright as the file it was read from would be."""
    import PIL.ImageOps

    if picture.mode == "F":
        raise AnswerFault("undecodable", "an image is 8-bit RGB, a picture of floats seen")
    upright = PIL.ImageOps.exif_transpose(picture)
    buffer = io.BytesIO()
    try:
        upright.save(buffer, format="PNG", compress_level=1)
    except OSError:  # a mode that PNG does not hold
        buffer = io.BytesIO()
        upright.convert("RGB").save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()


def _raw(form: AnswerForm, answer: Any) -> tuple[bytes, str]:
    if form == "video":
        if not isinstance(answer, (bytes, bytearray, memoryview)):
            raise AnswerFault("undecodable", f"a video is bytes, {type(answer).__name__} seen")
        return bytes(answer), _sniff(bytes(answer))
    import numpy as np

    array = _as_array(form, answer)
    array = array if form == "normal_map" else squeeze(array)
    if array.dtype.kind not in "biuf" or array.ndim != _DIMENSIONS[form]:
        raise AnswerFault("undecodable", f"not {_article(form)}: {array.dtype} {array.shape}")
    buffer = io.BytesIO()
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    np.save(buffer, plain, allow_pickle=False)
    return buffer.getvalue(), ".npy"


def _as_array(form: str, answer: Any) -> Any:
    import numpy as np

    if isinstance(answer, np.ndarray):
        return answer
    try:
        array = np.asarray(answer)
    except (TypeError, ValueError):
        array = np.asarray(None)
    if array.dtype == object:
        raise AnswerFault("undecodable", f"{type(answer).__name__} instead of {_article(form)}")
    return array


def _load_array(form: str, data: bytes, *, what: str) -> Any:
    array = load_array(data, what=what)
    array = array if form == "normal_map" else squeeze(array)
    if array.ndim != _DIMENSIONS[form]:
        raise Undecodable(f"{what}: not {_article(form)}: {array.dtype} {array.shape}")
    return array


def _sniff(data: bytes) -> str:
    """File suffix by the first bytes: what a file says of itself, not what a sender says."""
    signatures = (
        (b"\x89PNG", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"GIF8", ".gif"), (b"BM", ".bmp"),
        (b"\x1aE\xdf\xa3", ".webm"), (b"II*\x00", ".tif"), (b"MM\x00*", ".tif"),
    )  # fmt: skip
    for signature, suffix in signatures:
        if data.startswith(signature):
            return suffix
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return ".mp4" if data[4:8] == b"ftyp" else ".bin"
