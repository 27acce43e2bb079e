"""Numbers the attempts of a run, so that what is known of each fits in flat arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vgen_eval import jsonio
from vgen_eval.store.journal import read_lines
from vgen_eval.store.regular import open_regular

__all__ = ["Rows"]


class Rows:
    """(sample, attempt) <-> row; a run of 100,000 samples costs some megabytes."""

    def __init__(self, samples: Sequence[str], attempts: int) -> None:
        self._positions = {sample: at for at, sample in enumerate(samples)}
        self.attempts = attempts

    def __len__(self) -> int:
        return len(self._positions) * self.attempts

    def of(self, record: Mapping[str, Any]) -> int:
        """The row of a line; -1 when the line is of no attempt of this run."""
        sample, attempt = record.get("sample"), record.get("attempt")
        if not isinstance(sample, str) or not isinstance(attempt, int):
            return -1
        position = self._positions.get(sample, -1)
        if position < 0 or not 0 <= attempt < self.attempts:
            return -1
        return int(position * self.attempts + attempt)

    def offsets(self, path: Path) -> array[int]:
        """Where each row's current line begins in a journal; -1 where it has none."""
        found = array("q", [-1]) * len(self)
        for offset, record in read_lines(path):
            row = self.of(record)
            if row >= 0:
                found[row] = offset
        return found

    def lines(self, path: Path) -> Iterator[dict[str, Any]]:
        """The current lines of a journal by sample and attempt, one held at a time."""
        offsets = self.offsets(path)
        if not path.exists():
            return
        with open_regular(path) as file:
            for sample in sorted(self._positions):
                first = self._positions[sample] * self.attempts
                for offset in offsets[first : first + self.attempts]:
                    if offset >= 0:
                        file.seek(offset)
                        yield jsonio.loads(file.readline())
