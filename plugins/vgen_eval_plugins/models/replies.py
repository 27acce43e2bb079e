"""Replies over HTTP as adapters read them: JSON or what stands in its place, and their date."""

from __future__ import annotations

import email.utils
import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from vgen_eval.errors import CallError, Transient

__all__ = ["date_of", "is_http_fault", "read_object"]

HTTP_LIBRARIES = ("httpx", "httpx2", "httpcore", "httpcore2")


def read_object(text: str, *, host: str) -> Mapping[str, Any]:
    """The JSON object of a reply under status 200.

    CallError for a web page or JSON that is no object: a gateway or a wrong address, for every
    call the same. Transient for JSON that breaks off.
    """
    try:
        body = json.loads(text)
    except ValueError:
        head = text.lstrip()[:64].lower()
        if head.startswith(("{", "[")):
            raise Transient(f"{host}: JSON that breaks off after {len(text)} characters") from None
        seen = "a web page" if head.startswith(("<!doctype html", "<html")) else "no JSON"
        seen = "nothing" if not head else seen
        raise CallError(f"{host}: {seen} under status 200, a JSON object wanted") from None
    if not isinstance(body, Mapping):
        raise CallError(f"{host}: JSON {type(body).__name__} under status 200, an object wanted")
    return body


def date_of(headers: Mapping[str, str]) -> str | None:
    """The reply's own date (RFC 9110, section 6.6.1) as ISO 8601 in UTC; None when it has none."""
    lower = {str(name).lower(): value for name, value in headers.items()}
    try:
        date = email.utils.parsedate_to_datetime(lower["date"])
    except (KeyError, TypeError, ValueError):
        return None
    return date.astimezone(UTC).isoformat().replace("+00:00", "Z")


def is_http_fault(fault: BaseException) -> bool:
    """Is it of an HTTP library, whichever of them an SDK came with?"""
    kinds = type(fault).__mro__
    return any(kind.__module__.partition(".")[0] in HTTP_LIBRARIES for kind in kinds)
