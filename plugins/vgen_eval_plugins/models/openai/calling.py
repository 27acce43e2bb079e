"""One call through the openai SDK: streamed, bounded in time and size, faults in our words."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from vgen_eval.errors import AccessDenied, CallError
from vgen_eval.imaging import MAX_BYTES
from vgen_eval.types import Usage

from vgen_eval_plugins.models.replies import is_http_fault, read_object
from vgen_eval_plugins.models.service import Service, connection_error, status_error, words

__all__ = ["Line", "Reply", "billed", "date_of", "dig", "whole"]

MAX_REPLY = 2 * MAX_BYTES
"""A picture of the largest size in base64, and room for what stands around it."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a call brought under a status of success."""

    data: bytes
    headers: Mapping[str, str]
    """Names in lower case."""

    @property
    def request_id(self) -> str | None:
        """The id that the service gave the request."""
        return self.headers.get("x-request-id")


class Line:
    """Makes the calls of one client."""

    def __init__(
        self, service: Service, *, seconds: float | None, headers: Mapping[str, Any]
    ) -> None:
        """`seconds`: the time that a call may take; `headers`: further ones of each call."""
        self.service = service
        self.seconds = seconds
        self._headers = dict(headers)

    def deadline(self) -> float | None:
        """When a call that begins now must be over, by `time.monotonic`."""
        return None if self.seconds is None else time.monotonic() + self.seconds

    def left(self, deadline: float | None) -> float | None:
        """Seconds until then; TimeoutError when it is over."""
        if deadline is None:
            return None
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{self.service.host}: no answer within {self.seconds:g} s")
        return left

    def ask_json(self, method: Callable[..., Any], **arguments: Any) -> tuple[Any, Reply]:
        """The JSON object that a call answers, whatever type the answer says it is of.

        An object that is an error, as gateways give it under status 200, is raised as one.
        """
        reply = self.ask(method, **arguments)
        text = reply.data.decode("utf-8", "replace")
        body = read_object(text, host=self.service.host)
        fault = body.get("error")
        # a video that failed has an error and is an answer all the same
        if fault and not any(key in body for key in ("choices", "data", "status")):
            number = whole(dig(fault, "code")) or whole(dig(fault, "status")) or 502
            number = number if 400 <= number <= 599 else 502
            raise self._status_error(number, fault, reply.headers)
        return body, reply

    def ask(
        self,
        method: Callable[..., Any],
        *,
        deadline: float | None = None,
        job: bool = False,
        **arguments: Any,
    ) -> Reply:
        """The whole answer of a call.

        `method`: one of the SDK's `with_streaming_response`: it stops where the bytes are too
        many or too slow, which its own reading does not. `job`: see `status_error`.
        """
        import openai

        deadline = self.deadline() if deadline is None else deadline
        try:
            with method(
                timeout=self.left(deadline), extra_headers=self._headers, **arguments
            ) as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    self.left(deadline)
                    if len(data) > MAX_REPLY:
                        raise CallError(f"{self.service.host}: an answer over {MAX_REPLY} bytes")
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Reply(data=bytes(data), headers=headers)
        except openai.APIStatusError as exc:
            headers = dict(exc.response.headers)
            raise self._status_error(exc.status_code, exc.body, headers, job=job) from None
        except openai.APIConnectionError as exc:
            raise connection_error(exc, service=self.service, seconds=self.seconds) from None
        except openai.OpenAIError as exc:
            raise CallError(f"{self.service.host}: {words(str(exc))}") from None
        except Exception as exc:
            if not is_http_fault(exc):  # while the answer was read
                raise
            raise connection_error(exc, service=self.service, seconds=self.seconds) from None

    def _status_error(
        self, number: int, body: Any, headers: Mapping[str, str], *, job: bool = False
    ) -> CallError | AccessDenied:
        """`body`: the error object, {"detail": ...} of FastAPI, or plain text."""
        said = body if isinstance(body, str) else ""
        for key in ("message", "detail", "msg", "error"):
            said = said or (_plain(dig(body, key)) or "")
        codes = [dig(body, "code"), dig(body, "type"), dig(body, "innererror", "code")]
        lower = {name.lower(): value for name, value in headers.items()}
        return status_error(
            number,
            said if not said.lstrip().startswith("<") else "a web page",
            service=self.service,
            codes=[code for code in codes if isinstance(code, str)],
            headers=headers,
            request_id=lower.get("x-request-id"),
            job=job,
        )


@contextlib.contextmanager
def billed(usage: Usage | None, request_id: str | None) -> Iterator[None]:
    """Gives a CallError raised inside what the call was billed for."""
    try:
        yield
    except CallError as exc:
        exc.usage = exc.usage or usage
        exc.request_id = exc.request_id or request_id
        raise


def dig(value: Any, *path: str | int) -> Any:
    """The value at the end of a path of keys and indices; None where it leads nowhere."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def whole(value: Any) -> int | None:
    """A count or a code; None for anything else. Some services write numbers as text."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


def date_of(created: Any) -> str | None:
    """Seconds since 1970 as ISO 8601; None where they mean nothing."""
    seconds = whole(created)
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None


def _plain(value: Any) -> str | None:
    if value is None or isinstance(value, (str, int, float)):
        return None if value is None else str(value)
    return msgspec.json.encode(value).decode()
