"""Finds one attempt's lines in a journal without reading the others again."""

from __future__ import annotations

import os
import threading
from array import array
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from vgen_eval import jsonio
from vgen_eval.store.regular import open_regular
from vgen_eval.store.rows import Rows
from vgen_eval.viewer.index.lines import LineAt, stamp_of

__all__ = ["Journal"]


class _Head(msgspec.Struct):
    """What tells whose line it is: the rest is skipped, which takes a microsecond."""

    sample: str
    attempt: int


class Journal:
    """Where each attempt's lines lie in an append-only file; what was appended is read alone."""

    def __init__(
        self, path: Path, rows: Rows, *, keep_all: bool = False, within: Path | None = None
    ) -> None:  # fmt: skip
        """`keep_all`: every line of an attempt counts, not the last one alone.

        `within`: the folder that no link may lead out of.
        """
        self._within = within
        self.path = path
        self._rows = rows
        self._keep_all = keep_all
        self._lock = threading.Lock()
        self._decoder = msgspec.json.Decoder(_Head)
        self._forget()

    def _forget(self) -> None:
        self._file: tuple[int, int] | None = None
        self._reached = 0
        self._last = array("q")
        self._all: defaultdict[int, list[int]] = defaultdict(list)

    def find(self, sample: str, attempt: int, hint: LineAt | None = None) -> list[dict[str, Any]]:
        """Its lines in the order in which they were written; [] where there is none.

        `hint`: where the index has its line; it is read there and nowhere else where the file is
        still the one that the index read. OSError where the file is there and cannot be read.
        """
        row = self._rows.of({"sample": sample, "attempt": attempt})
        if row < 0:
            return []
        told = None if hint is None else self._read_hint(hint, row)
        if told is not None:
            return told
        with self._lock:
            self._catch_up()
            if self._keep_all:
                offsets = list(self._all.get(row, ()))
            else:
                offsets = [self._last[row]] if self._last and self._last[row] >= 0 else []
        return [line for line in self._read(offsets) if self._rows.of(line) == row]

    def _read_hint(self, hint: LineAt, row: int) -> list[dict[str, Any]] | None:
        """None where it does not hold."""
        try:
            with open_regular(self.path, within=self._within) as file:
                if stamp_of(os.fstat(file.fileno())) != hint.stamp:
                    return None
                if hint.offset < 0:
                    return []
                file.seek(hint.offset)
                line = jsonio.loads(file.readline())
        except (FileNotFoundError, ValueError):
            return None
        return [line] if isinstance(line, dict) and self._rows.of(line) == row else None

    def _read(self, offsets: list[int]) -> Iterator[dict[str, Any]]:
        if not offsets:
            return
        try:
            with open_regular(self.path, within=self._within) as file:
                for offset in offsets:
                    file.seek(offset)
                    try:
                        line = jsonio.loads(file.readline())
                    except ValueError:
                        continue
                    if isinstance(line, dict):
                        yield line
        except FileNotFoundError:
            return

    def _catch_up(self) -> None:
        """Takes in what was appended; all of it again, where the file is another one now."""
        try:
            with open_regular(self.path, within=self._within) as file:
                status = os.fstat(file.fileno())
                which = (status.st_dev, status.st_ino)
                if which != self._file or status.st_size < self._reached:
                    self._forget()
                    self._file = which
                if status.st_size == self._reached:
                    return
                if not self._last and not self._keep_all:
                    self._last = array("q", [-1]) * len(self._rows)
                file.seek(self._reached)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # it is being written
                    self._take(line, self._reached)
                    self._reached += len(line)
        except FileNotFoundError:
            self._forget()

    def _take(self, line: bytes, offset: int) -> None:
        try:
            head = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return  # damaged: what it held counts as missing
        row = self._rows.of({"sample": head.sample, "attempt": head.attempt})
        if row < 0:
            return
        if self._keep_all:
            self._all[row].append(offset)
        else:
            self._last[row] = offset
