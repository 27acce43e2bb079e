"""Result cards of runs, kept while their runs do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vgen_eval.results.card import ResultCard
from vgen_eval.viewer.records import RunRow
from vgen_eval.viewer.remembered import Remembered

if TYPE_CHECKING:
    from vgen_eval.viewer.index import Index

__all__ = ["Cards"]

MOST = 512


class Cards:
    """The cards read last; may be used from several threads."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._kept: Remembered[ResultCard | None] = Remembered(MOST)

    def of(self, run: RunRow) -> ResultCard | None:
        """Its card; None where it has none that can be read."""
        mark = (run.key, run.changed, run.ended, run.state, run.value)
        return self._kept.get(mark, lambda: self._index.card(run))
