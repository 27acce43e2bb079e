"""What the index knows of a run besides the rows of its samples."""

from __future__ import annotations

import msgspec

from vgen_eval.viewer.index.facts import Counts
from vgen_eval.viewer.index.lines import Mark, Stamp
from vgen_eval.viewer.index.meaning import Meaning
from vgen_eval.viewer.records import RunRow

__all__ = ["Known"]


class Known(msgspec.Struct, kw_only=True):
    """Stands in the table `runs` as JSON."""

    stamps: dict[str, Stamp] = {}
    fault: str = ""
    """Of the place where it lies."""
    row: RunRow
    """While nobody writes it."""
    attempts: int = 1
    scores: str = ""
    """`scores/<digest>.jsonl`: those that its card is of, else its record, else the newest."""
    marks: dict[str, Mark] = {}
    names: list[str] = []
    meaning: Meaning = Meaning()
    counts: Counts = msgspec.field(default_factory=Counts)
    seq: int = 0
    """Lines that were read."""
