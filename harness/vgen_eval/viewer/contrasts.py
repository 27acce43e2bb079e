"""Comparisons that pages ask for: each worked out once, a long one while its page waits."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vgen_eval.plugins import Catalog
    from vgen_eval.results.contrast import Contrast

__all__ = ["Contrasts", "Mark"]

LONG_S, SHORT_S = 20.0, 0.05
"""How long is waited for the test of few samples, and of many."""
MOST_KEPT = 32

Mark = tuple[str, str, tuple[object, ...]]
"""Of a run: its path, the digest of its content, stamps of its files."""


class Contrasts:
    """Comparisons by what they hang on, the last ones kept; one is worked out at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._at_work = ThreadPoolExecutor(max_workers=1, thread_name_prefix="contrast")
        self._kept: OrderedDict[tuple[tuple[Mark, ...], bool], Future[Contrast]] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, marks: tuple[Mark, ...], *, anyway: bool, is_small: bool) -> Contrast | None:
        """Of the runs of these paths and contents; None while it is still being worked out.

        `is_small`: waited for here; else in a process of its own. VgenEvalError where it refuses.
        """
        key = (marks, anyway)
        with self._lock:
            if key not in self._kept:
                paths = [Path(path) for path, _, _ in marks]
                self._kept[key] = self._at_work.submit(
                    self._work_out, paths, anyway=anyway, is_small=is_small
                )
            told = self._kept[key]
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)[1].cancel()
        try:
            return told.result(timeout=LONG_S if is_small else SHORT_S)
        except TimeoutError:
            return None

    def _work_out(self, paths: Sequence[Path], *, anyway: bool, is_small: bool) -> Contrast:
        # its libraries come with the first comparison, not with the server
        from vgen_eval.viewer.contrasting import contrast_apart, contrast_here

        if is_small:
            return contrast_here(paths, self._catalog, anyway=anyway)
        return contrast_apart(paths, anyway=anyway)
