"""What the tests of remote files stand on: a service of files, and one that trickles."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Sequence

from vgen_eval_plugins.standins.server import Answer, Call, Handler, Rejected, Service

DATA = bytes(range(256)) * 40


class FileService(Service):
    """Gives DATA at /file, and what it was asked for at /echo."""

    def routes(self) -> Sequence[tuple[str, str, Handler]]:
        return (
            ("GET", "/file", lambda _call: Answer(body=DATA, content_type="image/png")),
            ("GET", "/echo/.*", self._echo),
            ("GET", "/gone", self._gone),
        )

    def _echo(self, call: Call) -> Answer:
        return Answer(body=f"{call.path}?{call.query}".encode())

    def _gone(self, call: Call) -> Answer:
        raise Rejected("gone", status=404)


@contextlib.contextmanager
def raw_server(*, pieces: Sequence[bytes], pause: float) -> Iterator[str]:
    """An address whose answer comes in these pieces, with a pause before each."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = threading.Event()

        def serve() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    for piece in pieces:
                        if ended.wait(pause):
                            return
                        connection.sendall(piece)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/file"
        ended.set()
        thread.join(5)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since
