"""A web server on this machine that gives out some files, and 404 for all others."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["serve"]


@contextlib.contextmanager
def serve(files: Mapping[str, bytes]) -> Iterator[str]:
    """Serve `files` (path without the first slash -> content) at the base URL that is given."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = files.get(self.path.lstrip("/").split("?")[0])
            self.send_response(404 if data is None else 200)
            kind = "image/png" if self.path.endswith(".png") else "image/jpeg"
            self.send_header("Content-Type", "text/plain" if data is None else kind)
            body = b"not here" if data is None else data
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
