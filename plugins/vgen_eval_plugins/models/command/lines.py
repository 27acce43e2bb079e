"""Lines of a program's stdout: messages, stray prints between them, and messages that are broken.

A message is a JSON object with a `type`. What a library prints before or after one on the same
line is cut off, so a progress bar without a newline costs nothing.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from vgen_eval_plugins.models.service import words

__all__ = ["LINE_LIMIT", "Bad", "Message", "Strays", "parse", "read_lines"]

log = logging.getLogger(__name__)

LINE_LIMIT = 1 << 28
"""Bytes of a line: an answer of 192 MiB in base64."""
CHUNK = 1 << 18
SHOWN = 120
"""Characters of a line in a message."""
MOST_OPENINGS = 32
"""Places of a line at which a message is looked for."""

Message = dict[str, Any]

_OPENING = re.compile(r'\{\s*"')
_MEANT = re.compile(r'\s*\{\s*"|.*?\{\s*"type"\s*:', re.DOTALL)
"""A line that is no message but was to be one."""
_DECODER = json.JSONDecoder()


class Bad(msgspec.Struct, frozen=True):
    """A line that was meant as a message and is none."""

    reason: str


class Strays:
    """What a program prints that is no part of the protocol: each kind logged once, all counted."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self.counts: Counter[str] = Counter()

    def note(self, kind: str, text: str) -> None:
        """Counts one of a kind ("text", "unknown field 'x'"); the first is logged."""
        with self._lock:
            self.counts[kind] += 1
            first = self.counts[kind] == 1
        if first:
            log.warning(
                "%s: %s in its protocol, passed over: %s", self._name, kind, _clip(text.strip())
            )

    def sum_up(self) -> None:
        """Logs the counts, once."""
        with self._lock:
            counts, self.counts = self.counts, Counter()
        if counts:
            told = ", ".join(f"{count} of {kind}" for kind, count in sorted(counts.items()))
            log.warning("%s: passed over in its protocol: %s", self._name, told)


def read_lines(fd: int, *, limit: int = LINE_LIMIT) -> Iterator[bytes | Bad]:
    """Lines of a pipe, without their newlines, until it ends; Bad for one over the limit.

    A last line without a newline counts: its program may have been cut off within it.
    """
    parts: list[bytes] = []
    length, head = 0, b""
    while chunk := os.read(fd, CHUNK):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            parts.append(chunk[start:end])
            length += end - start
            line = b"".join(parts)
            yield line if length <= limit else _too_long(head or line, length, limit)
            parts, length, head, start = [], 0, b"", end + 1
        parts.append(chunk[start:])
        length += len(chunk) - start
        if length > limit:  # the rest is read and not kept
            head = head or b"".join(parts)[:SHOWN]
            parts = []
    if length:
        line = b"".join(parts)
        yield line if length <= limit else _too_long(head or line, length, limit)


def _too_long(line: bytes, length: int, limit: int) -> Bad:
    shown = _clip(line[: 4 * SHOWN].decode("utf-8", "replace"))
    return Bad(f"a line of {length} bytes, over the limit of {limit}: {shown}")


def parse(line: bytes, strays: Strays) -> list[Message | Bad]:
    """The messages of a line, at most one Bad in their place; strays are noted."""
    if not line.strip():
        return []
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as exc:
        return _search(line, strays, str(exc))
    if _is_message(value):
        return [value]
    strays.note("JSON without a type" if isinstance(value, dict) else "text", _decode(line))
    return []


def _search(line: bytes, strays: Strays, fault: str) -> list[Message | Bad]:
    """Messages that have something else on their line."""
    text = _decode(line)
    found: list[Message | Bad] = []
    at = 0  # what lies before is taken
    skip = 0
    for count, match in enumerate(_OPENING.finditer(text)):
        if count >= MOST_OPENINGS:
            break
        if match.start() < skip:
            continue
        try:
            value, skip = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if not _is_message(value):
            continue
        if before := text[at : match.start()].strip():
            strays.note("text glued to a message", before)
        at = skip
        found.append(value if _is_utf8(text[match.start() : at]) else Bad("it is not UTF-8"))
    if not found and _MEANT.match(text):
        return [Bad(f"{fault}: {_clip(text)}")]
    if rest := text[at:].strip():
        strays.note("text glued to a message" if found else "text", rest)
    return found


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _decode(line: bytes) -> str:
    """The text, with bytes that are no UTF-8 as lone surrogates."""
    return line.decode("utf-8", "surrogateescape")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _clip(text: str) -> str:
    shown = text[: 4 * SHOWN].encode("utf-8", "backslashreplace").decode()
    return words(shown, longest=SHOWN)
