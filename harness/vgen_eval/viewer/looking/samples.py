"""The samples looked at last, with their truth: several runs of a task are looked at in turn."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

import msgspec

from vgen_eval import cards, jsonio
from vgen_eval.engine.plan import Job
from vgen_eval.types import Item, Sample

__all__ = ["Samples"]

MOST_HELD = 3
FRESH_S = 20.0
"""Seconds after which a file may have changed that no fingerprint tells of."""


class Samples:
    """Loads samples, and keeps the last few for the next run of the same data."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[str, tuple[float, Sample]] = OrderedDict()

    def load(self, job: Job, item: Item) -> Sample:
        """The item's sample; raises what the reader raises."""
        key = _key(job, item)
        with self._lock:
            found = self._held.get(key)
        if found is not None and time.monotonic() - found[0] < FRESH_S:
            return found[1]
        sample = job.task.dataset.load(item)
        with self._lock:
            self._held[key] = (time.monotonic(), sample)
            self._held.move_to_end(key)
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
        return sample


def _key(job: Job, item: Item) -> str:
    """All that the sample hangs on: card, its folder, reader, options, files, item."""
    ref, protocol = job.task.ref, job.task.protocol
    return jsonio.digest(
        [
            ref.distribution,
            str(ref.folder),
            cards.identity(ref.card)["dataset"],
            msgspec.to_builtins(protocol.data),
            dict(job.task.reader),
            job.task.fingerprint,
            item.id,
            dict(item.tags),
        ]
    )
