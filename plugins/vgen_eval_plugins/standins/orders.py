"""Requests and answers of loopback services, and how they misbehave when they are ordered to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from vgen_eval import jsonio

from vgen_eval_plugins.standins.bodies import Part, read_multipart

__all__ = [
    "PAGE", "Answer", "Call", "Handler", "Order", "Rejected", "Seen", "drop", "halfway", "hang",
    "html", "mislabel", "redirect", "status",
]  # fmt: skip

PAGE = b"<!DOCTYPE html>\n<html><body><h1>Welcome to the gateway</h1></body></html>\n"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back: status, body, headers."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}

    @classmethod
    def json(
        cls, value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """The value as JSON."""
        return cls(status=status, body=jsonio.dumps(value), headers=headers or {})


class Rejected(Exception):
    """A request that breaks the service's rules; `Service.error` writes it the provider's way."""

    def __init__(
        self, message: str, *, status: int = 400, code: str | None = None, param: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.param = param


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it is remembered: long strings and files by length and digest alone."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Any
    """JSON, or field -> values of a multipart form; None without a body."""

    @property
    def authorization(self) -> str:
        """The value of the header Authorization; "" when there is none."""
        return self.headers.get("authorization", "")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One request as handlers get it."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    data: bytes
    groups: tuple[str, ...] = ()
    """What the route's pattern caught."""

    @property
    def json(self) -> Any:
        """The body as JSON; Rejected when it is none or is not labelled so."""
        if not self.headers.get("content-type", "").startswith("application/json"):
            raise Rejected("the body must be application/json", status=415)
        try:
            return jsonio.loads(self.data)
        except ValueError as exc:
            raise Rejected(f"the body is no JSON: {exc}") from None

    @property
    def form(self) -> Sequence[Part]:
        """The parts of a multipart form; Rejected when the body is none."""
        try:
            return read_multipart(self.data, self.headers.get("content-type", ""))
        except ValueError as exc:
            raise Rejected(str(exc)) from None


Handler = Callable[[Call], Answer]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """How the service misbehaves towards one request; made by the functions below."""

    at: str = ""
    """Beginning of the paths that it is meant for; others pass it by."""
    answer: Answer | None = None
    """Given instead of the right one."""
    rejected: Rejected | None = None
    """The same, written in the provider's shape."""
    hang_s: float = 0.0
    drop: bool = False
    halfway: bool = False
    content_type: str | None = None
    """Put over the right answer's own."""


def status(
    number: int,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    code: str | None = None,
    message: str = "on order",
    at: str = "",
) -> Order:
    """An error of that status: with `body` (JSON, or bytes), else in the provider's shape."""
    if body is None:
        rejected = Rejected(message, status=number, code=code)
        return Order(at=at, rejected=rejected, answer=Answer(headers=headers or {}))
    if isinstance(body, bytes):
        return Order(at=at, answer=Answer(status=number, body=body, headers=headers or {}))
    return Order(at=at, answer=Answer.json(body, status=number, headers=headers))


def hang(seconds: float, *, at: str = "") -> Order:
    """The right answer, after so many seconds."""
    return Order(at=at, hang_s=seconds)


def drop(*, at: str = "") -> Order:
    """The connection closed in place of an answer."""
    return Order(at=at, drop=True)


def halfway(*, at: str = "") -> Order:
    """The connection closed after half of the right answer's body."""
    return Order(at=at, halfway=True)


def html(*, number: int = 200, at: str = "") -> Order:
    """A web page, as gateways and login walls give it."""
    answer = Answer(status=number, body=PAGE, content_type="text/html; charset=utf-8")
    return Order(at=at, answer=answer)


def mislabel(content_type: str, *, at: str = "") -> Order:
    """The right answer under a wrong content type."""
    return Order(at=at, content_type=content_type)


def redirect(address: str, *, number: int = 302, at: str = "") -> Order:
    """The request sent on to another address."""
    return Order(at=at, answer=Answer(status=number, headers={"Location": address}))
