"""Pictures on their way to services and back: files, data URIs, base64; judged by their bytes."""

from __future__ import annotations

import base64
import binascii
import io
from typing import Literal

from vgen_eval.errors import CallError
from vgen_eval.imaging import MAX_BYTES, Image

__all__ = ["MIME", "ImageFormat", "data_uri", "encode", "from_base64", "no_picture", "no_video"]

ImageFormat = Literal["png", "jpeg"]
MIME = {"png": "image/png", "jpeg": "image/jpeg"}
JPEG_QUALITY = 95

_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")


def encode(image: Image, form: ImageFormat = "png") -> bytes:
    """The picture as a file: PNG, exact, or JPEG at quality 95 with full colour resolution.

    CallError for a picture larger than JPEG can be.
    """
    if form == "png":
        return image.png()
    buffer = io.BytesIO()
    try:
        image.to_pil().save(buffer, format="JPEG", quality=JPEG_QUALITY, subsampling=0)
    except (OSError, ValueError) as exc:  # a side of more than 65,500 pixels
        raise CallError(f"no JPEG of {image.width}x{image.height} pixels: {exc}") from None
    return buffer.getvalue()


def data_uri(image: Image, form: ImageFormat = "png") -> str:
    """The picture as a data URI (RFC 2397)."""
    return f"data:{MIME[form]};base64,{base64.b64encode(encode(image, form)).decode()}"


def from_base64(text: str, *, what: str = "the picture", limit: int = MAX_BYTES) -> bytes:
    """The bytes of base64, with or without the head of a data URI; its MIME type is not believed.

    CallError when it is no base64, or of more than `limit` bytes: asked before it is decoded.
    """
    head, found, rest = text.partition(",") if text.startswith("data:") else ("", "", text)
    if found and not head.endswith(";base64"):
        raise CallError(f"{what}: a data URI that is not in base64")
    if len(rest) * 3 // 4 > limit + 3:
        raise CallError(f"{what}: {len(rest) * 3 // 4} bytes, over the limit of {limit}")
    compact = "".join(rest.split())
    try:
        data = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError) as exc:
        raise CallError(f"{what}: not base64: {exc}") from None
    if len(data) > limit:
        raise CallError(f"{what}: {len(data)} bytes, over the limit of {limit}")
    return data


def no_picture(data: bytes) -> str | None:
    """Why these bytes are no picture; None where they begin as one does."""
    if data.startswith(_PICTURES) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        return None
    return _described(data, "picture")


def no_video(data: bytes) -> str | None:
    """Why these bytes are no video; None where they begin as one does (MP4, WebM, AVI, GIF)."""
    if data[4:8] == b"ftyp" or data.startswith((b"\x1aE\xdf\xa3", b"GIF8", b"RIFF")):
        return None
    return _described(data, "video")


def _described(data: bytes, wanted: str) -> str:
    head = data[:256].lstrip().lower()
    if not data:
        return f"an empty file in place of a {wanted}"
    if head.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return f"a web page in place of a {wanted}"
    if head.startswith((b"<?xml", b"<svg")):
        return f"XML or SVG in place of a {wanted}"
    if head.startswith((b"{", b"[")):
        return f"JSON in place of a {wanted}"
    return f"{len(data)} bytes of unknown format in place of a {wanted}"
