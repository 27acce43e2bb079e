"""Errors of the Messages API in our words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from vgen_eval.errors import AccessDenied, CallError

from vgen_eval_plugins.models.replies import dig, word
from vgen_eval_plugins.models.service import Service, status_error

__all__ = ["read_fault"]

STATUS: Mapping[str, int] = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
"""Type of an error -> the status that belongs to it, for errors under another one."""

_SPENT = re.compile(r"credit balance is too low|spend limit|api usage limits", re.IGNORECASE)
"""A limit of spending or an empty account is a plain 400, told by its sentence or its code."""
_FILTERED = re.compile(r"content filtering policy", re.IGNORECASE)
_PICTURE = re.compile(
    r"image exceeds|image dimensions exceed|size of image|too many images", re.IGNORECASE
)


def read_fault(
    status: int | None,
    body: Any,
    *,
    service: Service,
    headers: Mapping[str, str],
    sent: Sequence[str] = (),
) -> CallError | AccessDenied:
    """The error to raise for an answer with that status; None: the one of the error's type.

    `body`: its JSON, {"type": "error", "error": {"type", "message", "details"}}, or its text.
    `sent`: the pictures of the request in words, told where they are too large.
    """
    outer = body if isinstance(body, Mapping) else {"error": {"message": body or ""}}
    fault = outer.get("error")
    fault = fault if isinstance(fault, Mapping) else {"message": fault or ""}
    said = str(fault.get("message") or "")
    code = word(dig(fault, "details", "error_code"))
    codes = [value for value in (word(fault.get("type")), code) if value is not None]
    if status is None:
        status = STATUS.get(str(fault.get("type")), 502)
    if _SPENT.search(said) or any("spend_limit" in known for known in codes):
        codes.append("insufficient_quota")
    if _FILTERED.search(said):
        codes.append("content_filter")
    if sent and (status == 413 or code == "image_dimensions_too_large" or _PICTURE.search(said)):
        said = (
            f"{said} (sent: {', '.join(sent)}; a protocol with a smaller input.long_side or "
            "-M image_format=jpeg makes them smaller)"
        )
    request_id = headers.get("request-id") or word(outer.get("request_id"))
    return status_error(
        status, said, service=service, codes=codes, headers=headers, request_id=request_id
    )
