"""What a judge was asked and replied, one line a reply: each is asked once, and found again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from vgen_eval import jsonio
from vgen_eval.store.journal import read_lines
from vgen_eval.store.run import RunStore

__all__ = ["Transcript", "is_sound", "read_replies"]

log = logging.getLogger(__name__)

SEAL = "seal"
"""Field of a line: what tells that nobody has changed it since."""


def read_replies(store: RunStore) -> Iterator[tuple[int, dict[str, Any]]]:
    """Offset and line of each reply that is as it was written; others are passed over, told."""
    for offset, line in read_lines(store.judgements_path):
        if is_sound(line):
            yield offset, line
        else:
            log.warning(
                "%s: a reply that was changed is taken as missing: %s, %s",
                store.judgements_path, line.get("sample"), line.get("question"),
            )  # fmt: skip


def is_sound(line: Mapping[str, Any]) -> bool:
    """Is the line of a reply as it was written?"""
    return bool(line.get(SEAL) == _seal(line))


class Transcript:
    """The replies of one run, `judgements.jsonl`; written between the store's lock and close."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._offsets: dict[int, int] = {}
        self._opened_at = 0
        """Where what is written from now on begins."""
        for offset, line in read_replies(store):
            self._offsets[_key(line["digest"])] = offset
            self._opened_at = offset + 1

    def find(self, digest: str, *, of_now: bool = False) -> Mapping[str, Any] | None:
        """The line of the question with that digest; None where it was not asked.

        `of_now`: only what was written since this was opened counts.
        """
        offset = self._offsets.get(_key(digest))
        if offset is None or (of_now and offset < self._opened_at):
            return None
        with self._store.judgements_path.open("rb") as file:
            file.seek(offset)
            line: Any = jsonio.loads(file.readline())
        return line if line.get("digest") == digest else None

    def add(self, line: Mapping[str, Any]) -> Mapping[str, Any]:
        """Writes down a reply and gives its line; those of one answer come from one thread."""
        sealed = {**line, SEAL: _seal(line)}
        self._offsets[_key(line["digest"])] = self._store.append_judgement(sealed)
        return sealed


def _seal(line: Mapping[str, Any]) -> str:
    return jsonio.digest({key: value for key, value in line.items() if key != SEAL})[:16]


def _key(digest: str) -> int:
    """64 bits of it: a run may hold a million replies."""
    return hash(digest)
