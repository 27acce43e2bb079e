"""Replies of services as adapters read them: JSON whose every field may be of any type."""

from __future__ import annotations

import contextlib
import email.utils
import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from vgen_eval.errors import CallError, Transient
from vgen_eval.types import Usage

__all__ = [
    "TRUNCATED",
    "billed",
    "date_at",
    "date_of",
    "dig",
    "is_http_fault",
    "items",
    "number",
    "read_object",
    "told",
    "total",
    "whole",
    "word",
]

HTTP_LIBRARIES = ("httpx", "httpx2", "httpcore", "httpcore2")
MOST = 1 << 53
"""No count of tokens, no code and no second is larger."""
TRUNCATED = "truncated"
"""Flag: the answer ended at the limit of tokens."""


def read_object(text: str, *, host: str) -> Mapping[str, Any]:
    """The JSON object of a reply under status 200.

    CallError for a web page or JSON that is no object: a gateway or a wrong address, for every
    call the same. Transient for JSON that breaks off.
    """
    try:
        body = json.loads(text)
    except RecursionError:
        raise CallError(f"{host}: JSON that is nested too deeply") from None
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


def dig(value: Any, *path: str | int) -> Any:
    """The value at the end of a path of keys and indices; None where it leads nowhere."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def items(value: Any) -> list[Any]:
    """The entries of a list; none of anything else."""
    return value if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """A text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def whole(value: Any) -> int | None:
    """A count or a code; None for anything else. Some services write numbers as text."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= 16:
        value = int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST
    return value if good else None


def number(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def total(*counts: int | None) -> int | None:
    """The sum of the counts that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def told(usage: Usage) -> Usage | None:
    """The usage; None where it says nothing."""
    return None if usage == Usage() else usage


def date_of(headers: Mapping[str, str]) -> str | None:
    """The reply's own date (RFC 9110, section 6.6.1) as ISO 8601 in UTC; None when it has none."""
    lower = {str(name).lower(): value for name, value in headers.items()}
    try:
        date = email.utils.parsedate_to_datetime(lower["date"])
        if date.tzinfo is None:  # `-0000` is UTC as well, said otherwise
            date = date.replace(tzinfo=UTC)
        return date.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        return None


def date_at(seconds: Any) -> str | None:
    """Seconds since 1970 as ISO 8601 in UTC; None where they mean nothing."""
    since = whole(seconds)
    if not since:
        return None
    try:
        return datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None


@contextlib.contextmanager
def billed(usage: Usage | None, request_id: str | None) -> Iterator[None]:
    """Gives a CallError raised inside what the call was billed for."""
    try:
        yield
    except CallError as exc:
        exc.usage = exc.usage or usage
        exc.request_id = exc.request_id or request_id
        raise


def is_http_fault(fault: BaseException) -> bool:
    """Is it of an HTTP library, whichever of them an SDK came with?"""
    kinds = type(fault).__mro__
    return any(kind.__module__.partition(".")[0] in HTTP_LIBRARIES for kind in kinds)
