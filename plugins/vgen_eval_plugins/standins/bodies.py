"""Bodies of requests, read strictly: multipart forms, and JSON held against a shape.

A shape is a type (`str`, `float` takes whole numbers, `bool` is no number), a frozenset of the
values allowed, a tuple of alternatives, a list of one shape (a list of these), `Fields` (an
object), or a function (value, path) -> None that raises ValueError.
"""

from __future__ import annotations

import email.message
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

__all__ = ["Fields", "Part", "brief", "check_shape", "read_multipart"]

SHORT = 300
"""Longer strings (pictures in base64) are remembered by length and digest."""
NoneType = type(None)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a multipart form."""

    name: str
    filename: str | None
    content_type: str | None
    data: bytes

    @property
    def text(self) -> str:
        """The value of a plain field; ValueError when it is no text."""
        return self.data.decode()

    def described(self) -> Any:
        """What is remembered of it: a plain field's text, a file's facts."""
        if self.filename is None:
            return brief(self.text)
        return {
            "filename": self.filename,
            "content_type": self.content_type,
            "bytes": len(self.data),
            "sha256": hashlib.sha256(self.data).hexdigest(),
        }


def read_multipart(data: bytes, content_type: str) -> Sequence[Part]:
    """The parts of a form (RFC 7578); ValueError, with the reason, when it is none."""
    header = email.message.Message()
    header["Content-Type"] = content_type
    boundary = header.get_param("boundary")
    if header.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise ValueError("the body must be multipart/form-data with a boundary")
    mark = b"--" + boundary.encode()
    head, *rest = (b"\r\n" + data).split(b"\r\n" + mark)
    if head or not rest or rest[-1] not in (b"--", b"--\r\n"):
        raise ValueError("the form does not end with its boundary")
    return [_read_part(chunk) for chunk in rest[:-1]]


def _read_part(chunk: bytes) -> Part:
    head, found, body = chunk.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    if not found:
        raise ValueError("a part of the form has no headers")
    headers = email.message_from_bytes(head + b"\r\n\r\n")
    name = headers.get_param("name", header="content-disposition")
    if headers.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise ValueError("a part of the form has no name")
    kind = headers.get("Content-Type")
    return Part(name=name, filename=headers.get_filename(), content_type=kind, data=body)


def brief(value: Any) -> Any:
    """The value with long strings replaced by their length and digest."""
    if isinstance(value, str) and len(value) > SHORT:
        digest = hashlib.sha256(value.encode()).hexdigest()[:16]
        return f"{value[:30]}... {len(value)} characters, sha256 {digest}"
    if isinstance(value, Mapping):
        return {key: brief(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [brief(entry) for entry in value]
    return value


class Fields(msgspec.Struct, frozen=True):
    """An object with these keys and no others."""

    required: Mapping[str, Any] = {}
    optional: Mapping[str, Any] = {}


def check_shape(value: Any, shape: Any, path: str = "") -> None:
    """ValueError, naming the path, unless the value has the shape."""
    if isinstance(shape, tuple):
        _check_alternatives(value, shape, path)
    elif isinstance(shape, Fields):
        _check_fields(value, shape, path)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise ValueError(f"{path}: expected a list, got {_kind(value)}")
        for at, entry in enumerate(value):
            check_shape(entry, shape[0], f"{path}[{at}]")
    elif isinstance(shape, frozenset):
        if not isinstance(value, str) or value not in shape:
            raise ValueError(f"{path}: expected one of {sorted(shape)}, got {brief(value)!r}")
    elif isinstance(shape, type):
        if not _is(value, shape):
            raise ValueError(f"{path}: expected {shape.__name__}, got {_kind(value)}")
    else:
        shape(value, path)


def _check_alternatives(value: Any, shapes: Sequence[Any], path: str) -> None:
    faults = []
    for shape in shapes:
        try:
            check_shape(value, shape, path)
        except ValueError as exc:
            faults.append(str(exc))
        else:
            return
    # the fault that lies deepest is the one of the alternative that was meant
    raise ValueError(max(faults, key=lambda fault: len(fault.partition(":")[0])))


def _check_fields(value: Any, shape: Fields, path: str) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: expected an object, got {_kind(value)}")
    at = f"{path}." if path else ""
    for key in shape.required:
        if key not in value:
            raise ValueError(f"{at}{key}: missing required parameter")
    for key, entry in value.items():
        inner = shape.required.get(key, shape.optional.get(key))
        if inner is None:
            raise ValueError(f"{at}{key}: unknown parameter")
        check_shape(entry, inner, f"{at}{key}")


def _is(value: Any, kind: type) -> bool:
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
