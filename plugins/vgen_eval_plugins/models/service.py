"""Faults of services in our words: what an adapter raises for a status, a code, a lost connection.

Pictures on their way out and in are in `payloads`, checks of call arguments in `arguments`.
Raise what these functions give `from None`: an SDK's exception holds the request, and so the key.
"""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Iterable, Mapping

import msgspec
from vgen_eval.errors import AccessDenied, CallError, RateLimited, Refused, Transient
from vgen_eval.remote import retry_after
from vgen_eval.secrets import redact
from vgen_eval.types import Usage

__all__ = [
    "NO_CREDIT",
    "NO_MODEL",
    "POLICY",
    "WRONG_KEY",
    "Service",
    "chain_of",
    "connection_error",
    "hush",
    "status_error",
    "words",
]

POLICY = frozenset({
    "content_filter", "content_moderation", "content_policy_violation", "content_safety_violation",
    "moderation_blocked", "prohibited_content", "responsibleaipolicyviolation",
    "data_inspection_failed", "datainspectionfailed", "inputimagesensitivecontentdetected",
    "inputtextsensitivecontentdetected", "outputimagesensitivecontentdetected",
})  # fmt: skip
"""Codes, in lower case, of requests that a provider declines for what they show or ask."""
NO_CREDIT = frozenset({
    "insufficient_quota", "insufficient_balance", "insufficient_credits", "billing_error",
    "billing_hard_limit_reached", "billing_not_active", "credit_balance_too_low", "arrearage",
})  # fmt: skip
WRONG_KEY = frozenset({
    "invalid_api_key", "api_key_invalid", "authentication_error", "account_deactivated",
})  # fmt: skip
NO_MODEL = frozenset({"model_not_found", "invalid_model", "model_not_supported"})

LONGEST = 400
_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{100,}")
"""A run of this kind is a picture in base64, or a token: no words."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """Whom an adapter calls: what its errors name."""

    host: str
    model: str
    key_env: str | None = None


def status_error(
    status: int,
    said: str,
    *,
    service: Service,
    codes: Iterable[str | None] = (),
    headers: Mapping[str, str] | None = None,
    request_id: str | None = None,
    usage: Usage | None = None,
    job: bool = False,
) -> CallError | AccessDenied:
    """The error to raise for an answer that is no success.

    `said`: the provider's message; `codes`: its machine-readable code, type or reason, whichever
    it gives. `job`: the request was about a job under way, so 404 says nothing of the model.
    """
    known = {code.lower() for code in codes if code}
    what = f"{service.host}: status {status}" + (f": {words(said)}" if said else "")
    billed = {"usage": usage, "request_id": request_id}
    if known & POLICY:
        return Refused(words(said) or ", ".join(sorted(known)), **billed)  # type: ignore[arg-type]
    if known & NO_CREDIT or status == 402:
        return AccessDenied(what, cure=f"the account of {_key(service)} has no credit left")
    if status == 401 or known & WRONG_KEY:
        return AccessDenied(what, cure=_key_cure(service))
    if known & NO_MODEL or (status == 404 and not job and f"{service.model}" in (said or "")):
        return AccessDenied(
            what, cure=f"is '{service.model}' a model of {service.host}? -M model=, -M base_url="
        )
    if status == 404 and not job:  # of a path as well as of a model
        return AccessDenied(
            what,
            cure=f"is '{service.model}' a model of {service.host}, and does it give this form of "
            "answer? -M model=, -M base_url=, --answer text",
        )
    if status == 403:
        cure = f"may {_key(service)} use '{service.model}' at {service.host}?"
        return AccessDenied(what, cure=cure)
    wait = retry_after(headers or {})
    if status == 429 or (status in (503, 529) and wait is not None):
        return RateLimited(what, retry_after=wait, **billed)  # type: ignore[arg-type]
    if status in (408, 409, 425) or status >= 500:
        return Transient(what, **billed)  # type: ignore[arg-type]
    if 300 <= status < 400:
        what = f"{what}: it sends the request elsewhere, which is not followed"
    return CallError(what, **billed)  # type: ignore[arg-type]


def connection_error(
    fault: BaseException, *, service: Service, seconds: float | None = None
) -> CallError | AccessDenied | TimeoutError:
    """The error to raise where no answer came, or only a part of one.

    `fault`: the SDK's exception or its HTTP library's; `seconds`: the limit it was under.
    """
    chain = chain_of(fault)
    if any(isinstance(link, ssl.SSLCertVerificationError) for link in chain):
        return AccessDenied(
            f"{service.host}: its certificate cannot be verified",
            cure="SSL_CERT_FILE=FILE names the certificates to trust",
        )
    # httpx, httpx2 and httpcore have classes of their own, with the same names
    if any("Timeout" in type(link).__name__ for link in chain):
        within = "in time" if seconds is None else f"within {seconds:g} s"
        return TimeoutError(f"{service.host}: no answer {within}")
    # the deepest link says what happened, the SDK's own only that something did
    deepest = chain[-1]
    return Transient(f"{service.host}: {type(deepest).__name__}: {words(str(deepest))}")


def words(text: str, *, longest: int = LONGEST) -> str:
    """A provider's words on one line: without keys, without pictures in base64, not too long."""
    line = " ".join(redact(str(text)).split())
    line = _BLOB.sub(lambda run: f"[{len(run[0])} characters]", line)
    return line if len(line) <= longest else line[: longest - 3] + "..."


def hush(*loggers: str) -> None:
    """Keeps an SDK's loggers to warnings: below that they write requests, pictures and all."""
    for name in loggers:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))


def chain_of(fault: BaseException) -> list[BaseException]:
    """The exception, its cause, the cause's cause, ..."""
    chain = [fault]
    while len(chain) < 16:
        following = chain[-1].__cause__ or chain[-1].__context__
        if following is None or following in chain:
            break
        chain.append(following)
    return chain


def _key(service: Service) -> str:
    return f"the key in {service.key_env}" if service.key_env else "a caller without a key"


def _key_cure(service: Service) -> str:
    if service.key_env is None:
        return "the service asks for a key: --set needs.key_env=NAME, the variable that holds it"
    return f"is the key in {service.key_env} one of {service.host}?"
