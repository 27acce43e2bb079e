"""Batches that shrink when the device's memory runs out, and stay small from then on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from vgen_eval.errors import CallError

from vgen_eval_plugins.models.local.devices import release

__all__ = ["Batches", "is_out_of_memory"]

log = logging.getLogger(__name__)

Given = TypeVar("Given")
Made = TypeVar("Made")

WORDS = ("out of memory", "can't allocate memory", "not enough memory", "_STATUS_ALLOC_FAILED")
"""How a RuntimeError tells of it: MPS, CUDA's driver, the CPU's allocator, cuBLAS."""


def is_out_of_memory(exc: BaseException) -> bool:
    """Did a device's memory run out? torch.OutOfMemoryError, or what other devices raise."""
    if isinstance(exc, MemoryError):
        return True
    if not isinstance(exc, RuntimeError):
        return False
    if any(kind.__name__ == "OutOfMemoryError" for kind in type(exc).__mro__):
        return True
    text = str(exc)
    return any(word in text for word in WORDS)


class Batches:
    """How many requests a call holds: at most `most`, less once memory ran out.

    `cure`: what to do when even one request does not fit.
    """

    def __init__(self, most: int, *, device: str | None, cure: str) -> None:
        self.most = most
        self.device = device
        self._cure = cure

    def run(
        self, items: Sequence[Given], call: Callable[[Sequence[Given]], Sequence[Made]]
    ) -> Iterator[Made]:
        """What `call` makes of the items, in parts of `most`.

        A part that runs out of memory is halved; `most` remembers the size. CallError when a
        single one does not fit.
        """
        left = list(items)
        while left:
            part = left[: self.most]
            made = self._try(part, call)
            if made is not None:
                yield from made
                left = left[len(part) :]
                continue
            # out of the handler: its traceback held the tensors of the failed call
            release(self.device)
            if len(part) == 1:
                raise CallError(f"out of memory at batch 1 on {self.device}: {self._cure}")
            self.most = len(part) // 2
            log.warning(
                "out of memory at batch %d on %s: batches of %d from here on",
                len(part), self.device, self.most,
            )  # fmt: skip

    def _try(
        self, part: Sequence[Given], call: Callable[[Sequence[Given]], Sequence[Made]]
    ) -> Sequence[Made] | None:
        try:
            return call(part)
        except (RuntimeError, MemoryError) as exc:
            if not is_out_of_memory(exc):
                raise
        return None
