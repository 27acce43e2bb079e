"""An HTTP service on loopback that bills what it answers, misbehaves by plan, and keeps count."""

from __future__ import annotations

import contextlib
import json
import random
import select
import socket
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["PRICE", "Billing", "serving"]

PRICE = {"per_million_input_usd": 0.3, "per_million_output_usd": 2.5}
MILLION = Decimal(1_000_000)

WAITS: list[dict[str, str]] = [
    {},
    {"Retry-After": "0"},
    {"Retry-After": "0.02"},
    {"retry-after-ms": "15"},
    {"Retry-After": "Wed, 09 Sep 2020 11:00:00 GMT"},
    {"Retry-After": "-7"},
    {"Retry-After": "soon"},
    {"Retry-After": "nan"},
]
"""Forms of Retry-After that ask for little or for nothing."""


class Billing:
    """What the service saw and what it is owed."""

    def __init__(self, *, faults: bool = False, work_s: float = 0.002) -> None:
        self.faults = faults
        self.work_s = work_s
        self.bill = Decimal(0)
        self.answers = 0
        self.most_at_once = 0
        self.arrivals: list[float] = []
        self.keys: list[str | None] = []
        self.said: dict[str, int] = {}
        self.deny_after: int | None = None
        self.replies = 0
        self._tries: dict[str, int] = {}
        self._busy = 0
        self._hanging: list[socket.socket] = []
        self.lock = threading.Lock()

    def begin(self, name: str, key: str | None) -> str:
        """A request came in: what is to become of it."""
        with self.lock:
            self.arrivals.append(time.monotonic())
            self.keys.append(key)
            self._busy += 1
            # a caller that gave up on a request is no longer waiting for it
            gone = select.select(self._hanging, [], [], 0)[0] if self._hanging else []
            self.most_at_once = max(self.most_at_once, self._busy - len(gone))
            number = self._tries[name] = self._tries.get(name, 0) + 1
            if self.deny_after is not None and self.answers >= self.deny_after:
                fate = "denied"
            else:
                fate = self._fate(name, number) if self.faults else "answer"
            self.said[fate] = self.said.get(fate, 0) + 1
            return fate

    def _fate(self, name: str, number: int) -> str:
        rng = random.Random(f"{name} {number}")
        fates = ("limited", "broken", "billed", "cut", "dropped", "hangs")
        chances = (0.05, 0.05, 0.05, 0.02, 0.02, 0.0025)
        return rng.choices((*fates, "answer"), (*chances, 1 - sum(chances)))[0]

    def usage(self, name: str) -> dict[str, int]:
        """Tokens of a request, by its name."""
        rng = random.Random(f"usage {name}")
        return {"input_tokens": rng.randrange(900, 1100), "output_tokens": rng.randrange(1, 400)}

    def charge(self, usage: dict[str, int]) -> None:
        """Adds to the bill, exactly."""
        cost = usage["input_tokens"] * Decimal("0.3") + usage["output_tokens"] * Decimal("2.5")
        with self.lock:
            self.bill += cost / MILLION

    def end(self, *, answered: bool = False) -> None:
        """A request is about to get its reply, or was given up."""
        with self.lock:
            self._busy -= 1
            self.answers += answered

    def name_reply(self) -> str:
        """The name of a reply, of which no other has the same."""
        with self.lock:
            self.replies += 1
            return f"reply-{self.replies}"

    @contextlib.contextmanager
    def hanging(self, connection: socket.socket) -> Iterator[None]:
        with self.lock:
            self._hanging.append(connection)
        try:
            yield
        finally:
            with self.lock:
                self._hanging.remove(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    billing: Billing
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["id"]
        fate = self.billing.begin(name, self.headers.get("Authorization"))
        if fate == "hangs":
            with self.billing.hanging(self.connection):
                self.connection.settimeout(30)
                self.connection.recv(1)  # nothing until the caller gives up
                self.billing.end()
            self.close_connection = True
            return
        time.sleep(self.billing.work_s)
        usage = self.billing.usage(name)
        if fate in ("answer", "billed"):
            self.billing.charge(usage)
        self.billing.end(answered=fate == "answer")
        if fate == "dropped":
            self.close_connection = True
        elif fate == "limited":
            self._say(429, {}, random.Random(f"wait {name}").choice(WAITS))
        elif fate == "denied":
            self._say(401, {})
        elif fate == "broken":
            self._say(500, {})
        elif fate == "billed":
            self._say(502, {"usage": usage})
        else:
            body = {"answer": str(asked["number"]), "model": "toy-2", "usage": usage}
            self._say(200, body, cut=fate == "cut")

    def _say(
        self, status: int, body: Any, headers: dict[str, str] | None = None, *, cut: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-request-id", self.billing.name_reply())
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that has gone is no event."""


@contextlib.contextmanager
def serving(billing: Billing) -> Iterator[str]:
    """The address at which the service answers, within."""
    handler = type("Handler", (_Handler,), {"billing": billing})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
