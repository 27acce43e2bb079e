"""Raw files of runs: found by digest, checked, told by their first bytes, never rendered."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from starlette.responses import Response, StreamingResponse

from vgen_eval.store.regular import open_regular

__all__ = ["serve_file", "type_of"]

DIGEST = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[0-9a-f]{64}(\.[a-z0-9]{1,5})?")
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
DOWNLOAD = "application/octet-stream"
BLOCK = 1 << 20
MOST_KNOWN = 512


class _Found(NamedTuple):
    file: BufferedReader
    name: str
    size: int


class _Known:
    """Files whose bytes were compared with their name, as they were then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[int, ...], str] = OrderedDict()

    def digest_of(self, file: BufferedReader) -> str:
        """sha256 of an open file: a player asks for many parts of one."""
        status = os.fstat(file.fileno())
        key = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
        with self._lock:
            found = self._seen.get(key)
        if found is None:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            with self._lock:
                self._seen[key] = found
                while len(self._seen) > MOST_KNOWN:
                    self._seen.popitem(last=False)
        return found


_KNOWN = _Known()


def serve_file(
    results: Path, run: Path, sha256: str, *, asked: str | None = None
) -> Response | None:
    """The kept file of that digest, or None: no such, altered, or its place leads out.

    `asked`: the Range header. Known pictures and videos have their type; all else is a download.
    """
    if DIGEST.fullmatch(sha256) is None:
        return None
    found = _find(results, run, sha256)
    if found is None:
        return None
    found.file.seek(0)
    kind = type_of(found.file.read(16))
    headers = {
        "etag": f'"{sha256[:32]}"',
        "cache-control": "private, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "accept-ranges": "bytes",
    }
    if kind == DOWNLOAD:
        headers["content-disposition"] = f'attachment; filename="{found.name}"'
    return _send(found, kind, asked, headers)


def _find(results: Path, run: Path, sha256: str) -> _Found | None:
    """Looked up among the names that lie there; the bytes are those of the digest."""
    folder = run / "outputs"
    try:
        root = results.resolve(strict=True)
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.partition(".")[0] == sha256]
    except OSError:
        return None
    for name in sorted(names):
        try:
            path = (folder / name).resolve(strict=True)
            file = open_regular(path, within=root)
        except (OSError, RuntimeError):  # a link to itself, too
            continue
        if _KNOWN.digest_of(file) == sha256:
            size = os.fstat(file.fileno()).st_size
            return _Found(file, name if NAME.fullmatch(name) else sha256, size)
        file.close()
    return None


def type_of(data: bytes) -> str:
    """What a browser may show, by the first bytes; a download for all else: markup above all."""
    signatures = (
        (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"), (b"GIF89a", "image/gif"), (b"BM", "image/bmp"),
        (b"\x1aE\xdf\xa3", "video/webm"),
    )  # fmt: skip
    for signature, kind in signatures:
        if data.startswith(signature):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "video/mp4" if data[4:8] == b"ftyp" else DOWNLOAD


def _send(found: _Found, kind: str, asked: str | None, headers: dict[str, str]) -> Response:
    """All of it, or the one range that was asked for (RFC 9110, section 14)."""
    size = found.size
    match = RANGE.fullmatch(asked.strip()) if asked else None
    if match is None or match.groups() == ("", ""):  # several ranges are answered by all of it
        headers = {**headers, "content-length": str(size)}
        return StreamingResponse(_read(found, 0, size), media_type=kind, headers=headers)
    first, last = match.groups()
    if first:
        start, end = int(first), min(int(last) if last else size - 1, size - 1)
    else:
        start, end = max(0, size - int(last)), size - 1
    if start > end or start >= size:
        found.file.close()
        return Response(status_code=416, headers={**headers, "content-range": f"bytes */{size}"})
    headers = {
        **headers,
        "content-range": f"bytes {start}-{end}/{size}",
        "content-length": str(end - start + 1),
    }
    blocks = _read(found, start, end - start + 1)
    return StreamingResponse(blocks, status_code=206, media_type=kind, headers=headers)


def _read(found: _Found, start: int, length: int) -> Iterator[bytes]:
    with found.file as file:
        file.seek(start)
        while length > 0:
            block = file.read(min(BLOCK, length))
            if not block:
                return
            length -= len(block)
            yield block
