"""Reads journals line by line, only what the index needs of each, from where it stopped before."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

import msgspec

from vgen_eval.store.regular import open_regular
from vgen_eval.types import STATUS_GROUP

__all__ = ["Journal", "LineAt", "Mark", "Prediction", "Score", "Stamp", "goes_on", "stamp_of"]

NEAR = 4096
"""Bytes before a mark by which it is known again."""

Stamp = tuple[int, int, int]
"""Nanoseconds of its last change, size, inode: equal stamps, equal file."""


class LineAt(msgspec.Struct, frozen=True):
    """Where a line begins in a file that looks like this; -1: it has none."""

    stamp: Stamp
    offset: int


class Mark(msgspec.Struct, frozen=True):
    """How far a journal was read."""

    offset: int = 0
    near: str = ""
    """sha256 of the bytes before it."""
    damaged: int = 0
    """Lines passed over up to there."""


class Volatile(msgspec.Struct, frozen=True, gc=False):
    """Of a prediction line."""

    reason: str | None = None


class Prediction(msgspec.Struct, frozen=True, gc=False):
    """A line of predictions.jsonl."""

    sample: str
    attempt: int
    status: str
    reason: str | None = None
    volatile: Volatile | None = None


class Score(msgspec.Struct, frozen=True, gc=False):
    """A line of scores/<digest>.jsonl."""

    sample: str
    attempt: int
    status: str
    reason: str | None = None
    substitute: bool = False
    fault: str | None = None
    flags: tuple[str, ...] = ()
    values: Mapping[str, float | None] = {}


Line = TypeVar("Line", Prediction, Score)


class Journal(Generic[Line]):
    """The whole lines of a file after a mark, each with where it begins.

    `mark`, once they are read, is where they end.

    Torn last lines are left for the next time; damaged ones are counted and passed over. A file
    that is not there has no lines. OSError where it cannot be read.
    """

    def __init__(self, path: Path | None, kind: type[Line], after: Mark) -> None:
        self.path = path
        self.mark = after
        self._decode: Callable[[bytes], Line] = msgspec.json.Decoder(kind).decode

    def __iter__(self) -> Iterator[tuple[int, Line]]:
        try:
            file = None if self.path is None else open_regular(self.path)
        except FileNotFoundError:
            return
        if file is None:
            return
        with file:
            file.seek(self.mark.offset)
            end, damaged = self.mark.offset, self.mark.damaged
            for raw in file:
                if not raw.endswith(b"\n"):
                    break
                begin = end
                end += len(raw)
                try:
                    line = self._decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    damaged += 1
                    continue
                if line.status in STATUS_GROUP:
                    yield begin, line
                else:
                    damaged += 1
            self.mark = Mark(end, _near(file, end), damaged)


def stamp_of(stat: os.stat_result) -> Stamp:
    """Of a file."""
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def goes_on(path: Path, after: Mark) -> bool:
    """Whether the file still begins with what was read of it up to the mark."""
    if not after.offset:
        return True
    try:
        with open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            return size >= after.offset and _near(file, after.offset) == after.near
    except FileNotFoundError:
        return False


def _near(file: BinaryIO, offset: int) -> str:
    start = max(0, offset - NEAR)
    file.seek(start)
    return hashlib.sha256(file.read(offset - start)).hexdigest()
