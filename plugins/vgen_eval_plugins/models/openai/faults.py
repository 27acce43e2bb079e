"""Errors of services that speak OpenAI's protocol, in our words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vgen_eval.errors import AccessDenied, CallError

from vgen_eval_plugins.models.replies import dig, whole
from vgen_eval_plugins.models.service import Service, status_error
from vgen_eval_plugins.models.wire import Reply

__all__ = ["fault_under_200", "read_fault", "request_id_of"]


def read_fault(reply: Reply, *, service: Service, job: bool = False) -> CallError | AccessDenied:
    """The error to raise for an answer that is no success; `job`: see `status_error`."""
    body = reply.content
    return _error(reply.status, dig(body, "error") or body, reply, service=service, job=job)


def fault_under_200(
    body: Mapping[str, Any], reply: Reply, *, service: Service
) -> CallError | AccessDenied | None:
    """The error that stands in an answer under status 200, as gateways give it; None: it is none.

    A video that failed has an error and is an answer all the same.
    """
    fault = body.get("error")
    if not fault or any(key in body for key in ("choices", "data", "status")):
        return None
    number = whole(dig(fault, "code")) or whole(dig(fault, "status")) or 502
    return _error(number if 400 <= number <= 599 else 502, fault, reply, service=service)


def request_id_of(reply: Reply) -> str | None:
    """The id that the service gave the request."""
    return reply.headers.get("x-request-id")


def _error(
    status: int, fault: Any, reply: Reply, *, service: Service, job: bool = False
) -> CallError | AccessDenied:
    """`fault`: the error object, {"detail": ...} of FastAPI, or plain text."""
    said = fault if isinstance(fault, str) else ""
    for key in ("message", "detail", "msg", "error"):
        said = said or (_plain(dig(fault, key)) or "")
    codes = [dig(fault, "code"), dig(fault, "type"), dig(fault, "innererror", "code")]
    return status_error(
        status,
        said if not said.lstrip().startswith("<") else "a web page",
        service=service,
        codes=[code for code in codes if isinstance(code, str)],
        headers=reply.headers,
        request_id=request_id_of(reply),
        job=job,
    )


def _plain(value: Any) -> str | None:
    if value is None or isinstance(value, (str, int, float)):
        return None if value is None else str(value)
    return json.dumps(value)
