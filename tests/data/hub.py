"""A loopback server that speaks the part of the Hub's protocol which its own library asks for."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

SHA = "0123456789abcdef" * 2 + "01234567"


class Hub(http.server.ThreadingHTTPServer):
    """One data set, owner/set, at one commit."""

    daemon_threads = True

    def __init__(
        self,
        files: Mapping[str, bytes],
        *,
        gated: bool = False,
        drop: str = "",
        refuse: str = "",
        slow: str = "",
        lists: int = 99,
    ) -> None:
        """What is wrong with it.

        `drop`: a file whose connection breaks off in its middle, once; `refuse`: a token that is
        none; `slow`: a file that stops in its middle; `lists`: so often the list of files is given.
        """
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files
        self.gated = gated
        self.drop = drop
        self.refuse = refuse
        self.slow = slow
        self.lists = lists
        self.sha = SHA
        self.asked: list[str] = []
        self.ranges: list[str] = []
        self.tokens: set[str | None] = set()
        self.half = threading.Event()
        """The slow file is half given."""
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        self.server.asked.append(f"{self.command} {path}")
        self.server.tokens.add(token or None)
        files, sha = self.server.files, self.server.sha
        if self.server.refuse and token == self.server.refuse:
            why = {"X-Error-Message": "Invalid credentials in Authorization header"}
            self.answer(401, b"{}", why)
            return
        if path.startswith("/api/datasets/owner/set/"):
            if self.server.gated:
                self.answer(403, b"{}", {"X-Error-Code": "GatedRepo"})
            elif path.endswith(f"/revision/{sha}"):
                listed = [{"rfilename": name} for name in files]
                self.json({"id": "owner/set", "sha": sha, "siblings": listed})
            elif f"/tree/{sha}" in path and not self.server.lists:
                self.answer(404, b"{}", {})
            elif f"/tree/{sha}" in path:
                self.server.lists -= 1
                self.json(
                    [
                        {"type": "file", "path": name, "size": len(data), "oid": _etag(data)}
                        for name, data in files.items()
                    ]
                )
            else:
                self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
            return
        name = path.removeprefix(f"/datasets/owner/set/resolve/{sha}/")
        if name in files:
            self.file(name, files[name])
        elif path.startswith("/api/datasets/"):
            self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        else:
            self.answer(404, b"{}", {"X-Error-Code": "EntryNotFound"})

    def file(self, name: str, data: bytes) -> None:
        headers = {
            "ETag": f'"{_etag(data)}"',
            "X-Repo-Commit": self.server.sha,
            "Accept-Ranges": "bytes",
        }
        code, wanted = 200, self.headers.get("Range")
        if wanted:
            self.server.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").split("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            code, data = 206, data[start:]
        if name == self.server.drop and self.command == "GET":
            self.server.drop = ""
            self.answer(code, data, headers, cut=len(data) // 2)
            self.close_connection = True
            return
        if name == self.server.slow and self.command == "GET":
            self.answer(code, data, headers, cut=len(data) // 2)
            self.server.half.set()
            self.server.ended.wait(60)
            self.close_connection = True
            return
        self.answer(code, data, headers)

    def json(self, value: object) -> None:
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def answer(
        self, code: int, body: bytes, headers: Mapping[str, str], *, cut: int | None = None
    ) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@contextmanager
def serve(files: Mapping[str, bytes], **more: object) -> Iterator[Hub]:
    """The server, running."""
    hub = Hub(files, **more)  # type: ignore[arg-type]
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        hub.ended.set()
        hub.shutdown()
        hub.server_close()
