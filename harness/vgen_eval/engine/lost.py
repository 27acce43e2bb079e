"""Kept answers that can be read no more: thrown away after scoring, or damaged since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vgen_eval.errors import NotRunnable
from vgen_eval.store.run import RunStore
from vgen_eval.wording import plural

__all__ = ["Lost"]


class Lost:
    """Counts the lines of a run whose answers are lost, and keeps which files are damaged."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._damaged: dict[Path, None] = {}
        self._gone = False

    def has(self, line: Mapping[str, Any]) -> bool:
        """Is the line's answer lost? A damaged file is remembered."""
        if line["status"] != "ok" or self._store.intact(line["answer"]):
            return False
        path = self._store.altered(line["answer"])
        if path is not None:
            self._damaged[path] = None
        self._gone |= path is None
        return True

    def told(self, count: int) -> str:
        """How many answers are lost, and how, as the start of a sentence."""
        if not self._damaged:
            return f"{plural(count, 'answer')} {'was' if count == 1 else 'were'} not kept"
        first, more = next(iter(self._damaged)), len(self._damaged) - 1
        which = f"{first} is damaged" if not more else f"{first} and {more:,} more are damaged"
        others = ", others were not kept" if self._gone else ""
        return f"kept answers: {which} (other bytes than were written){others}"

    def fault(self, count: int, *, so: str, cure: str) -> NotRunnable:
        """What stops whoever needs `count` lost answers; `so`: what cannot be done for it."""
        if self._damaged:
            cure = f"put the file back from a copy, or {cure}"
        return NotRunnable(f"{self._store.path}: {self.told(count)}, {so}", cure=cure)
