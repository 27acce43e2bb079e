"""The HTTP client under a service's SDK: its own kind, bounded in time and size.

An SDK's time-out is one of each read, so that a service which trickles bytes never meets it; and
an SDK reads whatever comes. Here a call ends at its deadline, an answer at a size, and what is no
success is raised before the SDK makes an error of it.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from vgen_eval.errors import AccessDenied, CallError, UsageError

from vgen_eval_plugins.models.replies import is_http_fault
from vgen_eval_plugins.models.service import Service, chain_of, connection_error, words

__all__ = ["MAX_REPLY", "Failure", "Line", "Reply", "make_client"]

MAX_REPLY = 512 << 20
"""Bytes of an answer: a picture of any use in base64 is a tenth of it."""
WRITE = 1 << 18
"""Bytes that are sent between two looks at the clock."""
CODINGS = ("", "identity", "gzip", "deflate")
"""Content codings that are undone: what others blow up is not bounded by what came."""
DROPPED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers of the way that an answer came, untrue of what was read."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, read whole."""

    status: int
    data: bytes
    headers: Mapping[str, str]
    """Names in lower case."""

    @property
    def text(self) -> str:
        """The body as text; what is no UTF-8 is replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def content(self) -> Any:
        """The body as JSON; as text where it is none."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return self.text.strip()


class Failure(Exception):
    """An answer under a status that is no success, on its way through the SDK."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"status {reply.status}")
        self.reply = reply


ReadFault = Callable[[Reply], CallError | AccessDenied]
"""The error to raise for an answer under a status that is no success."""


class Line:
    """Makes the calls of one SDK client, from any thread."""

    def __init__(self, service: Service, *, seconds: float | None) -> None:
        """`seconds`: the time that a call may take; None: no limit."""
        self.service = service
        self.seconds = seconds
        self._client: Any = None

    def open(self, kind: type[Any]) -> Any:
        """A client for the SDK, `kind` being the class that it takes; closed by `close`."""
        self._client = make_client(kind, service=self.service, seconds=self.seconds)
        return self._client

    def close(self) -> None:
        """Closes the client's connections; again is no fault."""
        if self._client is not None:
            self._client.close()

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

    def ask(self, call: Callable[[], Any], read_fault: ReadFault) -> Reply:
        """The answer that the SDK's call brought, as it came; what the SDK made of it is left.

        Our own errors for all that happens on the way. ValueError and TypeError are the SDK's,
        for arguments that it does not take.
        """
        taken = self._client.taken
        taken.reply = None
        try:
            call()
        except Exception as exc:
            # one that the SDK made of an answer which is there, and ours to read, is passed over
            if taken.reply is None:
                raise self._in_our_words(exc, read_fault) from None
        reply: Reply | None = taken.reply
        taken.reply = None
        if reply is None:
            raise CallError(f"{self.service.host}: the SDK sent nothing")
        return reply

    def _in_our_words(self, fault: Exception, read_fault: ReadFault) -> Exception:
        """The error to raise for an exception of the call; itself where it is not of the way."""
        for link in chain_of(fault):
            if isinstance(link, Failure):
                return read_fault(link.reply)
            if isinstance(link, CallError):
                return link
            if is_http_fault(link) or isinstance(link, OSError):
                return connection_error(fault, service=self.service, seconds=self.seconds)
        return fault


def make_client(kind: type[Any], *, service: Service, seconds: float | None) -> Any:
    """A client of that class (httpx's or httpx2's) which reads whole answers, within bounds.

    Redirects are not followed: the key and the pictures would go along. UsageError where the
    environment asks for a proxy that cannot be used.
    """
    clock = _Clock()
    taken = threading.local()

    def send(self: Any, request: Any, **more: Any) -> Any:
        limit = (request.extensions.get("timeout") or {}).get("read", seconds)
        with clock.running(limit):
            response = kind.send(self, request, **{**more, "stream": True})
            with contextlib.closing(response):
                data = _read(response, clock, service)
        headers = {str(name).lower(): value for name, value in response.headers.items()}
        reply = Reply(status=response.status_code, data=data, headers=headers)
        if not 200 <= reply.status < 300:
            raise Failure(reply)
        taken.reply = reply
        return type(response)(
            reply.status,
            headers={name: value for name, value in headers.items() if name not in DROPPED},
            content=data,
            request=request,
        )

    bounded = type("Bounded", (kind,), {"send": send, "taken": taken})
    try:
        client = bounded(
            timeout=seconds, follow_redirects=False, headers={"Accept-Encoding": "identity"}
        )
    except Exception as exc:  # of no common class: addresses, schemes, a missing socksio
        raise UsageError(
            f"no client for {service.host}: {words(str(exc))}",
            cure="HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE: are they right?",
        ) from None
    # a clock on each read of its sockets; where the library keeps them elsewhere, the time-out of
    # each read and the look at the clock in `_read` are left
    for transport in (client._transport, *client._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = _Timed(pool._network_backend, clock)
    return client


def _read(response: Any, clock: _Clock, service: Service) -> bytes:
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in CODINGS:
        raise CallError(f"{service.host}: an answer coded in {words(coding, longest=40)}")
    data = bytearray()
    for chunk in response.iter_bytes():
        data += chunk
        if len(data) > MAX_REPLY:
            raise CallError(f"{service.host}: an answer over {MAX_REPLY} bytes")
        clock.cap(None)
    return bytes(data)


class _Clock(threading.local):
    """The deadline of the call that this thread is in."""

    until: float | None = None

    @contextlib.contextmanager
    def running(self, seconds: float | None) -> Iterator[None]:
        self.until = None if seconds is None else time.monotonic() + seconds
        try:
            yield
        finally:
            self.until = None

    def cap(self, timeout: float | None) -> float | None:
        """The time-out, or what is left of the call if that is less; TimeoutError if nothing is."""
        if self.until is None:
            return timeout
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the call took too long")
        return left if timeout is None else min(left, timeout)


class _Timed:
    """A network backend or stream of httpcore under a clock."""

    def __init__(self, inner: Any, clock: _Clock) -> None:
        self._inner = inner
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def connect_tcp(self, *where: Any, timeout: float | None = None, **more: Any) -> _Timed:
        capped = self._clock.cap(timeout)
        return _Timed(self._inner.connect_tcp(*where, timeout=capped, **more), self._clock)

    def start_tls(self, *how: Any, timeout: float | None = None, **more: Any) -> _Timed:
        capped = self._clock.cap(timeout)
        return _Timed(self._inner.start_tls(*how, timeout=capped, **more), self._clock)

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        return self._inner.read(max_bytes, timeout=self._clock.cap(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for at in range(0, len(buffer), WRITE):
            self._inner.write(buffer[at : at + WRITE], timeout=self._clock.cap(timeout))
