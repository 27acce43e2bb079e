"""What strict services on loopback are built on: records of requests, and misbehaviour on order.

A service subclasses `Service`, names its routes and writes errors in its provider's own shape:

    with OpenAIService(key="sk-...") as service:
        service.order(status(429, headers={"Retry-After": "1"}), hang(2.0))
        ...  # the next two requests to service.url meet these, one each
        service.seen[0].body
"""

from __future__ import annotations

import contextlib
import http.server
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import msgspec
from vgen_eval import jsonio

from vgen_eval_plugins.standins.bodies import brief, read_multipart
from vgen_eval_plugins.standins.orders import (
    PAGE,
    Answer,
    Call,
    Handler,
    Order,
    Rejected,
    Seen,
    drop,
    halfway,
    hang,
    html,
    mislabel,
    redirect,
    status,
)

__all__ = [
    "PAGE",
    "Answer",
    "Call",
    "Handler",
    "Order",
    "Rejected",
    "Seen",
    "Service",
    "drop",
    "halfway",
    "hang",
    "html",
    "mislabel",
    "redirect",
    "status",
]

MAX_BODY = 256 << 20


class Service:
    """A strict HTTP service on 127.0.0.1 at a port of its own, as a context manager.

    Unknown paths are 404, a wrong key 401, and handlers raise Rejected for what else is wrong.
    """

    name: ClassVar[str] = "service"

    def __init__(self, *, key: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.key = key
        """The key that requests must bring; None: they may bring any or none."""
        self._tls = tls
        self._lock = threading.Lock()
        self._open = 0
        self._closing = threading.Event()
        self._server: _Server | None = None
        Service.renew(self)

    def renew(self) -> None:
        """Forgets what it has seen and what it was ordered to do."""
        self.seen: list[Seen] = []
        self.whim: Callable[[Seen], Order | None] | None = None
        """Asked for an order of each request that meets no other: misbehaviour at random."""
        self.most_at_once = 0
        """Most requests that were being answered at one time."""
        self._orders: list[Order] = []

    # what a provider's service says of itself

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        """(method, pattern of the whole path, handler) of all that it answers."""
        return ()

    def check_key(self, call: Call) -> None:
        """Rejected (401) unless the request brings the key as a bearer token."""
        if self.key is not None and call.headers.get("authorization") != f"Bearer {self.key}":
            raise Rejected("incorrect key", status=401, code="invalid_api_key")

    def error(self, rejected: Rejected) -> Answer:
        """The fault in the provider's own shape."""
        return Answer.json({"error": {"message": rejected.message}}, status=rejected.status)

    # what a test does with it

    @property
    def host(self) -> str:
        """127.0.0.1:PORT."""
        assert self._server is not None, "not entered"
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """http://127.0.0.1:PORT, https with TLS."""
        return f"{'https' if self._tls else 'http'}://{self.host}"

    def order(self, *orders: Order) -> None:
        """Puts orders in the queue; each is used up by one request."""
        with self._lock:
            self._orders.extend(orders)

    @property
    def unmet(self) -> int:
        """Orders that no request has met yet."""
        return len(self._orders)

    def __enter__(self) -> Self:
        self._server = _Server(self, self._tls)
        threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.02},
            daemon=True,
            name=self.name,
        ).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.close_connections()

    # what its handler threads do

    def wait(self, seconds: float) -> None:
        """Sleeps, and wakes when the service is closed."""
        self._closing.wait(seconds)

    def take(self, seen: Seen) -> Order | None:
        """Notes the request; the order that it meets, if any."""
        with self._lock:
            self.seen.append(seen)
            for at, order in enumerate(self._orders):
                if seen.path.startswith(order.at):
                    return self._orders.pop(at)
            return self.whim(seen) if self.whim is not None else None

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Counts a request as being answered while it lasts."""
        with self._lock:
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1

    def answer(self, call: Call) -> Answer:
        """The right answer to a request."""
        try:
            allowed = False
            for method, pattern, handler in self.routes():
                match = re.fullmatch(pattern, call.path)
                if match is None:
                    continue
                allowed = True
                if method == call.method:
                    self.check_key(call)
                    groups = tuple(group or "" for group in match.groups())
                    return handler(msgspec.structs.replace(call, groups=groups))
            if allowed:
                raise Rejected(f"no {call.method} at {call.path}", status=405)
            raise Rejected(f"unknown path {call.path}", status=404, code="unknown_url")
        except Rejected as rejected:
            return self.error(rejected)


class _Server(http.server.ThreadingHTTPServer):
    """One thread a connection; connections are closed with it."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, service: Service, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service
        self._connections: set[socket.socket] = set()
        if tls is not None:
            # the handshake belongs to the connection's own thread
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent: clients of a misbehaving service hang up."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one segment an answer, not two that wait for each other
    server: _Server

    def do_GET(self) -> None:
        service = self.server.service
        call = self._read()
        if call is None:
            return
        with service.counted():
            order = service.take(_remember(call)) or Order()
            service.wait(order.hang_s)
            if order.drop:
                self._hang_up()
                return
            answer = self._answer(service, call, order)
            self._send(answer, halfway=order.halfway)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815

    def _answer(self, service: Service, call: Call, order: Order) -> Answer:
        if order.rejected is not None:
            answer = service.error(order.rejected)
            more = order.answer.headers if order.answer is not None else {}
            return msgspec.structs.replace(answer, headers={**answer.headers, **more})
        if order.answer is not None:
            return order.answer
        answer = service.answer(call)
        if order.content_type is not None:
            answer = msgspec.structs.replace(answer, content_type=order.content_type)
        return answer

    def _read(self) -> Call | None:
        length = self.headers.get("Content-Length")
        if self.headers.get("Transfer-Encoding") or (
            self.command in ("POST", "PUT", "PATCH") and length is None
        ):
            self._send(Answer(status=411))
            self._hang_up()
            return None
        size = int(length or 0)
        if size > MAX_BODY:
            self._send(Answer(status=413))
            self._hang_up()
            return None
        data = self.rfile.read(size)
        path, _, query = self.path.partition("?")
        return Call(
            method=self.command,
            path=path,
            query=query,
            headers={name.lower(): value for name, value in self.headers.items()},
            data=data,
        )

    def _send(self, answer: Answer, *, halfway: bool = False) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if halfway:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.wfile.flush()
            self._hang_up()
            return
        self.wfile.write(answer.body)
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Silent: a test asks `seen`."""


def _remember(call: Call) -> Seen:
    kind = call.headers.get("content-type", "")
    body: Any = None
    if call.data and kind.startswith("application/json"):
        with contextlib.suppress(ValueError):
            body = brief(jsonio.loads(call.data))
    elif call.data and kind.startswith("multipart/form-data"):
        with contextlib.suppress(ValueError):
            body = {}
            for part in read_multipart(call.data, kind):
                body.setdefault(part.name, []).append(part.described())
    return Seen(
        method=call.method, path=call.path, query=call.query, headers=call.headers, body=body
    )
