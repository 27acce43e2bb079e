"""Errors of the Gemini API in our words: google.rpc.Status, with what its details say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vgen_eval.errors import AccessDenied, CallError
from vgen_eval.remote import retry_after

from vgen_eval_plugins.models.replies import dig, items, whole, word
from vgen_eval_plugins.models.service import Service, status_error, words

__all__ = ["read_fault", "retry_delay"]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


def read_fault(
    status: int, body: Any, *, service: Service, headers: Mapping[str, str]
) -> CallError | AccessDenied:
    """The error to raise for an answer with that status, or with the one that its body names.

    `body`: its JSON, {"error": {"code", "message", "status", "details"}}, alone or in a list; or
    its text.
    RetryInfo in the details counts where no Retry-After header came (google.rpc.RetryInfo).
    """
    fault = _fault(body)
    named = whole(fault.get("code"))
    if named is not None and 400 <= named <= 599:
        status = named
    said = str(fault.get("message") or "")
    details = _details(fault)
    daily = [name for name in _quotas(details) if "PerDay" in name]
    if status == 429 and daily:
        return AccessDenied(
            f"{service.host}: status 429: {words(said)} ({daily[0]})",
            cure="the quota of a day is used up: start the run again once it is renewed",
        )
    if status == 400 and fault.get("status") == "FAILED_PRECONDITION":
        return AccessDenied(
            f"{service.host}: status 400: {words(said)}",
            cure="the account does not meet what the service asks of it: region, billing, terms",
        )
    codes = [word(entry.get("reason")) for entry in details if "ErrorInfo" in _kind(entry)]
    told = dict(headers)
    delay = retry_delay(details)
    if delay is not None and retry_after(told) is None:
        told["retry-after"] = str(delay)
    return status_error(status, said, service=service, codes=codes, headers=told)


def retry_delay(details: Iterable[Mapping[str, Any]]) -> float | None:
    """Seconds of RetryInfo.retryDelay ("34.07s", a google.protobuf.Duration); None for none."""
    for entry in details:
        if "RetryInfo" in _kind(entry):
            match = _DURATION.fullmatch(str(entry.get("retryDelay")))
            return float(match[1]) if match else None
    return None


def _fault(body: Any) -> Mapping[str, Any]:
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return {"message": body}
    inner = body.get("error", body)
    return inner if isinstance(inner, Mapping) else {"message": inner}


def _details(fault: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [entry for entry in items(fault.get("details")) if isinstance(entry, Mapping)]


def _quotas(details: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for entry in details:
        if "QuotaFailure" in _kind(entry):
            for violation in items(entry.get("violations")):
                yield str(dig(violation, "quotaId") or "")


def _kind(entry: Mapping[str, Any]) -> str:
    return str(entry.get("@type", ""))
