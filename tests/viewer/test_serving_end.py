"""How a viewer ends while requests are in flight that nothing can stop."""

from __future__ import annotations

import contextlib
import http.client
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("uvicorn", reason="the viewer needs vgen-eval[view]")

BUSY = """
import os, sys, time
from starlette.applications import Starlette
from starlette.routing import Route
from vgen_eval.cli.signals import Leaving
from vgen_eval.viewer.serving import listen, make_server, serve

def hold(request):
    os.write(1, b"begun\\n")
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(1000))

with listen("127.0.0.1", 0) as heard, Leaving() as leaving:
    print(heard.getsockname()[1], flush=True)
    app = Starlette(routes=[Route("/", hold)])
    serve(make_server(app), heard, exit_code=lambda: leaving.exit_code or 0)
sys.exit(leaving.exit_code or 0)
"""


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[str]]:
    """A server with four requests that take a minute each."""
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    port = int(process.stdout.readline())
    threads = [threading.Thread(target=ask, args=(port,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert process.stdout.readline() == "begun\n"
    yield process
    process.kill()
    process.communicate()
    for thread in threads:
        thread.join()


def ask(port: int) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        wire = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(wire):
            wire.request("GET", "/")
            wire.getresponse().read()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_soon_and_quietly(
    busy: subprocess.Popen[str], number: signal.Signals, code: int
) -> None:
    begun = time.monotonic()
    busy.send_signal(number)
    _, said = busy.communicate(timeout=20)
    assert time.monotonic() - begun < 6
    assert (busy.returncode, said) == (code, "")


def test_a_second_signal_ends_it_at_once(busy: subprocess.Popen[str]) -> None:
    busy.send_signal(signal.SIGINT)
    time.sleep(0.3)
    begun = time.monotonic()
    busy.send_signal(signal.SIGINT)
    _, said = busy.communicate(timeout=20)
    assert time.monotonic() - begun < 0.8
    assert (busy.returncode, said) == (0, "")


def test_a_fault_of_the_server_is_raised() -> None:
    from vgen_eval.viewer.serving import listen, serve

    class Broken:
        def run(self, sockets: list[socket.socket]) -> None:
            raise LookupError("out of order")

    with listen("127.0.0.1", 0) as heard, pytest.raises(LookupError, match="out of order"):
        serve(Broken(), heard)  # type: ignore[arg-type]
